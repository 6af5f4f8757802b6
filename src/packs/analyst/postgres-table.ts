import { schemaLimits } from "./database-schema.ts"
import type { PostgresSession } from "./postgres-session.ts"

/** A table as PostgreSQL's catalogue has it. */
export interface TableFacts {
  readonly kind: string
  readonly columns: readonly TableColumn[]
  readonly key: readonly string[]
  readonly triggers: readonly string[]
}

export interface TableColumn {
  readonly name: string
  readonly type: string
  /** By the database, where a statement does not fill it, and another value each time. */
  readonly given: boolean
  /** A number of a sequence that belongs to the column. */
  readonly identity: boolean
  /** Made of the row's other columns. */
  readonly computed: boolean
}

export async function factsOf(ask: PostgresSession["ask"], table: string): Promise<TableFacts | undefined> {
  const { rows } = await ask(`SELECT c.relkind::text,
    (SELECT json_agg(json_build_object('name', attname, 'type', format_type(atttypid, atttypmod), 'identity',
      attidentity <> '', 'computed', attgenerated <> '', 'default', pg_get_expr(adbin, adrelid)) ORDER BY attnum)::text FROM pg_catalog.pg_attribute
      LEFT JOIN pg_catalog.pg_attrdef ON adrelid = attrelid AND adnum = attnum
      WHERE attrelid = c.oid AND attnum BETWEEN 1 AND ${schemaLimits.columns} AND NOT attisdropped),
    (SELECT json_agg(a.attname ORDER BY k.place)::text FROM pg_catalog.pg_constraint x
      CROSS JOIN unnest(x.conkey) WITH ORDINALITY k (number, place)
      JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number
      WHERE x.conrelid = c.oid AND x.contype = 'p'),
    (SELECT json_agg(tgname ORDER BY tgname)::text FROM pg_catalog.pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal)
    FROM pg_catalog.pg_class c WHERE c.oid = to_regclass('${table.replaceAll("'", "''")}')`)
  const [kind, columns, key, triggers] = rows[0] ?? []
  if (!kind) return undefined
  const told = list<Omit<TableColumn, "given"> & { default: string | null }>(columns)
  return {
    kind,
    columns: told.map(({ default: text, ...column }) => {
      return { ...column, given: column.identity || (!column.computed && isGiven(text)) }
    }),
    key: list(key),
    triggers: list(triggers),
  }
}

/** A constant is the same each time; what a function makes may be another. */
const isGiven = (text: string | null) =>
  text !== null && /\(|\bcurrent_|\blocaltime|'(?:now|today|tomorrow|yesterday)/i.test(text)

const list = <T>(json: string | null | undefined): T[] => JSON.parse(json ?? "[]") as T[]
