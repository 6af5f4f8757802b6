import { createHash, randomBytes } from "node:crypto"
import type { DatabaseSync } from "node:sqlite"
import { type SideEffect, sideEffectNotes, type DatabaseChange, RESTLESS, SHOWN_ROWS } from "../database/kind.ts"
import { excerpt } from "../database/excerpt.ts"
import { boundColumns, type ColumnFacts } from "./bound-columns.ts"
import type { SqliteMark } from "./change-job.ts"
import { statementsOf, tokensOf } from "./statement.ts"
import { type SqliteValue, toWire } from "./values.ts"
import { SqliteWrites } from "./writes.ts"

/** The most rows that one statement may change, because all of them are read before and after it. */
const MAX_ROWS = 100_000
/** The changed rows that are compared after a crash, to find out whether the change was applied. */
const MARKED_ROWS = 1000

/** A statement that is refused, with a sentence about the reason. */
export class RefusedChange extends Error {
  override name = "RefusedChange"
}

type Changed = { readonly change: DatabaseChange; readonly mark: Omit<SqliteMark, "counter"> }

/**
 * Runs a statement inside the open transaction. It runs twice: only after the first run it is known which rows change,
 * so it is rolled back, these rows are read, and it runs again.
 */
export function changeRows(db: DatabaseSync, sql: string, path: string): Changed {
  const [text = ""] = statementsOf(sql)
  const writes = compile(db, text)
  const { verb, table } = writes
  if (!verb || table === undefined) throw new RefusedChange("it changes no rows")
  const columns = columnsOf(db, table)
  const rowName = rowNameOf(columns)
  const countOf = (name: string) =>
    Number((db.prepare(`SELECT count(*) AS n FROM ${identifier(name)}`).get() as { n: number }).n)
  const countNow = () => countOf(table)
  const renumbered = writes.renumbers(columns)
  if (verb === "INSERT" && renumbered) throw new RefusedChange("it changes the key of rows that are there already")
  const words = wordsOf(db, writes)
  if (namesReplace([text, ...words.own]) && writes.triggersWriteToo())
    throw new RefusedChange("triggers write to the same table, so the replaced rows cannot be identified")
  const countBefore = countNow()
  const reached = writes.reachedByKeys().map((name) => ({ table: name, before: countOf(name) }))
  db.exec("SAVEPOINT pawl_change")
  const first = renumbered ? runWatched(db, text, { table, rowName }) : run(db, text, rowName)
  db.exec("ROLLBACK TO pawl_change")
  const reader = new RowReader(db, { table, rowName, columns })
  const before = reader.read(first.olds)
  const beforeMarked = hashOf(reader.read(first.rows.slice(0, MARKED_ROWS)))
  const there = new Set(first.rows.filter((row) => reader.read([row]).length > 0))
  const { rows, total } = run(db, text, rowName)
  const after = reader.read(renumbered ? first.rows : rows)
  const becomes = verb === "INSERT" ? reader.read(knownFirst(rows, there)) : after
  const { bound, made, restless } = boundColumns(text, { columns, triggers: words.triggers }, writes)
  const extra = total - rows.length
  const beside = reached.map(({ table: name, before: was }): SideEffect => {
    return { table: name, deleted: Math.max(0, was - countOf(name)), added: 0, changed: 0 }
  })
  const added = verb === "INSERT" ? new Set(rows).size - there.size : 0
  // SQLite neither counts nor reports rows that REPLACE deletes. Only triggers of this table may have changed the
  // number otherwise.
  const unexplained = countNow() !== countBefore + added
  if (verb !== "DELETE" && unexplained && !writes.triggersWriteToo())
    throw new RefusedChange("it replaces rows that are not shown; delete them first, by a statement of their own")
  const known = verb === "INSERT" ? there.size : rows.length
  const isSame = verb === "DELETE" ? rows.length === 0 : added === 0 && !renumbered && hashOf(before) === hashOf(after)
  const isQuiet = rows.length === 0 || (made.length === 0 && writes.triggers.size === 0)
  const revision = [path, verb, table, rows.length, extra, hashOf(before), hashOf(after, bound)]
  const marked = rows.slice(0, MARKED_ROWS)
  return {
    change: {
      verb,
      table,
      affected: rows.length,
      added,
      overwritten: known,
      all: verb !== "INSERT" && rows.length > 0 && rows.length === countBefore,
      nothing: isSame && isQuiet && extra === 0,
      columns: columns.map(({ name, type }) => ({ name, type: type || null })),
      before: shown(before, becomes),
      after: verb === "DELETE" ? null : shown(becomes, before),
      paired: verb !== "DELETE",
      made,
      // A replaced row retains no values.
      kept: namesReplace([text, ...words.own])
        ? []
        : made.filter((name) => !writes.sets(name) && !columns.some((each) => each.name === name && each.hidden > 1)),
      notes: [
        ...sideEffectNotes(beside, extra - beside.reduce((sum, { deleted }) => sum + deleted, 0)),
        ...notesOf(writes, renumbered),
        ...(restless ? [RESTLESS] : []),
      ],
      revision: createHash("sha256").update(JSON.stringify(revision)).digest("hex"),
    },
    mark: { table, rowName, rows: marked.map(String), before: beforeMarked, after: hashOf(reader.read(marked)) },
  }
}

