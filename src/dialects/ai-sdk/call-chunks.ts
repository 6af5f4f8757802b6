import { canonicalJson } from "../../protocol/canonical-json.ts"
import { clientNameOf } from "../../protocol/conversation/client-tools.ts"
import type { Frame } from "../../protocol/frames.ts"
import type { Proposal } from "../../protocol/proposals/proposal.ts"
import { type CallChunk, type DataChunk, OF_PAGE, type UiFinish } from "./chunks.ts"
import { toDataChunks } from "./data-chunks.ts"

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
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
