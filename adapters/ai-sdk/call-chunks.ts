import { canonicalJson, clientNameOf, tryReadJson, type UiPart } from "../../core/adapter.ts"
import { AnswerData, type Frame, type Proposal, type Source } from "../../core/protocol/index.ts"

/** The calls in the client's message before the first chunk. */
export interface KnownCalls {
  readonly calls: readonly string[]
  /** Approval requests: the id of each, and its call. */
  readonly approvals: readonly (readonly [approval: string, call: string])[]
  /** Calls whose results the client sent. */
  readonly answered: readonly string[]
  /** Calls that wait for the person or the page. */
  readonly waiting: readonly string[]
}

type Chunks = (CallChunk | DataChunk)[]

const NONE: KnownCalls = { calls: [], approvals: [], answered: [], waiting: [] }

/**
 * The calls of a run as tool parts. A client fails on a chunk for a call or approval that its message does not contain, so
 * only known ones are sent.
 */
export class CallChunks {
  /** The sent input of each call. */
  readonly #inputs: Map<string, string>
  readonly #asked: Map<string, string>
  readonly #answered: ReadonlySet<string>
  readonly #waiting: Set<string>
  readonly #names = new Map<string, string>()
  /** Calls of the page's tools that were started but not released for execution. */
  readonly #begun = new Map<string, { readonly toolName: string; readonly input: object }>()

  constructor({ calls, approvals, answered, waiting }: KnownCalls = NONE) {
    this.#inputs = new Map(calls.map((id) => [id, ""]))
    this.#asked = new Map(approvals)
    this.#answered = new Set(answered)
    this.#waiting = new Set(waiting)
  }

