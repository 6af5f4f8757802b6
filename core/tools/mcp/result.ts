import { withoutSecrets } from "../../engine/calls/tool-end.ts"
import { answer, type Answer, type CallContext, failed } from "../../engine/definition/tool.ts"
import { MAX_FILES, type MessageFile } from "../../protocol/conversation/message.ts"
import type { ReportedProgress, ResultFiles } from "../../protocol/conversation/tool-calls.ts"
import { hasCode } from "../../protocol/errors.ts"
import { plainText } from "./definition/server.ts"

/** Most characters of all texts of a result. */
const MAX_TEXT = 200_000

/** The call that a file belongs to. */
type FileCall = Pick<CallContext, "user" | "conversation" | "callId">

/** Stores a file of a result before anything refers to it. */
export interface ResultFileKeeper {
  keep(call: FileCall, file: { readonly name: string; readonly bytes: Uint8Array }): Promise<MessageFile>
}

interface Answering {
  readonly tool: string
  readonly secrets: readonly string[]
  readonly call: FileCall
  readonly files: ResultFileKeeper
}

/**
 * Converts a result to text and files. Never throws, because the call is done: a file that cannot be stored is mentioned in
 * the text.
 */
export async function toAnswer(result: unknown, answering: Answering): Promise<Answer> {
  const { tool, secrets } = answering
  const { content, structuredContent, isError } = (result ?? {}) as Record<string, unknown>
  const blocks: unknown[] = Array.isArray(content) ? content : []
  const files: MessageFile[] = []
  const texts: string[] = []
  for (const [index, each] of blocks.entries()) {
    const block = toBlock(each, { name: `${tool}-${index + 1}`, secrets })
    const text = block.type === "words" ? block.text : await storeBlock(block, files, answering)
    if (text !== "") texts.push(text)
  }
  if (texts.length === 0 && structuredContent !== undefined) texts.push(structured(structuredContent))
  const text = plainText(withoutSecrets(texts.join("\n\n"), secrets).slice(0, MAX_TEXT)) || "[It answered nothing.]"
  const data: ResultFiles = { kind: "files", files }
  const more = files.length > 0 ? { data } : {}
  return isError === true ? failed(text, more) : answer(text, more)
}

function structured(content: unknown): string {
  try {
    return JSON.stringify(content)
  } catch {
    return "[Something that is not shown: it is nested too deep.]"
  }
}

/** Stores a file and describes it, or why it was not stored. */
async function storeBlock(
  { what, name, bytes }: Extract<ResultBlock, { type: "bytes" }>,
  files: MessageFile[],
  { secrets, call, files: keeper }: Answering,
): Promise<string> {
  const notKept = (why: string) => `[${what} of ${bytes.length} bytes that is not kept: ${why}.]`
  if (files.length >= MAX_FILES) return notKept(`a result may bring ${MAX_FILES} files`)
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  if (secrets.some((secret) => content.includes(secret)))
    return notKept("it contains secrets that were sent to the server")
  try {
    const file = await keeper.keep(call, { name: withoutSecrets(name, secrets), bytes })
    files.push(file)
    const pixels = file.width && file.height ? `, ${file.width} × ${file.height} pixels` : ""
    return `[${what} kept as ${JSON.stringify(file.name)} (${file.type}, ${file.size} bytes${pixels}).]`
  } catch (error) {
    return notKept(hasCode(error, "files_full") ? "there is no more room for files of tools" : "it could not be stored")
  }
}

/** A block of a result: text, or bytes that are stored as a file. */
type ResultBlock =
  | { readonly type: "words"; readonly text: string }
  | { readonly type: "bytes"; readonly what: string; readonly name: string; readonly bytes: Uint8Array }

/** A longer embedded text is stored as a file, and the model sees a part of it. */
const MAX_TEXT_OF_FILE = 8000
/** Most characters of a name from the server. */
const MAX_NAME_LENGTH = 200

interface Naming {
  /** The name if the server gives none. */
  readonly name: string
  /** Removed before text is cut: otherwise the beginning of a secret at the cut would remain. */
  readonly secrets: readonly string[]
}

/** Converts a block. The server's type of a file is ignored. */
function toBlock(block: unknown, { name, secrets }: Naming): ResultBlock {
  const plain = (value: unknown) => (typeof value === "string" ? withoutSecrets(value, secrets) : undefined)
  const named = (value: unknown) => plain(value)?.slice(0, MAX_NAME_LENGTH) ?? "unnamed"
  const { type, text, data, resource, uri, name: title } = (block ?? {}) as Record<string, unknown>
  switch (type) {
    case "text":
      return textBlock(typeof text === "string" ? text : "")
    case "image":
    case "audio":
      return fromBase64(data, { what: type === "image" ? "An image" : "A sound", name })
    case "resource":
      return toResource(resource, { name, plain, named })
    case "resource_link":
      return textBlock(`[A link to ${named(title)}: ${named(uri)}. It was not followed.]`)
    default:
      return textBlock(`[Something that is not shown: ${named(type)}.]`)
  }
}

function toResource(
  resource: unknown,
  { name, plain, named }: { name: string; plain(value: unknown): string | undefined; named(value: unknown): string },
): ResultBlock {
  const { text, blob, uri } = (resource ?? {}) as Record<string, unknown>
  const file = { what: `A file, ${named(uri)},`, name: nameIn(plain(uri)) || name }
  if (typeof text !== "string") return fromBase64(blob, file)
  if (text.length > MAX_TEXT_OF_FILE) return { type: "bytes", ...file, bytes: Buffer.from(text.toWellFormed()) }
  return textBlock(`[${named(uri)}]\n${text}`)
}

function fromBase64(base64: unknown, file: { readonly what: string; readonly name: string }): ResultBlock {
  const bytes = Buffer.from(typeof base64 === "string" ? base64 : "", "base64")
  return bytes.length === 0 ? textBlock(`[${file.what} that is empty.]`) : { type: "bytes", ...file, bytes }
}

/** The last segment of a URI; storing it may change the name further. */
function nameIn(uri = ""): string {
  const path = uri.slice(0, 2000).replace(/[?#].*$/s, "")
  const last = path.split(/[/\\]/).at(-1) ?? ""
  try {
    return decodeURIComponent(last)
  } catch {
    return last
  }
}

const textBlock = (text: string): ResultBlock => ({ type: "words", text })

const MAX_PROGRESS_TEXT = 500

/** A server's progress for people: its text and numbers are arbitrary. */
export function toProgress(notification: unknown, secrets: readonly string[]): ReportedProgress {
  const { progress, total, message } = (notification ?? {}) as Record<string, unknown>
  return {
    ...(typeof message === "string"
      ? { text: plainText(withoutSecrets(message, secrets).slice(0, MAX_PROGRESS_TEXT)) }
      : {}),
    ...(typeof progress === "number" ? { done: progress } : {}),
    ...(typeof total === "number" ? { total } : {}),
  }
}
