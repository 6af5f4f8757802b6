import type { FileContents } from "../engine/ports.ts"
import type { FileText, MessageFiles } from "../engine/stored-files.ts"
import { codeOf, failure, hasCode } from "../protocol/errors.ts"
import type { FileId, UserId } from "../protocol/ids.ts"
import { toResultFile } from "../server/files/result-file.ts"
import type { Log } from "../shared/log.ts"
import type { ResultFileKeeper } from "../tools/mcp/result.ts"

/** Most stored characters of a document: more than any model is shown. */
const MAX_TEXT = 200_000
/** The most bytes of a character in UTF-8. */
const MAX_CHARACTER_BYTES = 4

/** How long a temporary failure is reported before another attempt, which may take a minute. */
const RETRY_MS = 10 * 60_000
const MAX_FAILURES = 1000

/** Parses documents in child processes. */
interface PdfReader {
  readPdf(
    bytes: Uint8Array,
    reading: { readonly person: string; readonly signal: AbortSignal },
  ): Promise<{ readonly text: string; readonly pages?: number }>
}

/**
 * The content of files in messages. A document is parsed once and its text is stored, so that later requests see the same.
 */
export function fileContents(files: MessageFiles, reader: PdfReader, now: () => number = Date.now): FileContents {
  /** Temporary failures: reported, but not stored. */
  const failures = new Map<string, { readonly read: FileText; readonly until: number }>()
  const bytesOf = async (user: UserId, id: FileId, most?: number): Promise<Uint8Array | undefined> => {
    const file = await files.find(user, id)
    if (!file) return undefined
    const parts: Uint8Array[] = []
    for await (const part of files.read(user, id, most)) parts.push(part)
    const bytes = Buffer.concat(parts)
    return bytes.length === Math.min(file.size, most ?? file.size) ? bytes : undefined // removed during the read
  }
  const readPdf = async (user: UserId, id: FileId, signal: AbortSignal): Promise<FileText | undefined> => {
    const known = await files.readText(user, id)
    if (known) return known
    const key = `${user} ${id}`
    const failed = failures.get(key)
    if (failed && failed.until > now()) return failed.read
    const bytes = await bytesOf(user, id)
    if (!bytes) return undefined
    const { read, canRetry } = await readOnce(reader, bytes, { person: user, signal })
    failures.delete(key)
    if (canRetry) {
      if (failures.size >= MAX_FAILURES) failures.clear()
      failures.set(key, { read, until: now() + RETRY_MS })
      return read
    }
    await files.keepText(user, id, read)
    return files.readText(user, id) // another node may have stored it first
  }
  return {
    bytes: (user, id) => bytesOf(user, id),
    async text({ user, id, type }, { most, signal }) {
      if (type === "application/pdf") return readPdf(user, id, signal)
      const bytes = await bytesOf(user, id, most * MAX_CHARACTER_BYTES)
      // The end may be inside a character, which is dropped.
      return bytes && { text: new TextDecoder().decode(bytes, { stream: true }) }
    },
  }
}

/** A fault of the document is permanent; `canRetry` marks a temporary failure of the reader. */
async function readOnce(
  reader: PdfReader,
  bytes: Uint8Array,
  reading: { readonly person: string; readonly signal: AbortSignal },
): Promise<{ readonly read: FileText; readonly canRetry?: boolean | undefined }> {
  try {
    const { text, pages } = await reader.readPdf(bytes, reading)
    return { read: { text: text.slice(0, MAX_TEXT).toWellFormed(), ...(pages === undefined ? {} : { pages }) } }
  } catch (error) {
    if (hasCode(error, "document_unreadable")) {
      const { problem, pages, canRetry } = (error as { details: UnreadableDetails }).details
      return { read: { text: "", problem, ...(pages === undefined ? {} : { pages }) }, canRetry }
    }
    if (codeOf(error) !== "document_too_large") throw error
    return { read: { text: "", problem: "it contains more text than the limit" } }
  }
}

interface UnreadableDetails {
  readonly problem: string
  readonly pages?: number
  readonly canRetry?: boolean
}

/**
 * Parses documents of a program without the research pack. Loaded with the first document, which most programs never send.
 */
export function openPdfReader(log: Log): PdfReader & AsyncDisposable {
  const load = async () => {
    const { DocumentReader } = await import("../../packs/research/document-reader.ts")
    return new DocumentReader({ log })
  }
  let loading: ReturnType<typeof load> | undefined
  return {
    async readPdf(bytes, reading) {
      const reader = await (loading ??= load())
      const { text, about } = await reader.file("pdf", bytes, reading)
      return { text, ...(about.pages === undefined ? {} : { pages: about.pages }) }
    },
    async [Symbol.asyncDispose]() {
      await (await loading)?.close()
    },
  }
}

/** Files of tools may use only this share of a person's limit, so that uploads always have room. */
const TOOL_SHARE = 0.5

/**
 * Stores files that tools return. Writes the bytes, then the reference from this call, then the event, so a crash never
 * leaves a reference without a file. Unreferenced files are deleted after a day.
 */
export function resultFiles(
  { messageFiles, bytesOfFiles }: { readonly messageFiles: MessageFiles; readonly bytesOfFiles: number },
  log: Log,
): ResultFileKeeper {
  return {
    async keep({ user, conversation, callId }, { name, bytes }) {
      try {
        const file = await toResultFile(bytes, name)
        const { id } = await messageFiles.keep(user, file, bytesOfFiles * TOOL_SHARE)
        if (!(await messageFiles.use(user, { conversation, message: callId }, [id]))) throw failure("not_found")
        const { type, width, height } = file
        const pixels = width === undefined || height === undefined ? {} : { width, height }
        return { id, name: file.name, type, size: bytes.length, ...pixels }
      } catch (error) {
        log.warn("result_file_not_stored", { conversation, call: callId, error })
        throw error
      }
    },
  }
}
