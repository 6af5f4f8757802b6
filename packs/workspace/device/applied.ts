import {
  type Applied,
  type CallOutcome,
  failure,
  readTable,
  type Row,
  type Rows,
  type TableName,
  tableNames,
  type WorkspaceWrite,
} from "../../../core/pack.ts"
import { sortOut, whichOne } from "./malformed-rows.ts"
import { malformedAnswer } from "./pages.ts"
import { brief, checkRow, checkRows } from "./rows.ts"

/** Checks a device's report of a write. If it cannot be read, the write may have been applied or not. */
export function checkApplied(
  { action, table }: Pick<WorkspaceWrite, "action" | "table">,
  outcome: CallOutcome,
  asked: { readonly id?: string; readonly ids?: readonly string[]; readonly before?: Row } = {},
): Applied | "nothing" {
  const applied = (rows: { before?: Row | null; after?: Row | null; with?: Rows; remark?: string }) =>
    ({ action, table, before: null, after: null, with: {}, ...rows }) as unknown as Applied
  try {
    switch (action) {
      case "insert":
        return applied({ after: checkRow(table, outcome.row) })
      case "update": {
        const after = checkRow(table, outcome.row, asked.id)
        const before = outcome.before ? checkRow(table, outcome.before, String(after.id)) : asked.before
        return applied({ before: before ?? null, after })
      }
      case "delete": {
        if (outcome.deleted === false) return "nothing"
        if (outcome.deleted !== true) throw malformedAnswer("neither that it was deleted nor that it was not")
        return applied({ before: readGone(table, outcome.row, asked), ...readAlong(outcome.with) })
      }
      case "restore": {
        const [first, ...rest] = checkRows(table, outcome.rows)
        const ids = [first, ...rest].map((row) => row?.id)
        if (!first || (asked.ids && asked.ids.join() !== ids.join()))
          throw malformedAnswer("other rows than were put back")
        return applied({ after: first, with: rest.length > 0 ? { [table]: rest } : {} })
      }
    }
  } catch (error) {
    throw failure("outcome_unknown", {
      problem: `The device did not report what it has done: ${(error as Error).message}.`,
    })
  }
}

/** Returns the deleted row. If it was read before, the device only needs to confirm its id. */
function readGone(
  table: TableName,
  given: unknown,
  { id, before }: { readonly id?: string; readonly before?: Row },
): Row {
  if (!given && before) return before
  try {
    return checkRow(table, given, id)
  } catch (error) {
    if (!before || (Object(given) as { id?: unknown }).id !== before.id) throw error
    return before
  }
}

/** The most rows that are named because they cannot be restored. */
const MAX_NAMED = 10

/**
 * Reads the deleted related rows. A malformed row does not make the deletion doubtful: it is only lost to an undo,
 * which is reported.
 */
function readAlong(given: CallOutcome["with"] = {}): { readonly with: Rows; readonly remark?: string } {
  const read: [string, readonly Row[]][] = []
  const lost: string[] = []
  for (const [called, rows] of Object.entries(given)) {
    const name = tableNames.find((known) => known === called)
    if (!name || !Array.isArray(rows)) {
      lost.push(`what it calls ${brief(called)}`)
      continue
    }
    const sorted = sortOut(name, rows, { filters: {} })
    if (sorted.rows.length > 0) read.push([name, sorted.rows])
    lost.push(...sorted.odd.map((row) => `${readTable(name).noun} ${whichOne(row)}`))
  }
  if (lost.length === 0) return { with: Object.fromEntries(read) as Rows }
  const named = [...lost.slice(0, MAX_NAMED), ...(lost.length > MAX_NAMED ? [`${lost.length - MAX_NAMED} more`] : [])]
  const remark = `An undo does not restore these dependent rows, which cannot be read: ${named.join("; ")}.`
  return { with: Object.fromEntries(read) as Rows, remark }
}