/** Each row once. Existing rows come first, because the user must see overwritten rows, however many are new. */
function knownFirst(rows: readonly bigint[], there: ReadonlySet<bigint>): bigint[] {
  const unique = [...new Set(rows)]
  return [...unique.filter((row) => there.has(row)), ...unique.filter((row) => !there.has(row))].slice(0, SHOWN_ROWS)
}

/** Reads the rows of a mark again; undefined if the table has changed. */
export function rowsNow(db: DatabaseSync, { table, rowName, rows }: SqliteMark): string | undefined {
  try {
    const reader = new RowReader(db, { table, rowName, columns: columnsOf(db, table) })
    return hashOf(reader.read(rows.map(BigInt)))
  } catch {
    return undefined
  }
}

/** Collects what SQLite reports while it compiles the statement; nothing runs. */
function compile(db: DatabaseSync, text: string): SqliteWrites {
  const writes = new SqliteWrites()
  db.setAuthorizer(writes.authorize)
  try {
    db.prepare(text)
  } finally {
    db.setAuthorizer(null)
  }
  return writes
}

interface Ran {
  /** The rowids of the changed rows and, in the same order, their previous rowids. */
  readonly rows: bigint[]
  readonly olds: readonly bigint[]
  readonly total: number
}

function run(db: DatabaseSync, text: string, rowName: string): Ran {
  const { rows, total } = runUnsorted(db, text, { rowName })
  const sorted = rows.sort((a, b) => (a < b ? -1 : 1))
  return { rows: sorted, olds: sorted, total }
}

/**
 * The same if rows get other rowids: a temporary trigger, which is removed with the savepoint, records the previous
 * rowids. It also sees changes by foreign keys and triggers, so only rows that the statement itself returns count.
 */
function runWatched(db: DatabaseSync, text: string, { table, rowName }: { table: string; rowName: string }): Ran {
  // A random name, so that it cannot be the name of a trigger in the file.
  const watcher = `pawl_${randomBytes(12).toString("hex")}`
  db.exec(`CREATE TEMP TABLE pawl_moved (before INTEGER, after INTEGER);
    CREATE TEMP TRIGGER ${watcher} AFTER UPDATE ON main.${identifier(table)}
    BEGIN INSERT INTO pawl_moved VALUES (old.${rowName}, new.${rowName}); END`)
  const { rows, total } = runUnsorted(db, text, { rowName, watcher })
  const noted = db.prepare("SELECT DISTINCT before, after FROM temp.pawl_moved")
  noted.setReadBigInts(true)
  const moves = noted.all() as unknown as { readonly before: bigint; readonly after: bigint }[]
  const olds = Map.groupBy(moves, ({ after }) => after)
  const pairs = rows.map((row) => {
    const [move, another] = olds.get(row) ?? []
    if (!move || another)
      throw new RefusedChange("triggers or foreign keys change the same table while its key changes")
    return { row, old: move.before }
  })
  pairs.sort((a, b) => (a.old < b.old ? -1 : 1))
  return { rows: pairs.map(({ row }) => row), olds: pairs.map(({ old }) => old), total }
}

function runUnsorted(
  db: DatabaseSync,
  text: string,
  { rowName, watcher }: { readonly rowName: string; readonly watcher?: string },
): { rows: bigint[]; total: number } {
  const counted = db.prepare("SELECT total_changes() AS total")
  const totalNow = () => Number((counted.get() as { total: number }).total)
  const start = totalNow()
  db.setAuthorizer(new SqliteWrites(watcher).authorize)
  const statement = db.prepare(`${text}\nRETURNING ${rowName} AS pawl_row`)
  db.setAuthorizer(null)
  statement.setReadBigInts(true)
  const rows: bigint[] = []
  for (const row of statement.iterate()) {
    rows.push((row as { pawl_row: bigint }).pawl_row)
    if (rows.length > MAX_ROWS) throw new RefusedChange(`it changes more than ${MAX_ROWS} rows`)
  }
  const { changes } = db.prepare("SELECT changes() AS changes").get() as { changes: number }
  // The appended clause had no effect, for example because of a comment without an end.
  if (changes !== rows.length) throw new RefusedChange("its end cannot be found; leave out comments")
  return { rows, total: totalNow() - start }
}

