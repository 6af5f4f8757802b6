import type { Finish, Usage } from "../../protocol/conversation/message.ts"
import type { Frame, UnknownFrame } from "../../protocol/frames.ts"
import type { ConversationId, RunId } from "../../protocol/ids.ts"
import type { FinishReason, PawlBeside } from "../../protocol/openai.ts"
import type { Proposal } from "../../protocol/proposals/proposal.ts"

/** What happens in a run, as far as OpenAI's words can tell it. */
export type RunPiece =
  | { readonly type: "began" }
  /** More of the reply that is being written. */
  | { readonly type: "text"; readonly text: string }
  /** That reply is whole: this is all of it. */
  | { readonly type: "reply"; readonly text: string }
  /** What was told of that reply does not count: it is written anew. */
  | { readonly type: "taken_back" }
  /** Why it waits for a person, after which it ends. */
  | { readonly type: "waits"; readonly text: string }
  | { readonly type: "ended" }
  | { readonly type: "failed"; readonly error: { readonly code: string; readonly message: string } }

/** Reads the frames of one run to its end, and keeps what an answer says beside its text. */
export class RunReader {
  readonly #conversation: ConversationId
  #run: RunId | undefined
  #proposals: readonly Proposal[] = []
  #finish: Finish | undefined
  #status: PawlBeside["status"] = "completed"
  #total: Usage | undefined
  #cached = 0
  #reasoning = 0

  constructor(conversation: ConversationId) {
    this.#conversation = conversation
  }

  read(frame: Frame | UnknownFrame): RunPiece[] {
    const known = frame as Frame
    switch (known.type) {
      case "run_started":
        this.#run = known.data.runId
        return [{ type: "began" }]
      case "text_delta":
        return [{ type: "text", text: known.data.text }]
      case "restarted":
        return [{ type: "taken_back" }]
      case "message": {
        const { role, content, finish, usage } = known.data.message
        if (role !== "assistant") return []
        this.#finish = finish
        this.#cached += usage?.cachedTokens ?? 0
        this.#reasoning += usage?.reasoningTokens ?? 0
        return content === "" ? [] : [{ type: "reply", text: content }]
      }
      case "awaiting_confirmation":
        this.#proposals = known.data.proposals
        return []
      case "usage":
        this.#total = known.data
        return []
      case "error":
        return [{ type: "failed", error: known.data }]
      case "done":
        return this.#done(known.data.status)
      default:
        return []
    }
  }

  #done(status: Frame<"done">["data"]["status"]): RunPiece[] {
    if (status === "cancelled")
      return [{ type: "failed", error: { code: "cancelled", message: "The run was cancelled." } }]
    if (status === "completed") return [{ type: "ended" }]
    this.#status = status
    return [{ type: "waits", text: waitingWords(this.#proposals) }, { type: "ended" }]
  }

  get runId(): RunId {
    return this.#run ?? ("run_0" as RunId)
  }

  get finishReason(): FinishReason {
    if (this.#status === "paused") return "stop"
    if (this.#finish === "limit") return "length"
    return this.#finish === "refused" ? "content_filter" : "stop"
  }

  /** Undefined where the provider has counted nothing: zeros would be taken for a count. */
  get tokens(): CountedTokens | undefined {
    const { inputTokens: input = null, outputTokens: output = null } = this.#total ?? {}
    if (input === null && output === null) return undefined
    return { input: input ?? 0, output: output ?? 0, cached: this.#cached, reasoning: this.#reasoning }
  }

  get beside(): PawlBeside {
    const proposals = this.#proposals.map(({ id, summary, expiresAt }) => ({ id, summary, expires_at: expiresAt }))
    return { conversation_id: this.#conversation, run_id: this.runId, status: this.#status, proposals }
  }
}

/** Said to a person through a program that knows nothing of proposals: what waits, and that nothing was done. */
function waitingWords(proposals: readonly Proposal[]): string {
  if (proposals.length === 0) return "Waiting for you: it is not known whether a change was made. Look at it in Pawl."
  const listed = proposals.map(({ id, summary }) => `${summary} (${id})`).join("; ")
  return `Waiting for your decision: ${listed}. Nothing is changed until you decide in Pawl.`
}

export interface CountedTokens {
  readonly input: number
  readonly output: number
  readonly cached: number
  readonly reasoning: number
}
