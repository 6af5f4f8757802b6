import type { FileContents } from "../engine/ports.ts"
import type { FileText, MessageFiles } from "../engine/stored-files.ts"
import { codeOf, failure, hasCode } from "../protocol/errors.ts"
import type { FileId, UserId } from "../protocol/ids.ts"
import { toResultFile } from "../server/files/result-file.ts"
import type { Log } from "../shared/log.ts"
import type { ResultFileKeeper } from "../tools/mcp/result.ts"

/** Characters of a document that are kept, which is more than any model is shown of one. */
const MAX_KEPT = 200_000
/** In UTF-8 a character takes four bytes at most. */
const MAX_CHARACTER_BYTES = 4

/** How long what may pass is told again before it is tried again: each try may take a minute. */
const PASSING_MS = 10 * 60_000
const MAX_PASSING = 1000

/** What reads documents, in processes of their own. */
export interface PdfReader {
  readPdf(
    bytes: Uint8Array,
    reading: { readonly person: string; readonly signal: AbortSignal },
  ): Promise<{ readonly text: string; readonly pages?: number }>
}

/**
 * What is in the files of messages. A document is read once, by the readers of the library, and what they found is kept with
 * it: each later request is shown the same.
 */
export function fileContents(files: MessageFiles, reader: PdfReader, now: () => number = Date.now): FileContents {
  /** Of documents whose reader died or took too long: told, and not kept with them. */
  const passing = new Map<string, { readonly read: FileText; readonly until: number }>()
  const bytesOf = async (user: UserId, id: FileId, most?: number): Promise<Uint8Array | undefined> => {
    const file = await files.find(user, id)
    if (!file) return undefined
    const parts: Uint8Array[] = []
    for await (const part of files.read(user, id, most)) parts.push(part)
    const bytes = Buffer.concat(parts)
    return bytes.length === Math.min(file.size, most ?? file.size) ? bytes : undefined // removed while it was read
  }
  const readPdf = async (user: UserId, id: FileId, signal: AbortSignal): Promise<FileText | undefined> => {
    const known = await files.readText(user, id)
    if (known) return known
    const key = `${user} ${id}`
    const failed = passing.get(key)
    if (failed && failed.until > now()) return failed.read
    const bytes = await bytesOf(user, id)
    if (!bytes) return undefined
    const { read, canRetry } = await readOnce(reader, bytes, { person: user, signal })
    passing.delete(key)
    if (canRetry) {
      if (passing.size >= MAX_PASSING) passing.clear()
      passing.set(key, { read, until: now() + PASSING_MS })
      return read
    }
    await files.keepText(user, id, read)
    return files.readText(user, id) // another node may have been faster: what is kept counts
  }
  return {
    bytes: (user, id) => bytesOf(user, id),
    async text({ user, id, type }, { most, signal }) {
      if (type === "application/pdf") return readPdf(user, id, signal)
      const bytes = await bytesOf(user, id, most * MAX_CHARACTER_BYTES)
      // Its end may be in the middle of a character, whose beginning is left out.
      return bytes && { text: new TextDecoder().decode(bytes, { stream: true }) }
    },
  }
}

/** What is wrong with a document is its own and stays so; a reader that has no time just now is another matter. */
async function readOnce(
  reader: PdfReader,
  bytes: Uint8Array,
  reading: { readonly person: string; readonly signal: AbortSignal },
): Promise<{ readonly read: FileText; readonly canRetry?: boolean | undefined }> {
  try {
    const { text, pages } = await reader.readPdf(bytes, reading)
    return { read: { text: text.slice(0, MAX_KEPT).toWellFormed(), ...(pages === undefined ? {} : { pages }) } }
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

/** Reads documents where no library is open. What does it is loaded with the first one: most programs never send any. */
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

/** Of what a person's files may take: what tools bring never takes the room of what the person sends. */
const SHARE = 0.5

/**
 * Keeps what tools bring beside what people send. The bytes first, then that this call names them, and only then does the
 * journal: wherever the process dies there is no name without a file, and a file without a name is swept up after a day.
 */
export function resultFiles(
  { messageFiles, bytesOfFiles }: { readonly messageFiles: MessageFiles; readonly bytesOfFiles: number },
  log: Log,
): ResultFileKeeper {
  return {
    async keep({ user, conversation, callId }, { name, bytes }) {
      try {
        const file = await toResultFile(bytes, name)
        const { id } = await messageFiles.keep(user, file, bytesOfFiles * SHARE)
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
