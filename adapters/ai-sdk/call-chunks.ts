import { canonicalJson } from "../../core/shared/text/json.ts"
import { clientNameOf } from "../../core/protocol/conversation/tool-calls.ts"
import type { Frame } from "../../core/protocol/frames.ts"
import type { Proposal } from "../../core/protocol/proposals/proposal.ts"
import { tryReadJson } from "../../core/shared/text/read-json.ts"
import type { UiPart } from "../../core/protocol/dialects/ai-sdk.ts"
import { AnswerData, type Source } from "../../core/protocol/conversation/stages.ts"

/** What the reader's message has of calls before the first chunk. */
export interface KnownCalls {
  readonly calls: readonly string[]
  /** Questions about them: the id of each, and whose call it is about. */
  readonly approvals: readonly (readonly [approval: string, call: string])[]
  /** Those whose results it has brought itself. */
  readonly answered: readonly string[]
  /** Those that wait for an answer of its person or its page. */
  readonly waiting: readonly string[]
}

type Chunks = (CallChunk | DataChunk)[]

const NONE: KnownCalls = { calls: [], approvals: [], answered: [], waiting: [] }

/**
 * The calls of a run as tool parts. A client breaks off when it is told of a call, or of the answer to a question, that its
 * message does not have: so only what was told before is spoken of.
 */
export class CallChunks {
  /** What each call was told to be called with. */
  readonly #inputs: Map<string, string>
  readonly #asked: Map<string, string>
  readonly #answered: ReadonlySet<string>
  readonly #waiting: Set<string>
  readonly #names = new Map<string, string>()
  /** Calls of the page's own tools that were told to have begun, and not that they are to be carried out. */
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

  /** What is asked about is shown with the very arguments that would run. */
  asked(proposals: readonly Proposal[]): Chunks {
    return proposals.flatMap((proposal) => this.#ask(proposal))
  }

  proposed({ proposal, approvedBy }: Frame<"proposal">["data"]): Chunks {
    const asked = this.#ask(proposal, approvedBy !== undefined)
    if (approvedBy === undefined || asked.length === 0) return asked
    return [...asked, { type: "tool-approval-response", approvalId: proposal.id, approved: true, reason: approvedBy }]
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
   * The run waits. A page carries out what it is told to be called with: so it is told so only now, when the call is known to
   * wait, and never of one that has its result, which whoever comes late is told of too.
   */
  paused(): Chunks {
    const waiting = [...this.#begun].filter(([id]) => this.#waiting.has(id))
    return waiting.map(([toolCallId, called]) => {
      this.#begun.delete(toolCallId)
      return { type: "tool-input-available", toolCallId, ...called, toolMetadata: OF_PAGE }
    })
  }

  /** A client that sends by itself would send again and again where it has nothing to answer: that it is told by the second. */
  get pauseReason(): UiFinish {
    return this.#waiting.size > 0 ? "tool-calls" : "interrupted"
  }

  ended({ callId: toolCallId, name, status, text, data }: Frame<"tool_end">["data"]): Chunks {
    this.#waiting.delete(toolCallId)
    const begun = this.#begun.get(toolCallId)
    this.#begun.delete(toolCallId)
    if (!this.#inputs.has(toolCallId) || this.#answered.has(toolCallId)) return []
    if (status === "rejected") return [{ type: "tool-output-denied", toolCallId }]
    if (status !== "ok" && begun) return [{ type: "tool-input-error", toolCallId, ...begun, errorText: text }]
    if (status !== "ok") return [{ type: "tool-output-error", toolCallId, errorText: text }]
    const output = clientNameOf(name) === undefined ? text : toOutput(text)
    return [{ type: "tool-output-available", toolCallId, output }, ...toDataChunks(toolCallId, data)]
  }

  /** A write that had been given up has ended after all. */
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
    const told = this.#inputs.get(toolCallId)
    if (told === undefined) return []
    this.#asked.set(approvalId, toolCallId)
    if (!isAutomatic) this.#waiting.add(toolCallId)
    const input = proposal.arguments
    const anew = told !== "" && told === canonicalJson(input) ? [] : [this.#input(toolCallId, tool, input)]
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

/** What a page has given as an object is kept as its text, and is told as the object that it was. */
function toOutput(text: string): unknown {
  if (!/^[[{]/.test(text)) return text
  return tryReadJson(text) ?? text
}

/** What stands beside a message as its metadata. */
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

/** The pieces of a UI message stream that we send. */
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

/** Beside a call of the page's own tools: a tool of the agent's may have the same name. */
export const OF_PAGE = { pawl: { client: true } } as const

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

export type SourceChunk =
  | { readonly type: "source-url"; readonly sourceId: string; readonly url: string; readonly title: string }
  | {
      readonly type: "source-document"
      readonly sourceId: string
      readonly mediaType: string
      readonly title: string
    }

export interface DataChunk {
  readonly type: `data-${string}`
  readonly id?: string
  readonly data: unknown
  /** Told while it happens, and no part of the message. */
  readonly transient?: true
}

const KIND = /^[a-z][a-z0-9_-]{0,60}$/

/** What a result holds for views, such as rows or a chart, as a data part by its kind: `data-table`, `data-chart`. */
export function toDataChunks(callId: string, data: unknown): DataChunk[] {
  if (data === undefined || data === null) return []
  const { kind } = data as { readonly kind?: unknown }
  const name = typeof kind === "string" && KIND.test(kind) ? kind : "result"
  return [{ type: `data-${name}`, id: callId, data }]
}

/** What an answer rests on: its sources, then where it cites them. */
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
