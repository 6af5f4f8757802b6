import type { UiMessage, UiPart } from "../../protocol/dialects/ai-sdk.ts"
import { failure } from "../../protocol/errors.ts"
import { type CallId, isId, type ProposalId } from "../../protocol/ids.ts"
import type { GoesOnIn } from "./run-chunks.ts"

/** What a message of the assistant's answers, as its page has it: decisions, and results of the page's own tools. */

export interface ApprovalAnswer {
  readonly proposalId: ProposalId
  readonly approved: boolean
  readonly reason?: string
}

export interface PageResult {
  readonly callId: CallId
  readonly status: "ok" | "error"
  readonly text: string
}

export function decisionsIn({ parts }: UiMessage): ApprovalAnswer[] {
  return parts.flatMap((part) => {
    const { id, approved, reason } = approvalOf(part) ?? {}
    if (part.state !== "approval-responded" || typeof approved !== "boolean") return []
    if (id === undefined || !isId("prop", id)) throw failure("not_found")
    return [{ proposalId: id, approved, ...(typeof reason === "string" && reason !== "" ? { reason } : {}) }]
  })
}

/**
 * The results in the newest step, of whichever tools: which calls wait for the page, the journal knows. What stands in the
 * steps before was brought before.
 */
export function pageResultsIn(message: UiMessage): PageResult[] {
  return newestStep(message).flatMap(({ toolCallId, state, output, errorText }): PageResult[] => {
    if (typeof toolCallId !== "string" || !isId("call", toolCallId)) return []
    if (state === "output-error") return [{ callId: toolCallId, status: "error", text: toText(errorText) }]
    return state === "output-available" ? [{ callId: toolCallId, status: "ok", text: toText(output) }] : []
  })
}

/** The message itself, with which the run goes on: what it knows, what it has answered, and what it still waits for. */
export function goesOnIn(message: UiMessage): GoesOnIn {
  const waits = ({ state }: UiPart) => state === "approval-requested" || state === "input-available"
  return {
    messageId: message.id,
    calls: callsIn(message.parts),
    approvals: message.parts.flatMap((part) => {
      const { id } = approvalOf(part) ?? {}
      return id === undefined ? [] : [[id, String(part.toolCallId)] as const]
    }),
    answered: pageResultsIn(message).map(({ callId }) => callId),
    waiting: callsIn(newestStep(message).filter(waits)),
  }
}

const callsIn = (parts: readonly UiPart[]): string[] =>
  parts.flatMap(({ toolCallId }) => (typeof toolCallId === "string" ? [toolCallId] : []))

const newestStep = ({ parts }: UiMessage): readonly UiPart[] =>
  parts.slice(parts.findLastIndex(({ type }) => type === "step-start") + 1)

const toText = (output: unknown): string => (typeof output === "string" ? output : (JSON.stringify(output) ?? ""))

interface Approval {
  readonly id: string
  readonly approved?: unknown
  readonly reason?: unknown
}

function approvalOf({ approval }: UiPart): Approval | undefined {
  const { id, ...rest } = (typeof approval === "object" && approval !== null ? approval : {}) as Partial<Approval>
  return typeof id === "string" ? { id, ...rest } : undefined
}
