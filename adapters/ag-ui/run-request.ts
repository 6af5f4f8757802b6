import type { AgUiMessage, AgUiRequest, ClientTool } from "../../core/adapter.ts"
import { type CallId, failure, isId } from "../../core/protocol/index.ts"

/** A request in our terms. */
export interface AgUiInput {
  /** The newest user message; undefined if the request only decides. */
  readonly userMessage: { readonly id: string; readonly text: string } | undefined
  /** The program's instructions and facts. Like the history, they are sent to the model as untrusted context. */
  readonly instructions: readonly string[]
  readonly context: readonly (readonly [name: string, value: string])[]
  /** The messages before the newest, one line each. */
  readonly before: readonly string[]
  /** The frontend's own tools. */
  readonly tools: readonly ClientTool[]
  /** The results after the last reply, of the frontend's tools or ours. */
  readonly results: readonly ClientResultText[]
  /** Ignored fields. */
  readonly ignored: readonly string[]
}

interface ClientResultText {
  readonly callId: CallId
  readonly status: "ok" | "error"
  readonly text: string
}

export function readRun({ messages, context = [], tools = [], forwardedProps }: AgUiRequest): AgUiInput {
  const at = messages.findLastIndex(({ role }) => role === "user")
  const last = messages[at]
  const rules = messages.filter(({ role }) => role === "system" || role === "developer")
  const before = messages.slice(0, Math.max(at, 0)).filter(({ role }) => role === "user" || role === "assistant")
  return {
    userMessage: last && { id: last.id, text: textOf(last, `messages.${at}`) },
    instructions: rules.map((rule) => plainText(rule)),
    context: context.map(({ description, value }) => [description, value]),
    before: before.map((message) => `${message.role}: ${plainText(message)}`),
    tools: readTools(tools),
    results: readResults(messages),
    ignored: isEmpty(forwardedProps) ? [] : ["forwardedProps"],
  }
}

/** Most characters of all tool definitions. */
const MAX_CHARACTERS = 100_000

function readTools(tools: NonNullable<AgUiRequest["tools"]>): ClientTool[] {
  if (JSON.stringify(tools).length > MAX_CHARACTERS)
    throw failure("bad_request", { problem: `tools: more than ${MAX_CHARACTERS} characters.` })
  if (new Set(tools.map(({ name }) => name)).size < tools.length)
    throw failure("bad_request", { problem: "tools: two have one name." })
  return tools.map(({ name, description, parameters }) => ({
    ...{ name, description, inputSchema: parameters ?? { type: "object", properties: {} } },
  }))
}

function readResults(messages: readonly AgUiMessage[]): ClientResultText[] {
  const replied = messages.findLastIndex(({ role, toolCalls }) => role === "assistant" && toolCalls !== undefined)
  return messages.slice(replied + 1).flatMap((message) => {
    const { role, toolCallId = "", error } = message
    if (role !== "tool" || !isId("call", toolCallId)) return []
    return [{ callId: toolCallId, status: error === undefined ? "ok" : "error", text: plainText(message) }]
  })
}

function textOf(message: AgUiMessage, field: string): string {
  const { content } = message
  const odd = Array.isArray(content) ? content.findIndex(({ type }) => type !== "text") : -1
  if (odd < 0) return plainText(message)
  const { type = "" } = Array.isArray(content) ? (content[odd] ?? {}) : {}
  const problem = `${field}.content.${odd}: "${type}" is not taken; upload files with POST /api/files.`
  throw failure("bad_request", { problem })
}

/** The text of a message, without parts of other types. */
function plainText({ content }: AgUiMessage): string {
  if (typeof content === "string") return content
  return Array.isArray(content) ? content.flatMap(({ text }) => (text === undefined ? [] : [text])).join("\n") : ""
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === "object" && Object.keys(value).length === 0)

/** The frontend's messages up to the one that is answered; later ones are sent again. */
export function messagesUpTo(messages: readonly AgUiMessage[], id: string): readonly AgUiMessage[] {
  const at = messages.findLastIndex((message) => message.id === id)
  return resetThoughts(messages, at)
}

/**
 * The frontend's messages up to the reply with these calls, with the results that were there before the decision, or that it
 * sent itself.
 */
export function messagesUpToCalls(
  messages: readonly AgUiMessage[],
  calls: ReadonlySet<string>,
  { keepsResults = false } = {},
): readonly AgUiMessage[] {
  const at = messages.findLastIndex(({ toolCalls }) => toolCalls?.some(({ id }) => calls.has(id)))
  if (at < 0) return messages
  const siblings = new Set(messages[at]?.toolCalls?.map(({ id }) => id))
  const isBefore = ({ role, toolCallId = "" }: AgUiMessage) =>
    role === "tool" && siblings.has(toolCallId) && (keepsResults || !calls.has(toolCallId))
  const reset = resetThoughts(messages, at)
  return [...reset.slice(0, at + 1), ...messages.slice(at + 1).filter(isBefore), ...reset.slice(at + 1)]
}

/** A reasoning message cannot be removed by omission, so it is sent empty. */
function resetThoughts(messages: readonly AgUiMessage[], at: number): readonly AgUiMessage[] {
  const later = messages.slice(at + 1).filter(({ role }) => role === "reasoning")
  return [...messages.slice(0, at + 1), ...later.map((message) => ({ ...message, content: "" }))]
}
