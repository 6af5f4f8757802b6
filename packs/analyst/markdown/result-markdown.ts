import type { QueryAnswer } from "../../../core/pack.ts"

interface Bounds {
  readonly rows: number
  readonly characters: number
}

/** The most characters of one value that the model sees. */
const CELL = 200

/** The first rows of a result as a Markdown table for a model or a person; the columns also without rows. */
export function resultMarkdown({ columns, rows }: QueryAnswer, most: Bounds): { text: string; shown: number } {
  if (columns.length === 0) return { text: "(no columns)", shown: 0 }
  const lines = [line(columns.map(({ name }) => name)), line(columns.map(() => "---"))]
  let left = most.characters - lines.join("\n").length
  let shown = 0
  for (const row of rows.slice(0, most.rows)) {
    const next = line(row.map(toText))
    left -= next.length + 1
    if (left < 0) break
    lines.push(next)
    shown++
  }
  return { text: lines.join("\n").slice(0, most.characters).toWellFormed(), shown }
}

/** The first rows of a result that fit into a journal, by number and by length. */
export function firstRows(rows: QueryAnswer["rows"], most: Bounds): QueryAnswer["rows"] {
  let left = most.characters
  const beyond = rows.findIndex((row, at) => {
    left -= JSON.stringify(row).length
    return at >= most.rows || left < 0
  })
  return beyond === -1 ? rows : rows.slice(0, beyond)
}

/** Warnings about the columns of a result, which the model needs to interpret sums. */
export function oddities(warnings: readonly string[] = []): string {
  if (warnings.length === 0) return ""
  const lines = warnings.map((each) => `- ${flat(each).slice(0, 400).toWellFormed()}`)
  return `\n\n${WARNINGS_HEAD}\n${lines.join("\n")}`
}
export const WARNINGS_HEAD = "Tell the person what is odd in these columns:"

function toText(value: unknown): string {
  if (value === null || value === undefined) return "NULL"
  const text = typeof value === "string" ? value : JSON.stringify(value)
  return text.length > CELL ? `${text.slice(0, CELL).toWellFormed()}…` : text
}

const line = (cells: readonly string[]) => `| ${cells.map(flat).join(" | ")} |`

/** Puts a value on one line and escapes `|`, so that it cannot end its cell. */
const flat = (text: string) => text.replaceAll(/\s+/g, " ").replaceAll("|", "\\|")
