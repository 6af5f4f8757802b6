import { createReadStream } from "node:fs"
import { Readable } from "node:stream"
import { CsvRefusal } from "./csv-job.ts"

type Encoding = "utf-8" | "utf-16le" | "utf-16be" | "windows-1252"

/** A file of text, and how its bytes are to be read. */
export interface CsvText {
  readonly encoding: Encoding
  readonly warnings: readonly string[]
  /** The whole text, without a byte order mark, as UTF-8. */
  open(): Readable
}

const CHUNK = 256 * 1024

/**
 * Finds out how a file is encoded by reading all of it once: what a mark at its beginning says, else UTF-8 where every byte
 * fits, else windows-1252, in which every byte means something, so that it can only be a guess.
 */
export async function readText(file: string): Promise<CsvText> {
  const marked = await markOf(file)
  const isText = await decodes(file, marked ?? "utf-8")
  const encoding = marked ?? (isText ? "utf-8" : "windows-1252")
  const warnings: string[] = []
  if (!isText && marked) warnings.push(`Some bytes are not ${marked.toUpperCase()}; they are shown as \uFFFD.`)
  if (!isText && !marked)
    warnings.push("The file is not UTF-8 and was read as windows-1252; look whether its letters are right.")
  return { encoding, warnings, open: () => openText(file, encoding) }
}

async function markOf(file: string): Promise<Encoding | undefined> {
  for await (const chunk of createReadStream(file, { end: 2 })) {
    const bytes = chunk as Buffer
    if (bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8"
    if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le"
    if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be"
  }
  return undefined
}

/** Whether every byte fits. Throws where there is a NUL, which no text has: it could be stored nowhere. */
async function decodes(file: string, encoding: Encoding): Promise<boolean> {
  const strict = new TextDecoder(encoding, { fatal: true })
  const hasNul = (chunk: Buffer, text: string) => (encoding === "utf-8" ? chunk.includes(0) : text.includes("\0"))
  let fits = true
  for await (const piece of createReadStream(file, { highWaterMark: CHUNK })) {
    const chunk = piece as Buffer
    let text = ""
    try {
      if (fits) text = strict.decode(chunk, { stream: true })
    } catch {
      fits = false
    }
    if (hasNul(chunk, text))
      throw new CsvRefusal("it holds NUL bytes, so it is no text, or one in an unusual encoding; save it as UTF-8")
  }
  try {
    strict.decode()
  } catch {
    fits = false
  }
  return fits
}

async function* decoded(file: string, encoding: Encoding): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding)
  for await (const chunk of createReadStream(file, { highWaterMark: CHUNK })) {
    yield decoder.decode(chunk as Buffer, { stream: true })
  }
  yield decoder.decode()
}

function openText(file: string, encoding: Encoding): Readable {
  // Such bytes need no detour; those that do not fit were seen, so that it is windows-1252 by now.
  if (encoding === "utf-8") return createReadStream(file, { highWaterMark: CHUNK })
  return Readable.from(decoded(file, encoding), { objectMode: false, encoding: "utf-8" })
}
