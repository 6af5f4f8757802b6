import { type DeviceFilters, type MalformedRow, readTable, type Row, type TableName } from "../../../core/pack.ts"
import { brief, checkColumns, checkRow, UNREADABLE } from "./rows.ts"

const MAX_NAMED = 10

export interface SortedOut {
  readonly rows: readonly Row[]
  readonly odd: readonly MalformedRow[]
}

/** Separates a device's valid rows from malformed ones, with the problem of each. `columns`: only these are checked. */
export function sortOut(
  name: TableName,
  given: readonly unknown[],
  { filters, columns }: { filters: DeviceFilters; columns?: readonly string[] | undefined },
): SortedOut {
  const rows: Row[] = []
  const odd: MalformedRow[] = []
  for (const [i, row] of given.entries()) {
    try {
      const known = columns ? checkColumns(name, row, columns) : checkRow(name, row)
      requireAsked(name, known, filters)
      rows.push(known)
    } catch (error) {
      odd.push({ place: i + 1, ...called(row), problem: problemOf(error as Error) })
    }
  }
  return { rows, odd }
}

/** Throws if a row does not match the filters: a device that does not know a filter ignores it. */
function requireAsked(name: TableName, row: Row, filters: DeviceFilters): void {
  const asked = filters as Readonly<Record<string, unknown>>
  const strange = readTable(name).equals.find((key) => key in row && key in filters && row[key] !== asked[key])
  if (strange !== undefined)
    throw new Error(`${strange}: it is ${brief(row[strange])}, which does not match the request`)
}

function called(row: unknown): Pick<MalformedRow, "id" | "name"> {
  const { id, title, name } = Object(row) as Record<"id" | "title" | "name", unknown>
  const text = typeof title === "string" ? title : typeof name === "string" ? name : null
  return { id: typeof id === "string" || typeof id === "number" ? id : null, name: text }
}

/** The problem without its prefix, because the caller names the row. */
function problemOf({ message }: Error): string {
  const before = [UNREADABLE, "the device answered with "].find((words) => message.includes(words)) ?? ""
  return message.slice(message.indexOf(before) + before.length)
}

/** A sentence about malformed rows that a list leaves out. Empty if there are none. */
export function describeMalformedRows(odd: readonly MalformedRow[], noun: string): string {
  if (odd.length === 0) return ""
  const lines = odd.slice(0, MAX_NAMED).map((row) => `- ${whichOne(row)}: ${row.problem.slice(0, 300)}`)
  const more = odd.length > lines.length ? [`- and ${odd.length - lines.length} more`] : []
  const head = `${odd.length} ${noun}(s) on the device cannot be read and must be corrected there:`
  return `\n${[head, ...lines, ...more].join("\n")}`
}

export function whichOne({ place, id, name }: MalformedRow): string {
  const words = [id === null ? "no id" : `id: ${brief(id)}`, ...(name === null ? [] : [brief(name)])]
  return `row ${place} (${words.join(", ")})`
}
