import type { DatabaseSync } from "node:sqlite"
import { type DatabaseSchema, type ForeignKey, schemaLimits, type DatabaseTable } from "../database/schema.ts"
import { readRows } from "./rows.ts"
import { readNotes, type TableNotes } from "./table-notes.ts"

interface Listed {
  readonly name: string
  readonly type: string
  readonly ncol: number
}

interface ColumnRow {
  readonly name: string
  readonly type: string
  readonly notnull: number
  readonly pk: number
}

interface KeyRow {
  readonly id: number
  readonly table: string
  readonly from: string
  readonly to: string | null
}

/** Reads the schema of an SQLite file. Skips tables that cannot be read because their module is missing. */
export function introspectSqlite(db: DatabaseSync): DatabaseSchema {
  const most = schemaLimits.tables
  const listed = db
    .prepare(
      `SELECT name, type, ncol FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'view', 'virtual')
        AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name LIMIT ${most + 1}`,
    )
    .all() as unknown as Listed[]
  const rows = estimates(db)
  const notes = readNotes(db)
  const tables = listed.slice(0, most).flatMap((table, index): DatabaseTable[] => {
    try {
      return [
        toTable(db, table, {
          rows: rows.get(table.name) ?? highestRow(db, table),
          sampled: index < schemaLimits.sampledTables,
          notes: notes.get(table.name.toLowerCase()),
        }),
      ]
    } catch {
      return []
    }
  })
  return { tables, more: listed.length > most }
}

interface More {
  readonly rows: number | null
  readonly sampled: boolean
  readonly notes: TableNotes | undefined
}

function toTable(db: DatabaseSync, { name, type }: Listed, more: More): DatabaseTable {
  const columns = db.prepare(`SELECT name, type, "notnull", pk FROM pragma_table_xinfo('${escape(name)}')`).all()
  const rows = columns.slice(0, schemaLimits.columns) as unknown as ColumnRow[]
  const keys = rows.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk)
  return {
    name: quoted(name),
    kind: type === "view" ? "view" : "table",
    comment: more.notes?.warnings.join(" ") || null,
    rows: more.rows,
    columns: rows.map(({ name, type, notnull, pk }) => {
      const noted = more.notes?.columns.find((column) => column.name === name)
      const comment = [noted?.note ?? [], noted?.warnings ?? []].flat().join("; ") || null
      return { name, type: type || "any", nullable: notnull === 0 && pk === 0, comment }
    }),
    primaryKey: keys.map(({ name }) => name),
    foreignKeys: foreignKeys(db, name),
    sample: more.sampled && type === "table" ? sampleOf(db, name, rows) : undefined,
  }
}

function foreignKeys(db: DatabaseSync, name: string): ForeignKey[] {
  const sql = `SELECT id, "table", "from", "to" FROM pragma_foreign_key_list('${escape(name)}') ORDER BY id, seq`
  const keys = Map.groupBy(db.prepare(sql).all() as unknown as KeyRow[], ({ id }) => id)
  return [...keys.values()].map((parts) => ({
    columns: parts.map(({ from }) => from),
    table: quoted(parts[0]?.table ?? ""),
    references: parts.flatMap(({ to }) => to ?? []),
  }))
}

/** Reads sample rows. Values are truncated in the database, so that long ones are not read. */
function sampleOf(db: DatabaseSync, name: string, columns: readonly ColumnRow[]) {
  const { sampleRows, sampleCharacters } = schemaLimits
  const cut = columns.map(({ name }) => {
    const column = identifier(name)
    return `CASE typeof(${column}) WHEN 'text' THEN substr(${column}, 1, ${sampleCharacters + 1})
      WHEN 'blob' THEN '(' || length(${column}) || ' bytes)' ELSE ${column} END AS ${column}`
  })
  const statement = db.prepare(`SELECT ${cut.join(", ")} FROM ${identifier(name)} LIMIT ${sampleRows}`)
  const outcome = readRows(statement, { rows: sampleRows, bytes: 100_000, seconds: 1 })
  return outcome.type === "answer" ? outcome.answer : undefined
}

/** Row counts from the last ANALYZE. Counting would read every table completely. */
function estimates(db: DatabaseSync): ReadonlyMap<string, number> {
  try {
    const found = db.prepare("SELECT tbl, max(CAST(stat AS INTEGER)) AS n FROM sqlite_stat1 GROUP BY tbl").all()
    return new Map((found as { tbl: string; n: number }[]).map(({ tbl, n }) => [tbl, n]))
  } catch {
    return new Map() // ANALYZE was never run
  }
}

/** The highest rowid, found without a scan. It equals the count if no row was deleted. */
function highestRow(db: DatabaseSync, { name, type }: Listed): number | null {
  if (type !== "table") return null
  try {
    const found = db.prepare(`SELECT max(rowid) AS n FROM ${identifier(name)}`).get() as
      | { n: number | null }
      | undefined
    return found?.n ?? 0
  } catch {
    return null // the table has no rowids
  }
}

const escape = (text: string) => text.replaceAll("'", "''")
const identifier = (name: string) => `"${name.replaceAll('"', '""')}"`
const quoted = (name: string) => (/^[a-z_][a-z0-9_]*$/i.test(name) ? name : identifier(name))
