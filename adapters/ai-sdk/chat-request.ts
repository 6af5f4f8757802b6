import { ClientTool, type RequestFile, type UiChatRequest, type UiMessage, type UiPart } from "../../core/adapter.ts"
import { type CallId, failure, isId, type JsonObject, type ProposalId } from "../../core/protocol/index.ts"
import { readFilePart } from "../file-part.ts"
import type { ContinuedMessage } from "./run-chunks.ts"

/** A request to send a message, or to continue with answers to open calls. */
export type UiRequest = NewChatMessage | ChatAnswers

export interface NewChatMessage {
  readonly type: "words"
  /** The client's id of the message: repeating it sends nothing new. */
  readonly id: string
  readonly text: string
  readonly files: readonly RequestFile[]
  /** Answers an existing message again. */
  readonly again: boolean
  /** The client's history, one line each, as untrusted context. */
  readonly before: readonly string[]
  /** Decisions in the previous message that may not have been sent. */
  readonly unsent: readonly ApprovalAnswer[]
  /** Results there that may not have been sent: they are sent with the message. */
  readonly results: readonly PageResult[]
  /** The page's own tools. */
  readonly tools: readonly ClientTool[]
}

export interface ChatAnswers {
  readonly type: "answers"
  readonly decisions: readonly ApprovalAnswer[]
  readonly results: readonly PageResult[]
  /** The run continues in the message that contained the request. */
  readonly continuesIn: ContinuedMessage
}

export function readUiRequest({ messages, trigger, tools }: UiChatRequest): UiRequest {
  const last = messages.at(-1)!
  const at = `messages.${messages.length - 1}`
  const again = trigger === "regenerate-message"
  if (last.role === "assistant" && !again) return readAnswers(last, at)
  if (last.role !== "user") throw problem(`${at}: the last message is what is answered, and has the role user`)
  const earlier = messages.slice(0, -1)
  const previous = earlier.at(-1)
  return {
    ...{ type: "words", id: last.id, again, ...readWords(last, at) },
    before: earlier.flatMap(toLine),
    unsent: previous ? decisionsIn(previous) : [],
    results: previous?.role === "assistant" ? pageResultsIn(previous) : [],
    tools: readUiTools(tools ?? {}),
  }
}

function readAnswers(message: UiMessage, at: string): ChatAnswers {
  const [decisions, results] = [decisionsIn(message), pageResultsIn(message)]
  if (decisions.length + results.length === 0) throw problem(`${at}: it is the assistant's, and answers nothing`)
  return { type: "answers", decisions, results, continuesIn: continuesIn(message) }
}

function readWords({ parts }: UiMessage, at: string): Pick<NewChatMessage, "text" | "files"> {
  const files: RequestFile[] = []
  const texts: string[] = []
  for (const [index, part] of parts.entries()) {
    const field = `${at}.parts.${index}`
    if (part.type === "file") files.push(readFilePart(part, field))
    else if (part.type === "text" && typeof part.text === "string") texts.push(part.text)
    else throw problem(`${field}: "${part.type}" is not taken; say it in words or send a file`)
  }
  return { text: texts.join("\n"), files }
}

function toLine({ role, parts }: UiMessage): string[] {
  const text = parts.flatMap((part) => (part.type === "text" && typeof part.text === "string" ? [part.text] : []))
  return text.length > 0 ? [`${role}: ${text.join("\n")}`] : []
}

const problem = (text: string) => failure("bad_request", { problem: `${text}.` })

/** The answers in an assistant's message: decisions, and results of the page's tools. */

export interface ApprovalAnswer {
  readonly proposalId: ProposalId
  readonly approved: boolean
  readonly reason?: string
}

interface PageResult {
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
 * The results in the newest step, of any tool: the journal knows which calls wait for the page. Results of earlier steps
 * were sent before.
 */
function pageResultsIn(message: UiMessage): PageResult[] {
  return newestStep(message).flatMap(({ toolCallId, state, output, errorText }): PageResult[] => {
    if (typeof toolCallId !== "string" || !isId("call", toolCallId)) return []
    if (state === "output-error") return [{ callId: toolCallId, status: "error", text: toText(errorText) }]
    return state === "output-available" ? [{ callId: toolCallId, status: "ok", text: toText(output) }] : []
  })
}

/** The message in which the run continues: its calls, its answers, and what it still waits for. */
export function continuesIn(message: UiMessage): ContinuedMessage {
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

/** Most characters of all tool definitions. */
const MAX_CHARACTERS = 100_000

/** The tools of a page in the AI SDK's format: `{show_map: {description, inputSchema}}`. */
function readUiTools(tools: JsonObject): ClientTool[] {
  const named = Object.entries(tools)
  if (JSON.stringify(tools).length > MAX_CHARACTERS) throw toolProblem(`more than ${MAX_CHARACTERS} characters`)
  return named.map(([name, tool]) => {
    const { description = "", inputSchema = { type: "object", properties: {} } } = Object(tool) as Partial<ClientTool>
    const { data } = typeof tool === "object" ? ClientTool.safeParse({ name, description, inputSchema }) : {}
    if (!data)
      throw toolProblem(
        `"${name.slice(0, 60)}" needs a name of up to 57 letters, digits, _ and -, and {description, inputSchema}`,
      )
    return data
  })
}

const toolProblem = (text: string) => failure("bad_request", { problem: `tools: ${text}.` })
