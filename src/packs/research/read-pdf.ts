import { extractText, getDocumentProxy, getMeta } from "unpdf"
import { failure } from "../../protocol/errors.ts"
import { own } from "../../protocol/own.ts"
import { isPaperDate } from "../../protocol/paper-date.ts"
import { mendText } from "../../protocol/text.ts"
import type { Section } from "./cut-passages.ts"
import type { ReadText } from "./read-plain.ts"
import { splitNames } from "./split-names.ts"

const PROBLEMS: Readonly<Record<string, string>> = {
  PasswordException: "it is encrypted",
  InvalidPDFException: "it is no PDF, or a broken one",
}

/** The text of a PDF and what it says of itself. Throws `document_unreadable`. */
export async function readPdf(bytes: Uint8Array): Promise<ReadText> {
  try {
    const pdf = await getDocumentProxy(bytes)
    const { text } = await extractText(pdf, { mergePages: false })
    const { info } = (await getMeta(pdf).catch(() => ({ info: {} }))) as { info: Record<string, unknown> }
    return { ...toSections(text), ...aboutOf(info) }
  } catch (error) {
    const { name, message } = error as Error
    const problem = own(PROBLEMS, name) ?? `it could not be read as a PDF (${String(message).slice(0, 200)})`
    throw failure("document_unreadable", { problem })
  }
}

/** A page is a section: whoever quotes a passage can say on which page it stands. */
function toSections(pages: readonly string[]): Pick<ReadText, "text" | "sections"> {
  const sections: Section[] = []
  let text = ""
  for (const [index, page] of pages.entries()) {
    const start = text.length
    text += `${mendText(page).trim()}\n\n`
    if (text.length > start + 2) sections.push({ headings: [`page ${index + 1}`], start, end: text.length })
  }
  return { text, sections }
}

function aboutOf(info: Readonly<Record<string, unknown>>): Omit<ReadText, "text" | "sections"> {
  const said = (name: string) => (typeof info[name] === "string" ? info[name].trim() : "")
  const [title, author] = [said("Title"), said("Author")]
  const [, year, month, day] = /^D:(\d{4})(\d\d)?(\d\d)?/.exec(said("CreationDate")) ?? []
  const date = [year, month, day].filter((part) => part !== undefined).join("-")
  return {
    ...(title ? { title: mendText(title).slice(0, 500).toWellFormed() } : {}),
    ...(author ? { authors: splitNames(mendText(author), /[;,]/).slice(0, 200) } : {}),
    ...(isPaperDate(date) ? { date } : {}),
  }
}
