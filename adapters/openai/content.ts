import {
  type ChatToolCall,
  clientNameOf,
  ClientTool,
  type OpenAiContent,
  type RequestFile,
} from "../../core/adapter.ts"
import { type CallId, type ConversationId, failure, isId, type JsonObject } from "../../core/protocol/index.ts"
import { readFilePart } from "../file-part.ts"

/** A file of a message, and how the history mentions it. */
export type ContentFile = RequestFile & { readonly kind: "an image" | "a file" }

interface Content {
  readonly text: string
  readonly files: readonly ContentFile[]
}

const TEXT_PARTS = new Set(["text", "input_text", "output_text"])

/** The text of a message, and its images and documents, which only a user's message may have. */
export function readContent(
  { role, content }: { readonly role: string; readonly content?: OpenAiContent | null | undefined },
  field: string,
): Content {
  if (typeof content === "string") return { text: content, files: [] }
  const texts: string[] = []
  const files: ContentFile[] = []
  for (const [index, part] of (content ?? []).entries()) {
    const at = `${field}.content.${index}`
    const { type, text } = part
    const file = toFilePart(part)
    if (TEXT_PARTS.has(type) && text !== undefined) texts.push(text)
    else if (file && role === "user") files.push({ ...readFilePart(file, at), kind: file.kind })
    else if (file) throw problem(`${at}: images and files are taken in messages of the role user`)
    else throw problem(`${at}: "${type}" is not taken; text, images and files are`)
  }
  return { text: texts.join("\n"), files }
}

interface FilePart {
  readonly kind: ContentFile["kind"]
  readonly url: unknown
  readonly filename?: unknown
}

/** The four notations of files: two of chat completions, two of responses. */
function toFilePart(part: { readonly type: string; readonly [more: string]: unknown }): FilePart | undefined {
  const { type, image_url: image } = part
  if (type === "image_url") return { kind: "an image", url: typeof image === "string" ? image : inside(image).url }
  if (type === "input_image") return { kind: "an image", url: image ?? uploaded(part.file_id) }
  if (type !== "file" && type !== "input_file") return undefined
  const { file_data: data, file_url: url, file_id: id, filename } = type === "file" ? inside(part.file) : part
  return { kind: "a file", url: data ?? url ?? uploaded(id), filename }
}

const inside = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? { ...value } : {}

const uploaded = (id: unknown): string | undefined => (typeof id === "string" ? `/api/files/${id}` : undefined)

const MAX_TOOLS = 64
/** Most characters of all function definitions. */
const MAX_CHARACTERS = 100_000

/** Parses the functions of a request. Throws for other kinds of tools and for forced calls. */
export function readFunctions(tools: unknown, choice: unknown): ClientTool[] {
  if (choice !== undefined && choice !== null && choice !== "auto" && choice !== "none")
    throw problem("tool_choice: whether a function is called is the agent's to decide; send auto or none")
  if (tools === undefined || tools === null) return []
  if (!Array.isArray(tools)) throw problem("tools: a list is expected")
  if (tools.length > MAX_TOOLS) throw problem(`tools: at most ${MAX_TOOLS} are taken`)
  if (JSON.stringify(tools).length > MAX_CHARACTERS) throw problem(`tools: more than ${MAX_CHARACTERS} characters`)
  const read = tools.map((tool: unknown, at) => readFunction(tool, `tools.${at}`))
  const doubled = read.find(({ name }, at) => read.findIndex((other) => other.name === name) !== at)
  if (doubled) throw problem(`tools: two are called "${doubled.name}"`)
  return choice === "none" ? [] : read
}

function readFunction(tool: unknown, field: string): ClientTool {
  const { type, function: described, ...flat } = (tool ?? {}) as Record<string, unknown>
  if (type !== "function") throw problem(`${field}: "${String(type).slice(0, 40)}" is not taken; only functions are`)
  const { name, description, parameters } = (described ?? flat) as Record<string, unknown>
  const candidate = {
    name,
    description: description ?? "",
    inputSchema: parameters ?? { type: "object", properties: {} },
  }
  const { data } = ClientTool.safeParse(candidate)
  if (!data) throw problem(`${field}: a name of up to 57 letters, digits, _ and -, a description, and parameters`)
  return data
}

/**
 * A call that the program must execute, as OpenAI names it. The id contains the conversation, because the program knows
 * nothing else of it.
 */
export interface DelegatedToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

interface Handed {
  readonly callId: CallId
  readonly name: string
  readonly input: JsonObject
}

export const toDelegatedToolCall = (
  { callId, name, input }: Handed,
  conversation: ConversationId,
): DelegatedToolCall => ({
  id: toDelegatedCallId(callId, conversation),
  name: clientNameOf(name) ?? name,
  arguments: JSON.stringify(input),
})

export const toDelegatedCallId = (callId: CallId, conversation: ConversationId): string => `${callId}-${conversation}`

export const toToolCall = ({ id, ...called }: DelegatedToolCall): ChatToolCall => ({
  id,
  type: "function",
  function: called,
})

/** Parses such an id; undefined if it is not ours. */
export function readCallId(id: string): { readonly callId: CallId; readonly conversation: ConversationId } | undefined {
  const [callId = "", conversation = ""] = id.split("-")
  return isId("call", callId) && isId("conv", conversation) ? { callId, conversation } : undefined
}

/** A program's result of a call. */
export interface FunctionResult {
  /** The call's id as the program knows it. */
  readonly id: string
  readonly text: string
}

export const problem = (text: string) => failure("bad_request", { problem: `${text}.` })
