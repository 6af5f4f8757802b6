import { type Finish, missingAnswerText, type Usage } from "../../core/protocol/conversation/message.ts"
import type { Frame, UnknownFrame } from "../../core/protocol/frames.ts"
import type { CallId, ConversationId, RunId } from "../../core/protocol/ids.ts"
import type { FinishReason, PawlExtras } from "../../core/protocol/dialects/openai.ts"
import { type AskedCall, toAskedCall } from "./content.ts"
import type { Proposal } from "../../core/protocol/proposals/proposal.ts"
import { tryReadJson } from "../../core/shared/text/read-json.ts"

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
  /** Functions of the caller are to be called, after which it ends. */
  | { readonly type: "calls"; readonly calls: readonly AskedCall[] }
  | { readonly type: "ended" }
  | { readonly type: "failed"; readonly error: { readonly code: string; readonly message: string } }

/** The step that says whether a reply fits the schema that was asked for. */
const ANSWER = "answer"

/**
 * Reads the frames of one run to its end, and keeps what an answer says beside its text. Where the answer has to fit a
 * schema, only the reply that does is told, when it does: what was said on the way there is no JSON.
 */
export class RunReader {
  readonly #conversation: ConversationId
  readonly #hasToFit: boolean
  /** The newest reply, until it is known whether it fits. */
  #held = ""
  #fits = false
  /** Something that waited was settled. */
  #decided = false
  #run: RunId | undefined
  #proposals: readonly Proposal[] = []
  readonly #handed = new Map<CallId, AskedCall>()
  #finish: Finish | undefined
  #status: PawlExtras["status"] = "completed"
  #total: Usage | undefined
  #cached = 0
  #reasoning = 0

  constructor(conversation: ConversationId, { hasToFit = false } = {}) {
    this.#conversation = conversation
    this.#hasToFit = hasToFit
  }

  read(frame: Frame | UnknownFrame): RunPiece[] {
    const known = frame as Frame
    switch (known.type) {
      case "run_started":
        this.#run = known.data.runId
        return [{ type: "began" }]
      case "text_delta":
        return this.#hasToFit ? [] : [{ type: "text", text: known.data.text }]
      case "restarted":
        return this.#hasToFit ? [] : [{ type: "taken_back" }]
      case "message": {
        const { role, content, finish, usage } = known.data.message
        if (role !== "assistant") return []
        this.#finish = finish
        this.#cached += usage?.cachedTokens ?? 0
        this.#reasoning += usage?.reasoningTokens ?? 0
        this.#held = content
        return content === "" || this.#hasToFit ? [] : [{ type: "reply", text: content }]
      }
      case "step":
        return this.#hasToFit && known.data.step === ANSWER ? this.#judged(known.data.detail) : []
      case "handed_over":
        this.#handed.set(known.data.callId, toAskedCall(known.data, this.#conversation))
        return []
      case "awaiting_confirmation":
        this.#proposals = known.data.proposals
        this.#decided = false
        return []
      case "proposal":
        // In another's place, after somebody has changed it.
        this.#proposals = this.#proposals.map((each) => (each.id === known.data.replaces ? known.data.proposal : each))
        return []
      case "tool_end": {
        const { callId } = known.data
        this.#handed.delete(callId)
        if (!this.#proposals.some((each) => each.callId === callId)) return []
        this.#proposals = this.#proposals.filter((each) => each.callId !== callId)
        this.#decided = true
        return []
      }
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

  #judged(detail: unknown): RunPiece[] {
    const { fits, value } = (detail ?? {}) as { readonly fits?: boolean; readonly value?: unknown }
    if (!fits) return []
    this.#fits = true
    return wholeReply(tryReadJson(this.#held) !== undefined ? this.#held : JSON.stringify(value))
  }

  #done(status: Frame<"done">["data"]["status"]): RunPiece[] {
    if (status === "cancelled")
      return [{ type: "failed", error: { code: "cancelled", message: "The run was cancelled." } }]
    if (status === "paused") {
      this.#status = status
      const calls = [...this.#handed.values()]
      const words = { type: "waits", text: describeWaiting(this.#proposals, this.#decided) } as const
      const waits = calls.length === 0 || this.#proposals.length > 0 ? [words] : []
      return [...waits, ...(calls.length > 0 ? [{ type: "calls", calls } as const] : []), { type: "ended" }]
    }
    this.#proposals = []
    // Said by us in the place of an answer, such as that this is none of the agent's business: a person may read it.
    const instead = this.#hasToFit && !this.#fits && this.#held !== "" ? wholeReply(this.#held) : []
    if (!this.#hasToFit && this.#held === "" && this.#finish === "calls")
      instead.push(...wholeReply(missingAnswerText("calls")))
    return [...instead, { type: "ended" }]
  }

  get runId(): RunId {
    return this.#run ?? ("run_0" as RunId)
  }

  get finishReason(): FinishReason {
    if (this.#status === "paused" && this.#handed.size > 0) return "tool_calls"
    // What is not the JSON that was asked for must not be read as such.
    if (this.#hasToFit) return this.#fits ? "stop" : "content_filter"
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

  get beside(): PawlExtras {
    const proposals = this.#proposals.map(({ id, summary, expiresAt }) => ({ id, summary, expires_at: expiresAt }))
    return { conversation_id: this.#conversation, run_id: this.runId, status: this.#status, proposals }
  }
}

/** A reply that is told in one piece. */
const wholeReply = (text: string): RunPiece[] => [
  { type: "text", text },
  { type: "reply", text },
]

/** Said to a person through a program that knows nothing of proposals: what waits, and that nothing was done, if so. */
function describeWaiting(proposals: readonly Proposal[], decided: boolean): string {
  if (proposals.length === 0) return "Waiting for you: it is not known whether a change was made. Look at it in Pawl."
  const listed = proposals.map(({ id, summary }) => `${summary} (${id})`).join("; ")
  const rest = decided ? "The rest is decided." : "Nothing is changed until you decide in Pawl."
  return `Waiting for your decision: ${listed}. ${rest}`
}

export interface CountedTokens {
  readonly input: number
  readonly output: number
  readonly cached: number
  readonly reasoning: number
}
