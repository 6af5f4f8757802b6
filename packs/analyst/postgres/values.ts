import type { Column } from "../../../core/pack.ts"
import { toJson } from "./json.ts"

/** Type ids of pg_type, which never change. */
const BOOL = 16
const BYTEA = 17
const INTEGERS = new Set([20, 21, 23, 26])
const FLOATS = new Set([700, 701])
const JSONS = new Set([114, 3802])

export const isJson = (type: number | undefined): boolean => type !== undefined && JSONS.has(type)

/** Converts PostgreSQL's text of a value to JSON without loss: see `QueryAnswer`. */
export function toWire(text: string | null, type: number): unknown {
  if (text === null) return null
  if (type === BOOL) return text === "t"
  if (INTEGERS.has(type)) return Number.isSafeInteger(Number(text)) ? Number(text) : text
  if (FLOATS.has(type)) return Number.isFinite(Number(text)) ? Number(text) : text
  if (isJson(type)) return toJson(text)
  if (type === BYTEA && text.startsWith("\\x")) {
    const bytes = Buffer.from(text.slice(2), "hex")
    return { bytes: bytes.length, base64: bytes.toString("base64") }
  }
  return text
}

export interface ResultField {
  readonly name: string
  readonly dataTypeID: number
  readonly dataTypeModifier: number
}

/** A query for the names of these types. It contains only numbers, no part of the user's statement. */
export function typeNamesOf(fields: readonly ResultField[]): string {
  const types = fields.map(({ dataTypeID, dataTypeModifier }) => {
    return `pg_catalog.format_type(${Number(dataTypeID)}, ${Number(dataTypeModifier)})`
  })
  return `SELECT to_json(ARRAY[${types.join(", ")}]::text[])::text`
}

export function toColumns(fields: readonly ResultField[], types: readonly string[] | undefined): Column[] {
  return fields.map(({ name, dataTypeID }, index) => ({ name, type: types?.[index] ?? COMMON[dataTypeID] ?? null }))
}

/** Types by id, for a result whose connection was cut because it was too large, so that they cannot be queried. */
const COMMON: Readonly<Record<number, string>> = {
  16: "boolean",
  17: "bytea",
  20: "bigint",
  21: "smallint",
  23: "integer",
  25: "text",
  114: "json",
  700: "real",
  701: "double precision",
  1043: "character varying",
  1082: "date",
  1114: "timestamp without time zone",
  1184: "timestamp with time zone",
  1700: "numeric",
  2950: "uuid",
  3802: "jsonb",
}
