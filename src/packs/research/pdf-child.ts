/**
 * A process that reads one PDF, from its input, and ends. What a file does to it, it does to nobody else: it has no
 * settings, may write nowhere, and is ended by whoever started it when it takes too long.
 */
import { buffer } from "node:stream/consumers"
import { extractText, getDocumentProxy, getMeta } from "unpdf"
import type { PdfText } from "./pdf-reader.ts"
import { own } from "../../protocol/own.ts"

const PROBLEMS: Readonly<Record<string, string>> = {
  PasswordException: "it is encrypted",
  InvalidPDFException: "it is no PDF, or a broken one",
}

process.send?.("ready")
process.stdout.end(JSON.stringify(await read(new Uint8Array(await buffer(process.stdin)))))

async function read(bytes: Uint8Array): Promise<PdfText> {
  try {
    const pdf = await getDocumentProxy(bytes)
    const { text } = await extractText(pdf, { mergePages: false })
    const { info } = (await getMeta(pdf).catch(() => ({ info: {} }))) as { info: Record<string, unknown> }
    const said = (name: string) => (typeof info[name] === "string" ? { [name.toLowerCase()]: info[name] } : {})
    return { pages: text, ...said("Title"), ...said("Author"), ...said("CreationDate") }
  } catch (error) {
    const { name, message } = error as Error
    return { problem: own(PROBLEMS, name) ?? `it could not be read as a PDF (${String(message).slice(0, 200)})` }
  }
}
