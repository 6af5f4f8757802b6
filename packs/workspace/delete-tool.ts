import {
  codeOf,
  failure,
  type OpenWorkspace,
  type RowsByTable,
  type TableName,
  type Tool,
  workspaceTables,
} from "../../core/pack.ts"
import {
  capitalised,
  cut,
  describeProposedRow,
  describeRow,
  nounOf,
  quotedHeadline,
  toReadable,
} from "./describe-row.ts"
import type { Desk, DeskRow } from "./tables/desk.ts"
import { findWithRelated, nameColumn } from "./tables/find-row.ts"
import { loadNames } from "./load-names.ts"
import { rowArguments } from "./row-argument.ts"
import type { TableSpec } from "./tables/table.ts"
import { MAX_DELETED_CHARACTERS, type WritePlan, writeTool } from "./write-tool.ts"

const MAX_NAMED = 20

/** Deletes a row with its dependent rows if the row is still as it was shown. An undo restores them. */
export function deleteTool(table: TableSpec, open: OpenWorkspace): Tool {
  return writeTool(
    {
      table,
      named: table.delete,
      input: rowArguments(table),
      action: "delete",
      plan: (given, desk) => planDelete(table, String(given[table.argument]), desk),
      say: (row, desk, along) =>
        `${capitalised(nounOf(table))} deleted: ${describeRow(table, row, desk)}${relatedInWords(along)}.`,
      inverse: ({ before, with: along }) => ({ tool: table.restore, input: { [nounOf(table)]: before, with: along } }),
    },
    open,
  )
}

async function planDelete(table: TableSpec, idOrName: string, desk: Desk): Promise<WritePlan> {
  const found = await findWithRelated(desk, table.name, idOrName)
  const { row } = found
  await loadNames(table, [row], desk)
  const id = String(row.id)
  const hanging = found.hanging ?? (await desk.workspace.hanging(table.name, id).catch(orUnread))
  if (hanging !== UNREAD) requireDeletable(table, row, hanging)
  const along = hanging === UNREAD ? ` (${UNREAD})` : relatedInWords(hanging)
  const heading = hanging === UNREAD ? along : relatedCounts(hanging)
  return {
    write: { action: "delete", table: table.name, id, expect: row, ...(hanging === UNREAD ? {} : alongOf(hanging)) },
    preview: {
      summary: `Delete ${nounOf(table)} ${describeProposedRow(table, row, desk)}${along}`,
      title: `Delete ${nounOf(table)} ${quotedHeadline(table, row)}${heading}`,
      action: "destructive_delete",
      diff: { before: { ...toReadable(table, row, desk), ...namesByTable(hanging) }, after: null },
      target: id,
    },
    shown: hanging,
  }
}

const UNREAD = "there is no telling what goes with it"

/** A device that does not know every table can still delete; it then reports the deleted dependents itself. */
function orUnread(error: unknown): typeof UNREAD {
  if (codeOf(error) === undefined) return UNREAD
  throw error
}

/** Refused before the proposal, so that a person does not approve an impossible deletion. */
function requireDeletable(table: TableSpec, row: DeskRow, hanging: RowsByTable): void {
  const refuse = (problem: string) => failure("bad_request", { problem })
  const about = `The ${nounOf(table)} ${row.id}`
  for (const [name, rows] of entriesOf(hanging)) {
    const rules = Object.values(workspaceTables[name].references)
    const refuses = rules.some((rule) => rule.table === table.name && rule.whenGone === "refuses")
    if (refuses) throw refuse(`${about} still has ${count(name, rows)}: move or delete them first`)
  }
  if (JSON.stringify([row, hanging]).length <= MAX_DELETED_CHARACTERS) return
  throw refuse(`${about} has too many dependent rows for one undo (${countInWords(hanging)}): delete some first`)
}

const entriesOf = (rows: RowsByTable) =>
  (Object.entries(rows) as unknown as [TableName, readonly DeskRow[]][]).filter(([, theirs]) => theirs.length > 0)

const count = (name: TableName, rows: readonly DeskRow[]) => `${rows.length} ${workspaceTables[name].noun}(s)`

/** The ids of the related rows that were shown, which the deletion compares. */
const alongOf = (rows: RowsByTable) => ({
  along: Object.fromEntries(entriesOf(rows).map(([name, theirs]) => [name, theirs.map((row) => String(row.id))])),
})

/** ` with 3 task(s), 1 note(s)`; empty if the row has no dependents. */
export function relatedInWords(rows: RowsByTable): string {
  const counted = countInWords(rows)
  return counted ? ` with ${counted}` : ""
}

/** The same counts for a heading: ` with 3 tasks, 1 note`. */
export function relatedCounts(rows: RowsByTable): string {
  const counted = entriesOf(rows).map(([name, { length }]) => {
    return `${length} ${workspaceTables[name].noun}${length === 1 ? "" : "s"}`
  })
  return counted.length > 0 ? ` with ${counted.join(", ")}` : ""
}

const countInWords = (rows: RowsByTable): string =>
  entriesOf(rows)
    .map(([name, theirs]) => count(name, theirs))
    .join(", ")

/** The dependents that are deleted or restored, by table, as a person reads them. */
export function namesByTable(rows: RowsByTable | typeof UNREAD): { with?: Record<string, string[]> } {
  if (rows === UNREAD) return {}
  const lists = entriesOf(rows).map(([name, theirs]) => {
    const column = nameColumn(name) ?? "content"
    const shown = theirs.slice(0, MAX_NAMED).map((row) => cut(String(row[column]), 100))
    const more = theirs.length > shown.length ? [`and ${theirs.length - shown.length} more`] : []
    return [name, [...shown, ...more]]
  })
  return lists.length > 0 ? { with: Object.fromEntries(lists) as Record<string, string[]> } : {}
}
