import type { Client } from "../../client/client.ts"
import type { Transcript } from "../../client/transcript/transcript.ts"
import { hasCode } from "../../core/protocol/errors.ts"
import { isSettled, type Proposal } from "../../core/protocol/proposals/proposal.ts"
import type { ConnectedEditor } from "./editor.ts"
import { carryOut, toQuestion } from "./permission.ts"

interface QuestionsOf {
  readonly client: Client
  readonly editor: ConnectedEditor
  readonly id: string
  readonly root: string
  /** The person cancelled the turn instead of answering. */
  cancelled(): Promise<void>
  /** Reports an answer that could not be executed; it is asked again a few times. */
  complain(error: unknown): void
}

/** How often a question is repeated after a failure: an editor may answer automatically and at once. */
const MAX_TIMES = 3

/** Asks the editor about open proposals until someone decides, there or in another client. */
export class Questions {
  readonly #of: QuestionsOf
  readonly #asked = new Map<string, AbortController>()
  #transcript: Transcript | undefined

  constructor(of: QuestionsOf) {
    this.#of = of
  }

  /** Asks new questions and withdraws settled ones. */
  follow(transcript: Transcript): void {
    // Each change of an item creates another list.
    if (this.#transcript?.items === transcript.items) return
    this.#transcript = transcript
    const waiting = new Map(waitingIn(transcript).map((proposal) => [keyOf(proposal), proposal]))
    for (const [key, withdraw] of this.#asked) {
      if (waiting.has(key)) continue
      this.#asked.delete(key)
      withdraw.abort()
    }
    for (const [key, proposal] of waiting) {
      if (this.#asked.has(key)) continue
      const withdraw = new AbortController()
      this.#asked.set(key, withdraw)
      void this.#ask(proposal, withdraw)
    }
  }

  close(): void {
    for (const withdraw of this.#asked.values()) withdraw.abort()
    this.#asked.clear()
  }

  async #ask(proposal: Proposal, withdraw: AbortController, times = 1): Promise<void> {
    const { client, editor, id, root } = this.#of
    const { signal } = withdraw
    let optionId: string
    try {
      const outcome = await editor.ask(toQuestion(id, root, proposal), signal)
      if (signal.aborted) return
      if (outcome.outcome === "cancelled") return await this.#of.cancelled()
      optionId = outcome.optionId
    } catch (error) {
      // If the editor cannot ask, another client may decide.
      if (!signal.aborted) this.#of.complain(error)
      return
    }
    try {
      const decided = await carryOut(client, proposal, optionId)
      // The model learns that the call was not made, and continues; other open proposals are already asked.
      if (decided === "expired") await client.resumeRun({ params: { id } })
    } catch (error) {
      if (signal.aborted || hasCode(error, "still_pending")) return
      this.#of.complain(error)
      if (times < MAX_TIMES) void this.#ask(proposal, withdraw, times + 1)
    }
  }
}

const keyOf = ({ id, status }: Proposal) => `${id} ${status}`

function waitingIn({ items }: Transcript): Proposal[] {
  return items.flatMap((item) =>
    item.type === "proposal" && !isSettled(item.proposal.status) && item.proposal.status !== "applying"
      ? [item.proposal]
      : [],
  )
}
