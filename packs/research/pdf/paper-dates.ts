import { isPaperDate } from "../../../core/pack.ts"

const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ")
/** Date formats, each with the group numbers of year, month and day. */
const FORMS: readonly (readonly [form: RegExp, year: number, month: number, day: number])[] = [
  [
    /\b(\d{1,2})(?:st|nd|rd|th)? (jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?,? ((?:19|20)\d\d)\b/i,
    3,
    2,
    1,
  ],
  [
    /\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.? (\d{1,2})(?:st|nd|rd|th)?,? ((?:19|20)\d\d)\b/i,
    3,
    1,
    2,
  ],
  [/\b((?:19|20)\d\d)[-/.](\d\d?)[-/.](\d\d?)\b/, 1, 2, 3],
  [/((?:19|20)\d\d)年 ?(\d\d?)月(?: ?(\d\d?)日)?/, 1, 2, 3],
  [/\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?,? ((?:19|20)\d\d)\b/i, 2, 1, 0],
]
/** Labels of the publication date, the most reliable first. */
const SAID = ["published", "publication date", "accepted", "arxiv:", "dated", "submitted", "received"]
/** Limits for the first page: lines, and characters of a line. */
const MAX_LINES = 400
const MAX_LINE = 300

interface Told {
  /** The lines of the first page. */
  readonly lines: readonly string[]
  /** The creation date of the file. */
  readonly file: string | undefined
}

/**
 * The date of a paper according to its first page, because the file may be created decades later. The file's own date
 * is used if no year on the page contradicts it.
 */
export function paperDate({ lines, file }: Told): string | undefined {
  const some = lines.slice(0, MAX_LINES).map((line) => line.slice(0, MAX_LINE).replaceAll(/\s+/g, " "))
  for (const word of SAID) {
    for (const line of some) {
      const at = line.toLowerCase().lastIndexOf(word)
      const date = at === -1 ? undefined : dateIn(line.slice(at))
      if (date) return date
    }
  }
  for (const line of some) {
    // In a sentence it is probably another date.
    const date = isBrief(line) ? dateIn(line) : undefined
    if (date) return date
  }
  for (const line of some) {
    const year = /(?:©|\(c\)|copyright) ?(?:\(c\) ?|© ?)?((?:19|20)\d\d)\b/i.exec(line)?.[1]
    if (year) return year
  }
  return file !== undefined && fits(file, some) ? file : undefined
}

/** True for a line of few words, as on a title page. */
const isBrief = (line: string) => line.length <= 100 && !/[a-z]\. [A-Z]|\(.{0,40}(?:19|20)\d\d[a-z]?\)/.test(line)

function dateIn(text: string): string | undefined {
  for (const [form, year, month, day] of FORMS) {
    const found = form.exec(text)
    if (!found) continue
    const number = monthOf(found[month] ?? "")
    const parts = [found[year]!, number, day === 0 ? undefined : found[day]].filter((part) => part !== undefined)
    const date = parts.map((part) => part.padStart(2, "0")).join("-")
    if (isPaperDate(date)) return date
  }
  return undefined
}

const monthOf = (text: string) => (/^\d/.test(text) ? text : String(MONTHS.indexOf(text.slice(0, 3).toLowerCase()) + 1))

/** True if a file's date fits the years on the page: a paper mentions no later year, and most mention recent ones. */
function fits(file: string, lines: readonly string[]): boolean {
  const years = lines.flatMap((line) => line.match(/\b(?:19|20)\d\d\b/g) ?? []).map(Number)
  return years.length === 0 || Math.max(...years) >= Number(file.slice(0, 4)) - 2
}
