import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { getDocumentProxy } from "unpdf"
import { codeOf, failure, isPaperDate, mendText, own } from "../../../core/pack.ts"
import type { Section } from "../passages/cut-passages.ts"
import { isPlausibleTitle } from "../passages/plausible-about.ts"
import type { ReadText } from "../passages/read-plain.ts"
import { countUnknown, toPlainLetters } from "../passages/plain-letters.ts"
import { splitNames } from "../passages/split-names.ts"
import { inReadingOrder } from "./column-order.ts"
import { joinLines, Vocabulary } from "./join-lines.ts"
import { type PageLine, linesOf } from "./page-lines.ts"
import { runsOf, type TextItem } from "./page-runs.ts"
import { inLogicalOrder } from "./logical-text.ts"
import { paperDate } from "./paper-dates.ts"
import { paperTitle } from "./paper-title.ts"

const PROBLEMS: Readonly<Record<string, string>> = {
  PasswordException: "it is encrypted",
  InvalidPDFException: "it is no PDF, or a broken one",
}

/** The text and metadata of a PDF. Throws `document_unreadable`. */
export async function readPdf(bytes: Uint8Array): Promise<ReadText> {
  try {
    const pdf = await getDocumentProxy(bytes, { ...tables(), verbosity: 0 })
    const pages: PageLine[][] = []
    for (let number = 1; number <= pdf.numPages; number++) {
      const page = await pdf.getPage(number)
      // Without normalization, because the forms of the letters show their order.
      const { items } = await page.getTextContent({ disableNormalization: true })
      pages.push(linesOf(inReadingOrder(runsOf(inLogicalOrder(items as Iterable<TextItem>)))))
      page.cleanup()
    }
    const { info } = (await pdf.getMetadata().catch(() => ({ info: {} }))) as { info: Record<string, unknown> }
    return { ...toSections(pages), ...aboutOf(info, pages[0] ?? []), pages: pages.length }
  } catch (error) {
    if (codeOf(error) === "document_unreadable") throw error
    const { name, message } = error as Error
    const problem = own(PROBLEMS, name) ?? `it could not be read as a PDF (${String(message).slice(0, 200)})`
    throw failure("document_unreadable", { problem })
  }
}

/** The folders with character maps of East Asian fonts and with the standard fonts, from a package. */
function tables() {
  let folder: string
  try {
    folder = dirname(fileURLToPath(import.meta.resolve("pdfjs-dist/package.json")))
  } catch {
    return {} // all other PDFs can be read without it
  }
  const inside = (name: string) => `${join(folder, name)}/`
  return { cMapUrl: inside("cmaps"), cMapPacked: true, standardFontDataUrl: inside("standard_fonts") }
}

/** Each page is a section, so that quotes can name their page. */
function toSections(pages: readonly (readonly PageLine[])[]): Pick<ReadText, "text" | "sections" | "remark"> {
  const known = new Vocabulary()
  for (const lines of pages) known.add(lines)
  const sections: Section[] = []
  const parts: string[] = []
  const empty: number[] = []
  const unknown: { readonly page: number; readonly letters: number }[] = []
  let end = 0
  for (const [index, lines] of pages.entries()) {
    const page = `${toPlainLetters(mendText(joinLines(lines, known))).trim()}\n\n`
    const letters = countUnknown(page)
    if (letters > 0) unknown.push({ page: index + 1, letters })
    const start = end
    parts.push(page)
    end += page.length
    if (page.length > 2) sections.push({ headings: [`page ${index + 1}`], start, end })
    else empty.push(index + 1)
  }
  if (sections.length === 0) {
    const all = pages.length === 1 ? "its page; it" : `its ${pages.length} pages; they`
    throw failure("document_unreadable", { problem: `there is no text on ${all} may be scanned`, pages: pages.length })
  }
  const remark = [
    ...(empty.length > 0 ? [emptyRemark(empty, pages.length)] : []),
    ...(unknown.length > 0 ? [unknownRemark(unknown)] : []),
  ].join("; ")
  return { text: parts.join(""), sections, ...(remark ? { remark } : {}) }
}

function unknownRemark(pages: readonly { readonly page: number; readonly letters: number }[]): string {
  const letters = pages.reduce((sum, page) => sum + page.letters, 0)
  const where = ranges(pages.map(({ page }) => page))
  return `${letters} of the letters on page${pages.length === 1 ? "" : "s"} ${where} cannot be read: their font does not say which they are`
}

function emptyRemark(empty: readonly number[], all: number): string {
  if (empty.length === 1) return `there is no text on page ${empty[0]} of ${all}; it may be scanned`
  return `there is no text on pages ${ranges(empty)} of ${all}; they may be scanned`
}

const MAX_RANGES = 20

function ranges(numbers: readonly number[]): string {
  const found: [first: number, last: number][] = []
  for (const number of numbers) {
    const last = found.at(-1)
    if (last && last[1] === number - 1) last[1] = number
    else found.push([number, number])
  }
  const words = found.map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`))
  if (words.length > MAX_RANGES) return `${words.slice(0, MAX_RANGES).join(", ")} and others (${numbers.length} in all)`
  return words.length === 1 ? words[0]! : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`
}

function aboutOf(
  info: Readonly<Record<string, unknown>>,
  first: readonly PageLine[],
): Omit<ReadText, "text" | "sections"> {
  const infoText = (name: string) => (typeof info[name] === "string" ? info[name].trim() : "")
  const title = isPlausibleTitle(infoText("Title")) ? infoText("Title") : paperTitle(first)
  const author = infoText("Author")
  const [, year, month, day] = /^D:(\d{4})(\d\d)?(\d\d)?/.exec(infoText("CreationDate")) ?? []
  const made = [year, month, day].filter((part) => part !== undefined).join("-")
  const date = paperDate({ lines: first.map(({ text }) => text), file: isPaperDate(made) ? made : undefined })
  return {
    ...(title ? { title: mendText(title).slice(0, 500).toWellFormed() } : {}),
    ...(author ? { authors: splitNames(mendText(author), /[;,]/).slice(0, 200) } : {}),
    ...(date ? { date } : {}),
  }
}