/** True if the statement, the table or a trigger may replace a row (`REPLACE`). */
const namesReplace = (texts: readonly string[]) =>
  texts.some((text) =>
    tokensOf(text).some((token, index, all) => /^replace$/i.test(token.text) && all[index + 1]?.text !== "("),
  )

interface Made {
  readonly name: string
  readonly tbl_name: string
  readonly sql: string
}

/** The SQL that created the table and its triggers, and all triggers that run with the statement. */
function wordsOf(db: DatabaseSync, { table = "", triggers }: SqliteWrites) {
  const all = db.prepare("SELECT name, tbl_name, sql FROM main.sqlite_schema WHERE sql IS NOT NULL").all()
  const made = all as unknown as readonly Made[]
  const isOf = ({ tbl_name: name }: Made) => name.toLowerCase() === table.toLowerCase()
  return {
    own: made.filter(isOf).map(({ sql }) => sql),
    triggers: made.filter(({ name }) => triggers.has(name)).map(({ sql }) => sql),
  }
}

function columnsOf(db: DatabaseSync, table: string): ColumnFacts[] {
  const [listed] = db.prepare("SELECT type, wr FROM pragma_table_list(?) WHERE schema = 'main'").all(table)
  const { type, wr } = (listed ?? {}) as { type?: string; wr?: number }
  if (type !== "table" || wr !== 0) throw new RefusedChange(`${table} is not a plain table whose rows have numbers`)
  return db
    .prepare("SELECT name, type, pk, dflt_value, hidden FROM pragma_table_xinfo(?) WHERE hidden <> 1")
    .all(table) as unknown as ColumnFacts[]
}

function rowNameOf(columns: readonly ColumnFacts[]): string {
  const taken = new Set(columns.map(({ name }) => name.toLowerCase()))
  const free = ["rowid", "_rowid_", "oid"].find((name) => !taken.has(name))
  if (!free) throw new RefusedChange("the numbers of its rows have no name")
  return free
}

type Row = readonly SqliteValue[]

class RowReader {
  readonly #get

  constructor(db: DatabaseSync, place: { table: string; rowName: string; columns: readonly ColumnFacts[] }) {
    const columns = place.columns.map(({ name }) => identifier(name)).join(", ")
    this.#get = db.prepare(`SELECT ${columns} FROM ${identifier(place.table)} WHERE ${place.rowName} = ?`)
    this.#get.setReturnArrays(true)
    this.#get.setReadBigInts(true)
  }

  read = (rows: readonly bigint[]): Row[] => rows.flatMap((row) => this.#get.all(row) as unknown as Row[])
}

const identifier = (name: string) => `"${name.replaceAll('"', '""')}"`

function hashOf(rows: readonly Row[], columns?: readonly number[]): string {
  const hash = createHash("sha256")
  for (const row of rows) {
    const values = columns ? columns.map((index) => row[index] ?? null) : row
    hash.update(`${JSON.stringify(values.map(toWire))}\n`)
  }
  return hash.digest("hex")
}

/** `others`: the same rows after or before the change. */
function shown(rows: readonly Row[], others: readonly Row[]): unknown[][] {
  return rows
    .slice(0, SHOWN_ROWS)
    .map((row, at) => row.map((value, column) => cut(toWire(value), others[at]?.[column])))
}

const cut = (value: unknown, other: SqliteValue | undefined) => {
  if (typeof value === "string") return excerpt(value, typeof other === "string" ? other : value)
  return typeof value === "object" && value !== null ? `(${(value as { bytes: number }).bytes} bytes)` : value
}

function notesOf({ verb, columns, triggers }: SqliteWrites, renumbered: boolean): string[] {
  return [
    ...(triggers.size > 0 ? [`Triggers of the table run as well: ${[...triggers].join(", ")}.`] : []),
    ...(verb === "INSERT" && columns.size > 0 ? ["Rows that are there already are overwritten."] : []),
    ...(renumbered ? ["The key of rows changes."] : []),
  ]
}
