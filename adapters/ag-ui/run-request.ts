import type { AgUiMessage, AgUiRequest } from "../../core/protocol/dialects/ag-ui.ts"
import type { ClientTool } from "../../core/protocol/conversation/tool-calls.ts"
import { failure } from "../../core/protocol/errors.ts"
import { type CallId, isId } from "../../core/protocol/ids.ts"

/** What a request asks for, in our words. */
export interface AgUiAsked {
  /** The newest of what the person says. Undefined where they only decide. */
  readonly said: { readonly id: string; readonly text: string } | undefined
  /** Rules and facts of the program. Like what was said before, they are told to the model as words from outside. */
  readonly instructions: readonly string[]
  readonly context: readonly (readonly [name: string, value: string])[]
  /** What stands before the words, a line for each. */
  readonly before: readonly string[]
  /** The frontend's own tools. */
  readonly tools: readonly ClientTool[]
  /** What stands behind the last reply as the results of calls: the frontend's, or ours. */
  readonly results: readonly ClientResultText[]
  /** Fields that were sent and passed over. */
  readonly ignored: readonly string[]
}

export interface ClientResultText {
  readonly callId: CallId
  readonly status: "ok" | "error"
  readonly text: string
}

export function readRun({ messages, context = [], tools = [], forwardedProps }: AgUiRequest): AgUiAsked {
  const at = messages.findLastIndex(({ role }) => role === "user")
  const last = messages[at]
  const rules = messages.filter(({ role }) => role === "system" || role === "developer")
  const before = messages.slice(0, Math.max(at, 0)).filter(({ role }) => role === "user" || role === "assistant")
  return {
    said: last && { id: last.id, text: textOf(last, `messages.${at}`) },
    instructions: rules.map((rule) => plainText(rule)),
    context: context.map(({ description, value }) => [description, value]),
    before: before.map((message) => `${message.role}: ${plainText(message)}`),
    tools: readTools(tools),
    results: readResults(messages),
    ignored: isEmpty(forwardedProps) ? [] : ["forwardedProps"],
  }
}

/** Of all that is told about the tools. */
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

/** The words of a message. What is no text was shown to somebody else, and is not told. */
function plainText({ content }: AgUiMessage): string {
  if (typeof content === "string") return content
  return Array.isArray(content) ? content.flatMap(({ text }) => (text === undefined ? [] : [text])).join("\n") : ""
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === "object" && Object.keys(value).length === 0)

/** The messages of a frontend up to the words that are answered: what it has behind them is told anew. */
export function messagesUpTo(messages: readonly AgUiMessage[], id: string): readonly AgUiMessage[] {
  const at = messages.findLastIndex((message) => message.id === id)
  return resetThoughts(messages, at)
}

/**
 * The messages of a frontend up to the reply that asked for these calls, with the results that were there before they were
 * decided, or that it has brought itself.
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
  const kept = resetThoughts(messages, at)
  return [...kept.slice(0, at + 1), ...messages.slice(at + 1).filter(isBefore), ...kept.slice(at + 1)]
}

/** What was thought cannot be taken back by leaving it out, so it is told as empty. */
function resetThoughts(messages: readonly AgUiMessage[], at: number): readonly AgUiMessage[] {
  const behind = messages.slice(at + 1).filter(({ role }) => role === "reasoning")
  return [...messages.slice(0, at + 1), ...behind.map((message) => ({ ...message, content: "" }))]
}
