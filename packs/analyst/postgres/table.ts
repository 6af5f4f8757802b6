import { readServerJson } from "./json.ts"
import type { PostgresSession } from "./session.ts"

/** Facts about a table from PostgreSQL's catalog. */
export interface TableFacts {
  readonly kind: string
  readonly columns: readonly CatalogueColumn[]
  /** The columns that identify a row; empty if there are none. */
  readonly key: readonly string[]
  readonly triggers: readonly string[]
  /** Some triggers run before a row is written, and may change it. */
  readonly stamps: boolean
}

export interface CatalogueColumn {
  readonly name: string
  readonly type: string
  /** The database generates its value if a statement does not set it, a different one each time. */
  readonly given: boolean
  /** A number of a sequence that belongs to the column. */
  readonly identity: boolean
  /** Computed from other columns of the row. */
  readonly computed: boolean
}

export async function factsOf(ask: PostgresSession["ask"], table: string): Promise<TableFacts | undefined> {
  const { rows } = await ask(`SELECT c.relkind::text,
    (SELECT json_agg(json_build_object('name', attname, 'type', format_type(atttypid, atttypmod), 'identity',
      attidentity <> '', 'computed', attgenerated <> '', 'default',
      coalesce(pg_get_expr(adbin, adrelid), typdefault)) ORDER BY attnum)::text FROM pg_catalog.pg_attribute
      JOIN pg_catalog.pg_type ON pg_type.oid = atttypid
      LEFT JOIN pg_catalog.pg_attrdef ON adrelid = attrelid AND adnum = attnum
      WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped),
    (SELECT json_agg(a.attname ORDER BY k.place)::text FROM (${KEY_INDEX}) x
      CROSS JOIN unnest(x.indkey::int2[]) WITH ORDINALITY k (number, place)
      JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number WHERE k.place <= x.indnkeyatts),
    (SELECT json_agg(tgname ORDER BY tgname)::text FROM pg_catalog.pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal),
    EXISTS (SELECT FROM pg_catalog.pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal AND tgtype & ${BEFORE_ROW} = ${BEFORE_ROW})::text
    FROM pg_catalog.pg_class c WHERE c.oid = to_regclass('${table.replaceAll("'", "''")}')`)
  const [kind, columns, key, triggers, stamps] = rows[0] ?? []
  if (!kind) return undefined
  const described = list<Omit<CatalogueColumn, "given"> & { default: string | null }>(columns)
  return {
    kind,
    columns: described.map(({ default: text, ...column }) => {
      return { ...column, given: column.identity || (!column.computed && isGiven(text)) }
    }),
    key: list(key),
    triggers: list(triggers),
    stamps: stamps === "true",
  }
}

/** The primary key, or a unique index over columns that are not null. */
const KEY_INDEX = `SELECT i.indkey, i.indnkeyatts FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid AND i.indisunique
  AND i.indimmediate AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_attribute n WHERE n.attrelid = c.oid AND NOT n.attnotnull
    AND n.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1]))
  ORDER BY i.indisprimary DESC, i.indnkeyatts, i.indexrelid LIMIT 1`

/** The bits of pg_trigger.tgtype for a row trigger that runs before. */
const BEFORE_ROW = 3

/** False for a constant default. The value of a function may differ each time. */
function isGiven(text: string | null): boolean {
  // Text in quotation marks is not a call, nor is the size of a type.
  const words = text
    ?.replace(/'(?:[^']|'')*'/g, (each) => (/^'(?:now|today|tomorrow|yesterday)/i.test(each) ? "current_" : "''"))
    .replace(/::[a-z ]+\([\d, ]+\)/gi, "")
  return /[\w"]\(|\bcurrent_|\blocaltime/i.test(words ?? "")
}

const list = <T>(json: string | null | undefined) => readServerJson<T[]>(json, [])
