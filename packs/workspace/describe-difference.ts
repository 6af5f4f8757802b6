import { canonicalJson, mendValue, workspaceTables, type WorkspaceWrite } from "../../core/pack.ts"
import { inOneLine } from "./describe-row.ts"
import type { Desk, DeskRow, Value } from "./tables/desk.ts"
import { toMoments } from "./device/days.ts"
import type { TableSpec } from "./tables/table.ts"

type Columns = Readonly<Record<string, unknown>>

/** Describes how a row differs from what was approved; empty if it does not. */
export function describeDifference(
  table: TableSpec,
  { agreed, row }: { agreed: Columns; row: DeskRow },
  desk: Desk,
): string {
  const { made, row: schema } = workspaceTables[table.name]
  const approved = mendValue(agreed) as Record<string, Value>
  // A device without support for days stores a day as a moment.
  const moments = toMoments(table.name, approved, desk.timeZone)
  const columns = Object.keys(schema.shape).filter((column) => Object.hasOwn(approved, column))
  const parts = columns.flatMap((column) => {
    const field = table.fields.find((each) => each.column === column)
    const [is, should] = [row[column] ?? null, approved[column] ?? null]
    // Compared as arguments, because a list of names has several stored forms.
    const plain = (value: Value) => canonicalJson(field ? field.kind.toArgument(value) : value)
    const isAgreed = plain(is) === plain(should) || is === moments[column]
    if (column === "id" || made.includes(column) || isAgreed) return []
    const show = (value: Value) => inOneLine(field ? field.kind.show(value, desk) : value)
    return [`${field?.label ?? column} is ${show(is)}, not ${show(should)}`]
  })
  return parts.length === 0 ? "" : ` It differs from the approved change: ${parts.join("; ")}.`
}

/** The values that a person approved for a row or, for a deletion, that it had. */
export function agreedOf(write: WorkspaceWrite): Columns {
  switch (write.action) {
    case "insert":
      return write.data
    case "update":
      return { ...write.expect, ...write.updates }
    case "delete":
      return write.expect ?? {}
    case "restore":
      return { ...write.rows[0] } as Columns
  }
}

/**
 * The approved values of a call that was interrupted, from its arguments. Leaves out arguments that can no longer be
 * read.
 */
export async function columnsToDescribe({ fields }: TableSpec, given: Columns, desk: Desk): Promise<Columns> {
  const columns: Record<string, unknown> = {}
  for (const { argument, column, kind } of fields) {
    const value = given[argument]
    if (value === null || value === undefined) continue
    const meant = await Promise.resolve()
      .then(() => kind.toColumn(value, desk))
      .catch(() => undefined)
    if (meant !== undefined) columns[column] = meant
  }
  return columns
}
