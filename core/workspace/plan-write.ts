import { failure } from "../protocol/errors.ts"
import { newId } from "../protocol/ids.ts"
import { own } from "../shared/text/json.ts"
import type { Applied, IdsByTable, WorkspaceWrite } from "../protocol/workspace.ts"
import type { TableName } from "../protocol/workspace-tables.ts"
import { findByIds, findRelatedRows, findRow } from "./find-rows.ts"
import { type KnownTable, readTable, type Row, type Rows } from "./known-tables.ts"
import { deleteRows, insertRow, type Layout, type WorkspaceStatement, updateRow } from "./layout.ts"
import { readExpected, readNewRow, readRestoredRows, readUpdates } from "./read-input.ts"
import { requireReferences } from "./require-references.ts"
import type { Steps } from "./steps.ts"

/** The result of a write and its statements. Valid as long as the rows that were read do not change. */
export interface StatementPlan {
  readonly applied: Applied
  readonly statements: readonly WorkspaceStatement[]
}

export interface Planning {
  readonly layout: Layout
  readonly now: number
}

export function planWrite(planning: Planning, write: WorkspaceWrite): Steps<StatementPlan> {
  switch (write.action) {
    case "insert":
      return planInsert(planning, write)
    case "update":
      return planUpdate(planning, write)
    case "delete":
      return planDelete(planning, write)
    case "restore":
      return planRestore(planning, write)
  }
}

type Of<Action extends WorkspaceWrite["action"]> = Extract<WorkspaceWrite, { action: Action }>

function* planInsert({ layout, now }: Planning, write: Of<"insert">): Steps<StatementPlan> {
  const table = readTable(write.table)
  const said = readNewRow(table, write.data)
  const made: Row = { id: newId(table.prefix, layout.owner?.value ?? null, now), createdAt: now, updatedAt: now }
  const row = Object.fromEntries(
    table.columns.map((column) => [column, (table.made.includes(column) ? made : said)[column] ?? null]),
  )
  yield* requireReferences(layout, { [table.name]: [row] })
  return planOf(write, { after: row }, [insertRow(layout, table.name, row)])
}

function* planUpdate({ layout, now }: Planning, write: Of<"update">): Steps<StatementPlan> {
  const table = readTable(write.table)
  const { id, updates, expect } = readUpdates(table, { id: write.id, updates: write.updates, expect: write.expect })
  const before = yield* findRow(layout, table.name, id)
  if (!before) throw failure("row_missing", { noun: table.noun, id })
  requireFresh(table, before, expect)
  if (Object.keys(updates).length === 0) return planOf(write, { before, after: before }, [])
  const after = { ...before, ...updates, ...(table.made.includes("updatedAt") ? { updatedAt: now } : {}) }
  const named = Object.keys(updates).some((column) => column in table.references)
  // Only if a reference changes: an old row may refer to a row that was deleted before references were checked.
  if (named) yield* requireReferences(layout, { [table.name]: [after] })
  return planOf(write, { before, after }, [updateRow(layout, table.name, after)])
}

function* planDelete({ layout }: Planning, write: Of<"delete">): Steps<StatementPlan> {
  const table = readTable(write.table)
  const before = yield* findRow(layout, table.name, write.id)
  if (!before) throw failure("row_missing", { noun: table.noun, id: write.id })
  requireFresh(table, before, readExpected(table, write.expect))
  const hanging = yield* findRelatedRows(layout, table.name, write.id)
  for (const { table: other, whenGone } of table.referredBy) {
    const count = hanging[other]?.length ?? 0
    if (whenGone === "goes" || count === 0) continue
    const problem = `The ${table.noun} ${write.id} still has ${count} ${readTable(other).noun}(s): move or delete them first.`
    throw failure("bad_request", { problem })
  }
  if (write.along) requireShown(table, write.id, { shown: write.along, gone: hanging })
  const gone: [TableName, readonly Row[]][] = [...entriesOf(hanging), [table.name, [before]]]
  const statements = gone.flatMap(([name, rows]) => deleteRows(layout, name, rows.map(idOf)))
  return planOf(write, { before, with: hanging }, statements)
}

/** Refuses a deletion that would delete other related rows than those that the user approved. */
function requireShown({ noun }: KnownTable, id: string, { shown, gone }: { shown: IdsByTable; gone: Rows }): void {
  const tables = new Set([...Object.keys(shown), ...Object.keys(gone)])
  const changed = [...tables].filter((name) => {
    const before = new Set(own(shown, name as keyof IdsByTable))
    const now = new Set((own(gone, name as keyof Rows) ?? []).map((row) => String(row.id)))
    return before.symmetricDifference(now).size > 0
  })
  if (changed.length > 0) throw failure("row_stale", { noun, id, columns: changed.join(", ") })
}

function* planRestore({ layout }: Planning, write: Of<"restore">): Steps<StatementPlan> {
  const table = readTable(write.table)
  const { rows, with: others } = readRestoredRows(table, { rows: write.rows, with: write.with })
  const [first, ...rest] = rows
  if (!first) throw failure("bad_request", { problem: "There is nothing to restore." })
  const all = joined({ [table.name]: rows }, others)
  for (const [name, theirs] of entriesOf(all)) {
    const ids = theirs.map(idOf)
    const [there] = yield* findByIds(layout, name, ids)
    const seen = new Set<string>()
    const twice = ids.find((id) => seen.size === seen.add(id).size)
    const taken = there ? idOf(there) : twice
    if (taken !== undefined)
      throw failure("bad_request", { problem: `${taken} is there already, so it cannot be put back.` })
  }
  yield* requireReferences(layout, all)
  const statements = entriesOf(all).flatMap(([name, theirs]) => theirs.map((row) => insertRow(layout, name, row)))
  return planOf(
    write,
    { after: first, with: joined(rest.length > 0 ? { [table.name]: rest } : {}, others) },
    statements,
  )
}

function planOf(
  { action, table }: WorkspaceWrite,
  { before = null, after = null, with: others = {} }: { before?: Row | null; after?: Row | null; with?: Rows },
  statements: readonly WorkspaceStatement[],
): StatementPlan {
  return { applied: { action, table, before, after, with: others } as unknown as Applied, statements }
}

/** The ids of the notes that a write deletes. Data derived from them must be deleted in the same transaction. */
export function deletedNotes({ action, table, before, with: others }: Applied): string[] {
  if (action !== "delete") return []
  return [...(others.notes ?? []), ...(table === "notes" && before ? [before] : [])].map(({ id }) => id)
}

export function requireFresh({ noun }: KnownTable, row: Row, expect: Row): void {
  const changed = Object.keys(expect).filter((column) => row[column] !== expect[column])
  if (changed.length === 0) return
  throw failure("row_stale", { noun, id: idOf(row), columns: changed.join(", ") })
}

const idOf = (row: Row): string => String(row.id)
const entriesOf = (rows: Rows) => Object.entries(rows) as [TableName, readonly Row[]][]

function joined(some: Rows, others: Rows): Rows {
  const all = new Map(entriesOf(some))
  for (const [name, rows] of entriesOf(others)) if (rows.length > 0) all.set(name, [...(all.get(name) ?? []), ...rows])
  return Object.fromEntries(all)
}
