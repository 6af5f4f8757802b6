import { type FinishReason, type PawlExtras, tryReadJson } from "../../core/adapter.ts"
import {
  type CallId,
  type ConversationId,
  type Finish,
  type Frame,
  missingAnswerText,
  type Proposal,
  type RunId,
  type UnknownFrame,
  type Usage,
} from "../../core/protocol/index.ts"
import { type DelegatedToolCall, toDelegatedToolCall } from "./content.ts"

/** The parts of a run that OpenAI's formats can express. */
export type RunPiece =
  | { readonly type: "began" }
  /** More text of the open reply. */
  | { readonly type: "text"; readonly text: string }
  /** The whole reply. */
  | { readonly type: "reply"; readonly text: string }
  /** The open reply is dropped and starts over. */
  | { readonly type: "taken_back" }
  /** Why it waits for a person; the answer ends here. */
  | { readonly type: "waits"; readonly text: string }
  /** The caller's functions must be called; the answer ends here. */
  | { readonly type: "calls"; readonly calls: readonly DelegatedToolCall[] }
  | { readonly type: "ended" }
  | { readonly type: "failed"; readonly error: { readonly code: string; readonly message: string } }

/** The step that reports whether a reply fits the schema. */
const ANSWER = "answer"

/**
 * Reads the frames of one run. If the answer must fit a schema, only the fitting reply is returned: other replies are not
 * JSON.
 */
export class RunReader {
  readonly #conversation: ConversationId
  readonly #hasToFit: boolean
  /** The newest reply, until it is known whether it fits. */
  #held = ""
  #fits = false
  /** Something that waited was decided. */
  #decided = false
  #run: RunId | undefined
  #proposals: readonly Proposal[] = []
  readonly #handed = new Map<CallId, DelegatedToolCall>()
  #finish: Finish | undefined
  #repliedAt: string | undefined
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
        const { role, content, finish, usage, createdAt } = known.data.message
        if (role !== "assistant") return []
        this.#repliedAt = createdAt
        this.#finish = finish
        this.#cached += usage?.cachedTokens ?? 0
        this.#reasoning += usage?.reasoningTokens ?? 0
        this.#held = content
        return content === "" || this.#hasToFit ? [] : [{ type: "reply", text: content }]
      }
      case "step":
        return this.#hasToFit && known.data.step === ANSWER ? this.#judged(known.data.detail) : []
      case "handed_over":
        this.#handed.set(known.data.callId, toDelegatedToolCall(known.data, this.#conversation))
        return []
      case "awaiting_confirmation":
        this.#proposals = known.data.proposals
        this.#decided = false
        return []
      case "proposal":
        // An edited proposal replaces another.
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
    // Our own text instead of an answer, such as a refusal of the guardrail: a person may read it.
    const instead = this.#hasToFit && !this.#fits && this.#held !== "" ? wholeReply(this.#held) : []
    if (!this.#hasToFit && this.#held === "" && this.#finish === "calls")
      instead.push(...wholeReply(missingAnswerText("calls")))
    return [...instead, { type: "ended" }]
  }

  get runId(): RunId {
    return this.#run ?? ("run_0" as RunId)
  }

  /** The time of the newest reply, in seconds since 1970. */
  get repliedAt(): number | undefined {
    return this.#repliedAt === undefined ? undefined : Math.floor(Date.parse(this.#repliedAt) / 1000)
  }

  get finishReason(): FinishReason {
    if (this.#status === "paused" && this.#handed.size > 0) return "tool_calls"
    // Text that is not the requested JSON must not be parsed as such.
    if (this.#hasToFit) return this.#fits ? "stop" : "content_filter"
    if (this.#status === "paused") return "stop"
    if (this.#finish === "limit") return "length"
    return this.#finish === "refused" ? "content_filter" : "stop"
  }

  /** Undefined if the provider counted nothing: zeros would look like a count. */
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

/** A reply in one piece. */
const wholeReply = (text: string): RunPiece[] => [
  { type: "text", text },
  { type: "reply", text },
]

/** The text for a person behind a program that does not know proposals: what waits, and that nothing was done yet. */
function describeWaiting(proposals: readonly Proposal[], decided: boolean): string {
  if (proposals.length === 0) return "Waiting for you: it is not known whether a change was made. Look at it in Pawl."
  const listed = proposals.map(({ id, summary }) => `${summary} (${id})`).join("; ")
  const remaining = decided ? "The rest is decided." : "Nothing is changed until you decide in Pawl."
  return `Waiting for your decision: ${listed}. ${remaining}`
}

interface CountedTokens {
  readonly input: number
  readonly output: number
  readonly cached: number
  readonly reasoning: number
}
