import { CLIENT_TOOLS, type ClientTool, clientNameOf, toClientName } from "../../protocol/conversation/tool-calls.ts"
import type { NewEvent } from "../../protocol/events.ts"
import { mendText } from "../../shared/text/text.ts"
import { showHidden } from "../../shared/text/show-hidden.ts"
import type { Call, Conversation } from "../conversation.ts"
import type { ClientResult } from "../input.ts"
import type { ToolDeclaration } from "../model.ts"
import { toolEnd } from "./tool-end.ts"

/** The most characters of a result that a model is sent. */
const MAX_RESULT = 50_000

/** The event with a client's tools, for the run that its message starts; none if nothing changes. */
export function declareClientTools(tools: readonly ClientTool[] = []): NewEvent[] {
  return tools.length > 0 ? [{ type: "step", step: CLIENT_TOOLS, detail: { tools } }] : []
}

export function toClientTools(detail: unknown): readonly ClientTool[] {
  const { tools } = (detail ?? {}) as { readonly tools?: unknown }
  return Array.isArray(tools) ? (tools as readonly ClientTool[]) : []
}

/** The tools as the model is sent them. Their descriptions are untrusted and are cleaned like all untrusted text. */
export function clientDeclarations({ clientTools }: Conversation): ToolDeclaration[] {
  return clientTools.map(({ name, description, inputSchema }) => ({
    name: toClientName(name),
    description: showHidden(`A function of the program that the person uses. ${description}`),
    inputSchema,
  }))
}

export function isClientCall({ clientTools }: Conversation, { name }: Pick<Call, "name">): boolean {
  const known = clientNameOf(name)
  return known !== undefined && clientTools.some((tool) => tool.name === known)
}

/** The call that a result is for, if it still waits. */
export function waitingCall(conversation: Conversation, { callId }: ClientResult, now: number): Call | undefined {
  const call = conversation.calls.find(({ id, state }) => id === callId && state === "handed_over")
  return call && !isPastDeadline(call, now) ? call : undefined
}

export const isPastDeadline = ({ expiresAt = 0 }: Pick<Call, "expiresAt">, now: number): boolean => expiresAt <= now

interface Ending {
  readonly result: ClientResult
  readonly by: string
  readonly now: number
}

/** Results of client tools are untrusted, and may be the user's private data as well. */
export function clientEnd(conversation: Conversation, call: Call, { result, by, now }: Ending): NewEvent {
  const { status, text } = result
  return { ...toolEnd(conversation, call, { status, text: recordedResult(text), now }), brings: "both", by }
}

/** A result as recorded. */
export function recordedResult(text: string): string {
  const cut = text.length > MAX_RESULT ? `\n[Cut: the first ${MAX_RESULT} of ${text.length} characters.]` : ""
  return mendText(text.slice(0, MAX_RESULT).toWellFormed() + cut)
}
