import {
  type DatabaseSchema,
  type ForeignKey,
  schemaLimits,
  type DatabaseTable,
  type TableColumn,
} from "../database/schema.ts"
import { readServerJson } from "./json.ts"
import type { PostgresSession } from "./session.ts"
import type { QueryAnswer } from "../../../core/pack.ts"

/** The time limit of a sample, so that one slow table does not use up the time of the others. */
const SAMPLE_MS = 1000
/**
 * The share of the time limit after which no more sample rows are read, because tables and columns are more important.
 */
const SAMPLES = 0.4

/** Reads the schema of a PostgreSQL database, as far as the role may read it. */
export async function introspectPostgres({ ask }: PostgresSession, seconds: number): Promise<DatabaseSchema> {
  const most = schemaLimits.tables
  const found = (await ask(`${TABLES} LIMIT ${most + 1}`)).rows
  const listed = found.slice(0, most)
  const ids = listed.map(([id]) => Number(id)).join(", ") || "0"
  const columns = Map.groupBy((await ask(columnsOf(ids))).rows, ([id]) => id)
  const keys = Map.groupBy((await ask(keysOf(ids))).rows, ([id]) => id)
  const tables: DatabaseTable[] = []
  const until = performance.now() + seconds * 1000 * SAMPLES
  // Once for all tables, because each query to a remote server takes a round trip.
  await ask(`SET LOCAL statement_timeout = ${SAMPLE_MS}`)
  await ask("SAVEPOINT sample")
  for (const [id = null, name, kind, comment = null, rows] of listed) {
    const own = keys.get(id) ?? []
    const shown = (columns.get(id) ?? []).map(toColumn)
    tables.push({
      name: name ?? "",
      kind: kind === "v" ? "view" : "table",
      comment,
      rows: rows === null || Number(rows) < 0 ? null : Number(rows),
      columns: shown,
      primaryKey: toNames(own.find(([, type]) => type === "p")?.[2]),
      foreignKeys: own.flatMap(([, type, from, table, to]): ForeignKey[] =>
        type === "f" ? [{ columns: toNames(from), table: table ?? "", references: toNames(to) }] : [],
      ),
      // Rows of a view must be computed, and those of a foreign table come from another server.
      sample:
        kind !== "v" && kind !== "f" && tables.length < schemaLimits.sampledTables && performance.now() < until
          ? await sampleOf(ask, name ?? "", shown)
          : undefined,
    })
  }
  return { tables, more: found.length > most }
}

const NAME = (table: string, schema: string) => `CASE WHEN pg_table_is_visible(${table}.oid) THEN
  quote_ident(${table}.relname) ELSE quote_ident(${schema}.nspname) || '.' || quote_ident(${table}.relname) END`

const TABLES = `SELECT c.oid, ${NAME("c", "n")}, c.relkind::text, obj_description(c.oid, 'pg_class'), c.reltuples::int8
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition AND n.nspname <> 'information_schema'
    AND n.nspname !~ '^pg_' AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')
  ORDER BY 2`

const columnsOf = (ids: string) => `SELECT attrelid, attname, format_type(atttypid, atttypmod), attnotnull,
    col_description(attrelid, attnum), (SELECT json_agg(e.enumlabel ORDER BY e.enumsortorder)::text
      FROM (SELECT * FROM pg_catalog.pg_enum WHERE enumtypid IN (t.oid, t.typelem, t.typbasetype)
        ORDER BY enumsortorder LIMIT ${schemaLimits.values + 1}) e)
  FROM pg_catalog.pg_attribute JOIN pg_catalog.pg_type t ON t.oid = atttypid WHERE attrelid IN (${ids}) AND attnum BETWEEN 1 AND ${schemaLimits.columns}
    AND NOT attisdropped ORDER BY attrelid, attnum`

const namesOf = (table: string, numbers: string) => `(SELECT json_agg(a.attname ORDER BY k.place)::text
  FROM unnest(${numbers}) WITH ORDINALITY k (number, place)
  JOIN pg_catalog.pg_attribute a ON a.attrelid = ${table} AND a.attnum = k.number)`

const keysOf = (ids: string) => `SELECT x.conrelid, x.contype::text, ${namesOf("x.conrelid", "x.conkey")},
    ${NAME("f", "n")}, ${namesOf("x.confrelid", "x.confkey")}
  FROM pg_catalog.pg_constraint x LEFT JOIN pg_catalog.pg_class f ON f.oid = x.confrelid
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = f.relnamespace
  WHERE x.conrelid IN (${ids}) AND x.contype IN ('p', 'f') ORDER BY x.conname`

function toColumn([, name, type, required, comment = null, labels]: (string | null)[]): TableColumn {
  const values = labels ? toNames(labels) : undefined
  return { name: name ?? "", type: type ?? "", nullable: required !== "t", comment, values }
}

const toNames = (json: string | null | undefined) => readServerJson<string[]>(json, [])

/** Reads sample rows. Values are truncated in the database, so that long ones are not sent. */
async function sampleOf(
  ask: PostgresSession["ask"],
  table: string,
  columns: readonly TableColumn[],
): Promise<QueryAnswer | undefined> {
  if (columns.length === 0) return undefined
  const { sampleCharacters, sampleRows } = schemaLimits
  const cut = columns.map(({ name }) => `left("${name.replaceAll('"', '""')}"::text, ${sampleCharacters + 1})`)
  try {
    const { rows } = await ask(`SELECT ${cut.join(", ")} FROM ${table} LIMIT ${sampleRows}`)
    return { columns: columns.map(({ name, type }) => ({ name, type })), rows, truncated: false }
  } catch (error) {
    if ((error as { severity?: string }).severity === undefined) throw error // an error of the connection, not of the table
    await ask("ROLLBACK TO SAVEPOINT sample")
    return undefined
  }
}
