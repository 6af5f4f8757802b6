import { canonicalJson } from "../../protocol/canonical-json.ts"
import type { Frame } from "../../protocol/frames.ts"
import type { Proposal } from "../../protocol/proposals/proposal.ts"
import type { CallChunk, DataChunk } from "./chunks.ts"
import { toDataChunks } from "./data-chunks.ts"

/** What the reader's message has of calls before the first chunk. */
export interface KnownCalls {
  readonly calls: readonly string[]
  readonly approvals: readonly string[]
}

type Chunks = (CallChunk | DataChunk)[]

/**
 * The calls of a run as tool parts. A client breaks off when it is told of a call, or of the answer to a question, that its
 * message does not have: so only what was told before is spoken of.
 */
export class CallChunks {
  /** What each call was told to be called with. */
  readonly #inputs: Map<string, string>
  readonly #asked: Set<string>
  readonly #names = new Map<string, string>()

  constructor({ calls, approvals }: KnownCalls) {
    this.#inputs = new Map(calls.map((id) => [id, ""]))
    this.#asked = new Set(approvals)
  }

  called(calls: readonly { readonly id: string; readonly name: string; readonly input: object }[]): Chunks {
    return calls.map(({ id, name, input }) => this.#input(id, name, input))
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
    if (decision === "edit" || !this.#asked.has(proposalId)) return []
    const approved = decision === "commit"
    return [
      { type: "tool-approval-response", approvalId: proposalId, approved, ...(reason === undefined ? {} : { reason }) },
    ]
  }

  ended({ callId: toolCallId, status, text, data }: Frame<"tool_end">["data"]): Chunks {
    if (!this.#inputs.has(toolCallId)) return []
    if (status === "rejected") return [{ type: "tool-output-denied", toolCallId }]
    if (status !== "ok") return [{ type: "tool-output-error", toolCallId, errorText: text }]
    return [{ type: "tool-output-available", toolCallId, output: text }, ...toDataChunks(toolCallId, data)]
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
    this.#asked.add(approvalId)
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
}
