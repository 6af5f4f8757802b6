import type { ConversationId } from "../protocol/ids.ts"
import type { Conversation } from "./conversation.ts"
import { Lanes } from "./lanes.ts"
import type { Ports } from "./ports.ts"

/** Lets runs go one at a time that may have ended the process, so that its next death tells which of them it was. */
export class Isolation {
  readonly #lane = new Lanes(1)

  /** Resolves when it is this one's turn. What it resolves with lets the next one go; so does the run's next progress. */
  async turn(id: ConversationId, { bus, journal }: Ports): Promise<() => void> {
    const turn = Promise.withResolvers<void>()
    const over = Promise.withResolvers<void>()
    void this.#lane.run(() => {
      turn.resolve()
      return over.promise
    })
    await turn.promise
    const look = () => void (journal.holds(id) && journal.load(id).then((one) => isOverIt(one) && done(), done))
    const stop = bus.subscribe(id, ({ type }) => type === "events" && look())
    const done = () => {
      stop()
      over.resolve()
    }
    return done
  }
}

/** The step that broke off is behind it. */
const isOverIt = ({ run }: Conversation): boolean => run?.status !== "running" || run.deaths === 0
