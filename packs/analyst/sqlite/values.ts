import type { Column } from "../../../core/pack.ts"

export type SqliteValue = null | number | bigint | string | Uint8Array

/** Converts a value to JSON without loss: see `QueryAnswer`. */
export function toWire(value: SqliteValue): unknown {
  if (typeof value === "bigint") {
    return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : String(value)
  }
  // JSON would convert infinities to null.
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value)
  if (value instanceof Uint8Array) return { bytes: value.length, base64: Buffer.from(value).toString("base64") }
  return value
}

/** The declared types; without one, as for an expression, the type of the first value. */
export function toColumns(
  declared: readonly { readonly name: string; readonly type: string | null }[],
  first: readonly SqliteValue[] | undefined,
): Column[] {
  return declared.map(({ name, type }, index) => ({ name, type: type || typeOf(first?.[index]) }))
}

function typeOf(value: SqliteValue | undefined): string | null {
  if (value === null || value === undefined) return null
  if (typeof value === "bigint") return "INTEGER"
  if (typeof value === "number") return "REAL"
  return typeof value === "string" ? "TEXT" : "BLOB"
}
