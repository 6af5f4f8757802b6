import { createReadStream } from "node:fs"
import { Readable } from "node:stream"
import { type Encoding, EncodingFinder } from "../../../core/program.ts"
import { CsvRefusal } from "./job.ts"

/** A text file and its encoding. */
export interface CsvText {
  readonly encoding: Encoding
  readonly warnings: readonly string[]
  /** The whole text, without a byte order mark, as UTF-8. */
  open(): Readable
}

const CHUNK = 256 * 1024

/** Detects the encoding of a file by reading all of it once, or uses the sender's setting. */
export async function readText(file: string, chosen?: Encoding): Promise<CsvText> {
  if (chosen) return { encoding: chosen, warnings: [], open: () => toReadable(decoded(file, chosen, true)) }
  const finder = new EncodingFinder()
  for await (const chunk of createReadStream(file, { highWaterMark: CHUNK })) finder.see(chunk as Buffer)
  const found = finder.end()
  if (found.type === "unknown") throw new CsvRefusal(found.problem)
  const { encoding, sure, broken } = found
  const warnings: string[] = []
  if (broken) warnings.push(`Some bytes are not ${encoding.toUpperCase()}; they are shown as \uFFFD.`)
  else if (!sure && encoding.startsWith("utf-16"))
    warnings.push(`The file was read as ${encoding.toUpperCase()}; check that its text is correct.`)
  else if (!sure) warnings.push(`The file is not UTF-8 and was read as ${encoding}; check that its text is correct.`)
  return { encoding, warnings, open: () => openText(file, encoding, !broken) }
}

async function* decoded(file: string, encoding: Encoding, strict: boolean): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: strict })
  const decode = (chunk?: Buffer) => {
    try {
      const text = decoder.decode(chunk, { stream: chunk !== undefined })
      if (!text.includes("\0")) return text
    } catch {
      // The error is thrown below.
    }
    // The detection uses only the start of the file, and the sender's setting may be wrong.
    throw new CsvRefusal(`it is not ${encoding} all through; save it as UTF-8, or say which encoding it is`)
  }
  for await (const chunk of createReadStream(file, { highWaterMark: CHUNK })) yield decode(chunk as Buffer)
  yield decode()
}

function openText(file: string, encoding: Encoding, strict: boolean): Readable {
  // Every byte was checked, so the file can be read directly.
  if (encoding === "utf-8") return createReadStream(file, { highWaterMark: CHUNK })
  return toReadable(decoded(file, encoding, strict))
}

const toReadable = (text: AsyncIterable<string>) => Readable.from(text, { objectMode: false, encoding: "utf-8" })
