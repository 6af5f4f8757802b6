import type { ConversationId } from "../../protocol/ids.ts"
import { isCancelled } from "../inbox.ts"
import type { Conversation } from "../conversation.ts"
import type { Job } from "./job.ts"
import type { Judged } from "../journal.ts"
import { Semaphore } from "../concurrency/semaphore.ts"
import type { Ports } from "../ports.ts"
import { judgeDeaths } from "./judge-deaths.ts"

/** Lets runs go one at a time that may have ended the process, so that its next death tells which of them it was. */
export class Isolation {
  readonly #ports: Ports
  readonly #lane = new Semaphore(1)
  /** The look at what dead writers have left that is under way: all who ask at the same time share it. */
  #judging: Promise<Map<ConversationId, Judged>> | undefined

  constructor(ports: Ports) {
    this.#ports = ports
  }

  judge(): Promise<Map<ConversationId, Judged>> {
    return (this.#judging ??= judgeDeaths(this.#ports).finally(() => (this.#judging = undefined)))
  }

  /**
   * Resolves when a job may go on: at its turn where it is a suspect, else at once. What it resolves with lets the next one
   * go. A job that somebody woke is judged first: a dead writer may have had its conversation, and what comes for one run
   * must not take it up before all that was left is judged.
   */
  async turnOf(job: Job): Promise<(() => void) | undefined> {
    try {
      job.judged ??= (await this.judge()).get(job.id)
      if (!job.judged?.alone) return undefined
      const [recorded] = await this.#ports.journal.recorded([job.id])
      if (recorded?.unread) await this.letStop(job)
      return await this.#turn(job)
    } catch (error) {
      this.#ports.log.warn("look_failed", { conversation: job.id, error })
      return undefined
    }
  }

  /** A run that is to be cancelled ends no process: it waits for no turn. */
  async letStop(job: Job): Promise<void> {
    if (isCancelled(await this.#ports.journal.load(job.id, true))) job.goOn()
  }

  async #turn({ id, unsuspected }: Job): Promise<() => void> {
    const { bus, journal } = this.#ports
    const turn = Promise.withResolvers<void>()
    const over = Promise.withResolvers<void>()
    void this.#lane.run(() => {
      turn.resolve()
      return over.promise
    })
    const leave = () => {
      over.resolve() // its place in the line goes to the next one when it comes up
      turn.resolve()
    }
    if (unsuspected.aborted) leave()
    else unsuspected.addEventListener("abort", leave, { once: true })
    await turn.promise
    unsuspected.removeEventListener("abort", leave)
    const look = () => void (journal.isWriterOf(id) && journal.load(id).then((one) => isOverIt(one) && done(), done))
    const stop = bus.subscribe(id, ({ type }) => type === "events" && look())
    const done = () => {
      stop()
      over.resolve()
    }
    return done
  }
}

/** The step that broke off is behind it: the next suspect may go. */
const isOverIt = ({ run }: Conversation): boolean => run?.status !== "running" || run.deaths === 0
