import { withoutSecrets } from "../../engine/calls/tool-end.ts"
import { answer, type Answer, type CallContext, failed } from "../../engine/definition/tool.ts"
import { MAX_FILES, type MessageFile } from "../../protocol/conversation/message.ts"
import type { ReportedProgress, ResultFiles } from "../../protocol/conversation/tool-calls.ts"
import { hasCode } from "../../protocol/errors.ts"
import { plainWords } from "./definition/server.ts"

/** Characters of all texts of a result together: what is longer is cut, and again where it is kept. */
const MAX_TEXT = 200_000

/** The call that a file comes with. */
type BringingCall = Pick<CallContext, "user" | "conversation" | "callId">

/** Keeps what a result has brought as a file of its conversation, before anything names it, and says what it is. */
export interface ResultFileKeeper {
  keep(call: BringingCall, file: { readonly name: string; readonly bytes: Uint8Array }): Promise<MessageFile>
}

interface Answering {
  readonly tool: string
  readonly secrets: readonly string[]
  readonly call: BringingCall
  readonly files: ResultFileKeeper
}

/**
 * What a server has answered: words, and files of the conversation. It never throws, for what was done is done: a file that
 * cannot be kept is told of in words.
 */
export async function toAnswer(result: unknown, answering: Answering): Promise<Answer> {
  const { tool, secrets } = answering
  const { content, structuredContent, isError } = (result ?? {}) as Record<string, unknown>
  const blocks: unknown[] = Array.isArray(content) ? content : []
  const files: MessageFile[] = []
  const words: string[] = []
  for (const [index, each] of blocks.entries()) {
    const block = toBlock(each, { name: `${tool}-${index + 1}`, secrets })
    const text = block.type === "words" ? block.text : await kept(block, files, answering)
    if (text !== "") words.push(text)
  }
  if (words.length === 0 && structuredContent !== undefined) words.push(structured(structuredContent))
  const text = plainWords(withoutSecrets(words.join("\n\n"), secrets).slice(0, MAX_TEXT)) || "[It answered nothing.]"
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

/** Adds it to the files, and says so in words; or why not. */
async function kept(
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

/** One block of a result: words, or bytes that are kept as a file. */
type ResultBlock =
  | { readonly type: "words"; readonly text: string }
  | { readonly type: "bytes"; readonly what: string; readonly name: string; readonly bytes: Uint8Array }

/** A text that came as a file and is longer is kept as one: the model is shown of it what there is room for. */
const MAX_WORDS_OF_FILE = 8000
/** Characters of what a server calls something. */
const MAX_SAID = 200

interface Naming {
  /** What it is called where its server does not say. */
  readonly name: string
  /** Hidden before anything is cut: of one that stands over the cut the beginning would be shown. */
  readonly secrets: readonly string[]
}

/** What a server has put into its result. What it says of the kind of something counts for nothing. */
function toBlock(block: unknown, { name, secrets }: Naming): ResultBlock {
  const plain = (value: unknown) => (typeof value === "string" ? withoutSecrets(value, secrets) : undefined)
  const said = (value: unknown) => plain(value)?.slice(0, MAX_SAID) ?? "unnamed"
  const { type, text, data, resource, uri, name: title } = (block ?? {}) as Record<string, unknown>
  switch (type) {
    case "text":
      return words(typeof text === "string" ? text : "")
    case "image":
    case "audio":
      return fromBase64(data, { what: type === "image" ? "An image" : "A sound", name })
    case "resource":
      return toResource(resource, { name, plain, said })
    case "resource_link":
      return words(`[A link to ${said(title)}: ${said(uri)}. It was not followed.]`)
    default:
      return words(`[Something that is not shown: ${said(type)}.]`)
  }
}

function toResource(
  resource: unknown,
  { name, plain, said }: { name: string; plain(value: unknown): string | undefined; said(value: unknown): string },
): ResultBlock {
  const { text, blob, uri } = (resource ?? {}) as Record<string, unknown>
  const file = { what: `A file, ${said(uri)},`, name: nameIn(plain(uri)) || name }
  if (typeof text !== "string") return fromBase64(blob, file)
  if (text.length > MAX_WORDS_OF_FILE) return { type: "bytes", ...file, bytes: Buffer.from(text.toWellFormed()) }
  return words(`[${said(uri)}]\n${text}`)
}

function fromBase64(base64: unknown, file: { readonly what: string; readonly name: string }): ResultBlock {
  const bytes = Buffer.from(typeof base64 === "string" ? base64 : "", "base64")
  return bytes.length === 0 ? words(`[${file.what} that is empty.]`) : { type: "bytes", ...file, bytes }
}

/** The last part of an address; what it is called in the end is for whoever keeps it to say. */
function nameIn(uri = ""): string {
  const path = uri.slice(0, 2000).replace(/[?#].*$/s, "")
  const last = path.split(/[/\\]/).at(-1) ?? ""
  try {
    return decodeURIComponent(last)
  } catch {
    return last
  }
}

const words = (text: string): ResultBlock => ({ type: "words", text })

const MAX_PROGRESS_TEXT = 500

/** What a server tells of how far a call is, as people are shown it: its words may hold anything, and its numbers too. */
export function toProgress(told: unknown, secrets: readonly string[]): ReportedProgress {
  const { progress, total, message } = (told ?? {}) as Record<string, unknown>
  return {
    ...(typeof message === "string"
      ? { text: plainWords(withoutSecrets(message, secrets).slice(0, MAX_PROGRESS_TEXT)) }
      : {}),
    ...(typeof progress === "number" ? { done: progress } : {}),
    ...(typeof total === "number" ? { total } : {}),
  }
}
