import { CLIENT_TOOLS, type ClientTool, clientNameOf, toClientName } from "../../protocol/conversation/tool-calls.ts"
import type { NewEvent } from "../../protocol/events.ts"
import { mendText } from "../../shared/text/text.ts"
import { showHidden } from "../../shared/text/hidden-words.ts"
import type { Call, Conversation } from "../conversation.ts"
import type { ClientResult } from "../input.ts"
import type { ToolDeclaration } from "../model.ts"
import { toolEnd } from "./tool-end.ts"

/** Characters of a result that a model is told. */
const MAX_RESULT = 50_000

/** The row that says which tools a program has, for the run that its words begin; none where nothing changes. */
export function declareClientTools(tools: readonly ClientTool[] = []): NewEvent[] {
  return tools.length > 0 ? [{ type: "step", step: CLIENT_TOOLS, detail: { tools } }] : []
}

export function toClientTools(detail: unknown): readonly ClientTool[] {
  const { tools } = (detail ?? {}) as { readonly tools?: unknown }
  return Array.isArray(tools) ? (tools as readonly ClientTool[]) : []
}

/** What the model is shown of them. What a program writes about them is cleaned as all words from outside are. */
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

/** The call that a result is for, while it is waited for. */
export function waitingCall(conversation: Conversation, { callId }: ClientResult, now: number): Call | undefined {
  const call = conversation.calls.find(({ id, state }) => id === callId && state === "handed_over")
  return call && !isLate(call, now) ? call : undefined
}

export const isLate = ({ expiresAt = 0 }: Pick<Call, "expiresAt">, now: number): boolean => expiresAt <= now

interface Ending {
  readonly result: ClientResult
  readonly by: string
  readonly now: number
}

/** What a program brings are words from outside, and nobody can tell whether they are the person's own too. */
export function clientEnd(conversation: Conversation, call: Call, { result, by, now }: Ending): NewEvent {
  const { status, text } = result
  return { ...toolEnd(conversation, call, { status, text: toldResult(text), now }), brings: "both", by }
}

/** A result as it stands in the journal. */
export function toldResult(text: string): string {
  const cut = text.length > MAX_RESULT ? `\n[Cut: the first ${MAX_RESULT} of ${text.length} characters.]` : ""
  return mendText(text.slice(0, MAX_RESULT).toWellFormed() + cut)
}