  called(calls: readonly { readonly id: string; readonly name: string; readonly input: object }[]): Chunks {
    return calls.flatMap(({ id, name, input }) => {
      const own = clientNameOf(name)
      return own === undefined ? [this.#input(id, name, input)] : this.#begin(id, own, input)
    })
  }

  /** Shown with the arguments that would run. */
  asked(proposals: readonly Proposal[]): Chunks {
    return proposals.flatMap((proposal) => this.#ask(proposal))
  }

  proposed({ proposal, approvedBy }: Frame<"proposal">["data"]): Chunks {
    const question = this.#ask(proposal, approvedBy !== undefined)
    if (approvedBy === undefined || question.length === 0) return question
    return [
      ...question,
      { type: "tool-approval-response", approvalId: proposal.id, approved: true, reason: approvedBy },
    ]
  }

  decided({ proposalId, decision, reason }: Frame<"decision">["data"]): Chunks {
    const callId = this.#asked.get(proposalId)
    if (decision === "edit" || callId === undefined) return []
    this.#waiting.delete(callId)
    const approved = decision === "commit"
    return [
      { type: "tool-approval-response", approvalId: proposalId, approved, ...(reason === undefined ? {} : { reason }) },
    ]
  }

  handedOver({ callId }: Pick<Frame<"handed_over">["data"], "callId">): Chunks {
    this.#waiting.add(callId)
    return []
  }

  /**
   * The run is paused. A page executes a call when its input is available, so that is sent only now, for calls that really
   * wait: a late reader may already have their results.
   */
  paused(): Chunks {
    const waiting = [...this.#begun].filter(([id]) => this.#waiting.has(id))
    return waiting.map(([toolCallId, called]) => {
      this.#begun.delete(toolCallId)
      return { type: "tool-input-available", toolCallId, ...called, toolMetadata: OF_PAGE }
    })
  }

  /** A client that sends automatically would repeat forever without an answer to send; `interrupted` stops it. */
  get pauseReason(): UiFinish {
    return this.#waiting.size > 0 ? "tool-calls" : "interrupted"
  }

  ended({ callId: toolCallId, name, status, text, data }: Frame<"tool_end">["data"]): Chunks {
    this.#waiting.delete(toolCallId)
    const started = this.#begun.get(toolCallId)
    this.#begun.delete(toolCallId)
    if (!this.#inputs.has(toolCallId) || this.#answered.has(toolCallId)) return []
    if (status === "rejected") return [{ type: "tool-output-denied", toolCallId }]
    if (status !== "ok" && started) return [{ type: "tool-input-error", toolCallId, ...started, errorText: text }]
    if (status !== "ok") return [{ type: "tool-output-error", toolCallId, errorText: text }]
    const output = clientNameOf(name) === undefined ? text : toOutput(text)
    return [{ type: "tool-output-available", toolCallId, output }, ...toDataChunks(toolCallId, data)]
  }

  /** The late end of a write that was given up. */
  endedLate({ callId: toolCallId, status, text, data }: Frame<"late_result">["data"]): Chunks {
    if (!this.#inputs.has(toolCallId)) return []
    if (status === "error") return [{ type: "tool-output-error", toolCallId, errorText: text }]
    return [{ type: "tool-output-available", toolCallId, output: text }, ...toDataChunks(toolCallId, data)]
  }

  doubted({ callId, because }: Frame<"in_doubt">["data"]): Chunks {
    return [{ type: "data-in-doubt", id: callId, data: { callId, because } }]
  }

  #ask(proposal: Proposal, isAutomatic = false): Chunks {
    const { id: approvalId, callId: toolCallId, tool, summary } = proposal
    const shown = this.#inputs.get(toolCallId)
    if (shown === undefined) return []
    this.#asked.set(approvalId, toolCallId)
    if (!isAutomatic) this.#waiting.add(toolCallId)
    const input = proposal.arguments
    const anew = shown !== "" && shown === canonicalJson(input) ? [] : [this.#input(toolCallId, tool, input)]
    const { title, action, diff, undoable, insists, sends, hash, expiresAt } = proposal
    const approvalDescriptor = { title, action, diff, undoable, insists, sends, hash, expiresAt }
    return [
      ...anew,
      {
        ...{ type: "tool-approval-request", approvalId, toolCallId, approvalDescriptor, reason: summary },
        ...(isAutomatic ? { isAutomatic } : {}),
      },
    ]
  }

  #input(toolCallId: string, name: string, input: object): CallChunk {
    const toolName = this.#names.get(toolCallId) ?? name
    this.#names.set(toolCallId, toolName)
    this.#inputs.set(toolCallId, canonicalJson(input))
    return { type: "tool-input-available", toolCallId, toolName, input }
  }

  #begin(toolCallId: string, toolName: string, input: object): Chunks {
    this.#inputs.set(toolCallId, canonicalJson(input))
    this.#begun.set(toolCallId, { toolName, input })
    return [
      { type: "tool-input-start", toolCallId, toolName, toolMetadata: OF_PAGE },
      { type: "tool-input-delta", toolCallId, inputTextDelta: JSON.stringify(input) },
    ]
  }
}

/** An object result of the page is stored as text and sent as an object again. */
function toOutput(text: string): unknown {
  if (!/^[[{]/.test(text)) return text
  return tryReadJson(text) ?? text
}

/** The metadata of a message. */
export interface PawlMetadata {
  readonly conversationId?: string
  readonly runId?: string
  readonly status?: "paused" | "completed" | "cancelled" | "failed"
  readonly usage?: object
  readonly error?: { readonly code: string; readonly message: string }
  readonly createdAt?: string
}

interface Metadata {
  readonly pawl: PawlMetadata
}

/** The chunks of a UI message stream that we send. */
export type UiChunk =
  | { readonly type: "start"; readonly messageId: string; readonly messageMetadata?: Metadata }
  | { readonly type: "start-step" | "finish-step" | "reset-step" }
  | { readonly type: "text-start" | "text-end" | "reasoning-start" | "reasoning-end"; readonly id: string }
  | { readonly type: "text-delta" | "reasoning-delta"; readonly id: string; readonly delta: string }
  | CallChunk
  | SourceChunk
  | DataChunk
  | { readonly type: "steering-message"; readonly id: string; readonly parts: readonly UiPart[] }
  | { readonly type: "message-metadata"; readonly messageMetadata: Metadata }
  | { readonly type: "finish"; readonly finishReason: UiFinish; readonly messageMetadata: Metadata }
  | { readonly type: "abort"; readonly reason: string }
  | { readonly type: "error"; readonly errorText: string }

export type UiFinish = "stop" | "length" | "content-filter" | "tool-calls" | "interrupted"

/** Marks calls of the page's own tools: an agent's tool may have the same name. */
const OF_PAGE = { pawl: { client: true } } as const

export type CallChunk =
  | {
      readonly type: "tool-input-available"
      readonly toolCallId: string
      readonly toolName: string
      readonly input: unknown
      readonly toolMetadata?: typeof OF_PAGE
    }
  | {
      readonly type: "tool-input-start"
      readonly toolCallId: string
      readonly toolName: string
      readonly toolMetadata: typeof OF_PAGE
    }
  | { readonly type: "tool-input-delta"; readonly toolCallId: string; readonly inputTextDelta: string }
  | {
      readonly type: "tool-input-error"
      readonly toolCallId: string
      readonly toolName: string
      readonly input: unknown
      readonly errorText: string
    }
  | {
      readonly type: "tool-approval-request"
      readonly approvalId: string
      readonly toolCallId: string
      readonly approvalDescriptor: object
      readonly reason: string
      readonly isAutomatic?: true
    }
  | {
      readonly type: "tool-approval-response"
      readonly approvalId: string
      readonly approved: boolean
      readonly reason?: string
    }
  | { readonly type: "tool-output-available"; readonly toolCallId: string; readonly output: unknown }
  | { readonly type: "tool-output-error"; readonly toolCallId: string; readonly errorText: string }
  | { readonly type: "tool-output-denied"; readonly toolCallId: string }

type SourceChunk =
  | { readonly type: "source-url"; readonly sourceId: string; readonly url: string; readonly title: string }
  | {
      readonly type: "source-document"
      readonly sourceId: string
      readonly mediaType: string
      readonly title: string
    }

interface DataChunk {
  readonly type: `data-${string}`
  readonly id?: string
  readonly data: unknown
  /** Sent while it happens, and not part of the message. */
  readonly transient?: true
}

const KIND = /^[a-z][a-z0-9_-]{0,60}$/

/** The data of a result as a data part by its kind: `data-table`, `data-chart`. */
function toDataChunks(callId: string, data: unknown): DataChunk[] {
  if (data === undefined || data === null) return []
  const { kind } = data as { readonly kind?: unknown }
  const name = typeof kind === "string" && KIND.test(kind) ? kind : "result"
  return [{ type: `data-${name}`, id: callId, data }]
}

/** The sources of an answer, followed by its citations. */
export function toSourceChunks(messageId: string, data: unknown): (SourceChunk | DataChunk)[] {
  if (data === undefined || data === null) return []
  const answer = AnswerData.safeParse(data).data
  return [...(answer?.sources ?? []).map(toSource), ...toDataChunks(messageId, data)]
}

function toSource({ id: sourceId, title, url }: Source): SourceChunk {
  const isAddress = url !== undefined && /^https?:\/\//i.test(url)
  if (isAddress) return { type: "source-url", sourceId, url, title }
  return { type: "source-document", sourceId, mediaType: "text/plain", title }
}
