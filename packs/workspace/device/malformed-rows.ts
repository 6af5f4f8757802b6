import { type DeviceFilters, type MalformedRow, readTable, type Row, type TableName } from "../../../core/pack.ts"
import { brief, checkColumns, checkRow, UNREADABLE } from "./rows.ts"

const MAX_NAMED = 10

export interface SortedOut {
  readonly rows: readonly Row[]
  readonly odd: readonly MalformedRow[]
}

/** Which of a device's rows can be read, and what is odd about the others. `columns`: of those only these matter. */
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

/** A device that does not know a filter answers with more than was asked for. */
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

/** Which row it is stands before it. */
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
