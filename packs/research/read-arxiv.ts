import { z } from "zod"
import { JsonLimitError, jsonLimits, mendText, readJson } from "../../core/pack.ts"
import { splitNames } from "./passages/split-names.ts"

/** A line of arXiv's metadata, in the formats of the snapshot and the API. Other fields are ignored. */
const Line = z.object({
  id: z.union([z.string().min(1).max(200), z.number()]),
  title: z.string().min(1),
  abstract: z.string().optional(),
  summary: z.string().optional(),
  text: z.string().optional(),
  authors: z.union([z.string(), z.array(z.string())]).optional(),
  authors_parsed: z.array(z.array(z.string())).optional(),
  update_date: z.string().optional(),
  published: z.string().optional(),
  date: z.string().optional(),
  versions: z.array(z.object({ created: z.string() })).optional(),
})

export interface Paper {
  readonly source: string
  readonly title: string
  readonly authors: readonly string[]
  readonly date: string | null
  readonly text: string
}

/** Limits for one line: a paper may have a long abstract, and thousands of authors. */
const LINE_LIMITS = { ...jsonLimits.message, characters: jsonLimits.file.characters }

/** Parses a line as a paper, or returns the problem of the line. */
export function readArxivLine(line: string): Paper | { readonly problem: string } {
  let value: unknown
  try {
    value = readJson(line, LINE_LIMITS)
  } catch (error) {
    return { problem: error instanceof JsonLimitError ? error.message : "it is not JSON" }
  }
  const { success, data, error } = Line.safeParse(value)
  if (!success) return { problem: `${error.issues[0]?.path.join(".")}: ${error.issues[0]?.message}` }
  const title = inOneLine(data.title).slice(0, 500).toWellFormed()
  const body = mendText((data.abstract ?? data.summary ?? data.text ?? "").trim())
  if (body === "") return { problem: "it has no abstract" }
  return {
    source: sourceOf(data),
    title,
    authors: authorsOf(data)
      .slice(0, 200)
      .map((name) => mendText(name).slice(0, 200).toWellFormed()),
    date: dateOf(data),
    text: `${title}\n\n${body}`,
  }
}

/** Sources named as arXiv's are public, so only a text with an abstract gets such a name, whatever its id. */
function sourceOf({ id, abstract, summary }: z.infer<typeof Line>): string {
  const number = String(id).replace(/^arxiv:/i, "")
  if (!isArxivNumber(number)) return mendText(String(id))
  return (abstract ?? summary) === undefined ? number : `${ARXIV}${number}`
}

export const ARXIV = "arXiv:"

/** Ids contain the month: 2401.00001, and hep-th/9901001 until 2007. Other numbers of that length are not arXiv's. */
export const isArxivNumber = (number: string) =>
  /^(?:\d\d(?:0[1-9]|1[0-2])\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?\/\d\d(?:0[1-9]|1[0-2])\d{3})(?:v\d+)?$/.test(number)

function authorsOf({ authors, authors_parsed }: z.infer<typeof Line>): string[] {
  if (authors_parsed) return authors_parsed.map(([last = "", first = ""]) => `${first} ${last}`.trim())
  if (Array.isArray(authors)) return authors
  return splitNames(authors ?? "", /,| and /)
}

/** The date of its first version, if known. */
function dateOf({ versions, published, date, update_date }: z.infer<typeof Line>): string | null {
  const dateText = versions?.[0]?.created ?? published ?? date ?? update_date
  const time = dateText === undefined ? Number.NaN : Date.parse(dateText)
  if (Number.isNaN(time)) return null
  const day = new Date(time).toISOString().slice(0, 10)
  return /^\d{4}-/.test(day) ? day : null
}

const inOneLine = (text: string) => mendText(text).replaceAll(/\s+/g, " ").trim()
