import { z } from "zod"
import {
  type CallOutcome,
  type KnownTable,
  own,
  readTable,
  type Row,
  type Rows,
  type TableName,
  tableNames,
  workspaceTables,
} from "../../../core/pack.ts"
import { rowsOfAnswer, malformedAnswer } from "./pages.ts"

/** Checks rows from a device. Throws a sentence; nothing is lost, because it is a read. */
export function checkRow(name: TableName, given: unknown, id?: string): Row {
  requireOfTable(name, given)
  const { noun } = readTable(name)
  const row = readAs(schemas[name], given, noun)
  if (id !== undefined && row.id !== id) throw malformedAnswer(`the ${noun} ${row.id} when asked for ${id}`)
  return row
}

/**
 * Checks a row if only some columns were requested: these must be present. A row with all columns is checked
 * completely.
 */
export function checkColumns(name: TableName, given: unknown, columns: readonly string[]): Row {
  requireOfTable(name, given)
  const whole = schemas[name].safeParse(given)
  if (whole.success && readTable(name).columns.every((column) => column in Object(given))) return whole.data
  const { shape } = schemas[name]
  const wanted = Object.fromEntries(["id", ...columns].map((column) => [column, shape[column] as z.ZodType]))
  return readAs(z.object(wanted) as unknown as z.ZodType<Row>, given, readTable(name).noun)
}

export function checkRows(name: TableName, given: unknown): Row[] {
  return rowsOfAnswer(given).map((row) => checkRow(name, row))
}

function readAs(schema: z.ZodType<Row>, given: unknown, noun: string): Row {
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  const { path, message } = parsed.error.issues[0] ?? { path: [], message: "it is odd" }
  const [column] = path
  const found = column === undefined ? undefined : own(Object(given) as Record<string, unknown>, String(column))
  const is = column === undefined ? "" : found === undefined ? ", and it is missing" : `, and it is ${brief(found)}`
  const { id } = Object(given) as { id?: unknown }
  const which = id === undefined ? "" : ` (id: ${brief(id)})`
  throw malformedAnswer(`a ${noun}${which}${UNREADABLE}${[...path.map(String), message].join(": ")}${is}`)
}

export const UNREADABLE = " that cannot be read: "

/** A value as JSON, short enough for a sentence. */
export function brief(value: unknown): string {
  const json = JSON.stringify(value) ?? "nothing"
  return json.length <= 100 ? json : `${json.slice(0, 100)}…`
}

export function checkByTable(given: CallOutcome["with"] = {}): Rows {
  return Object.fromEntries(
    Object.entries(given).map(([name, rows]) => [name, checkRows(readTable(name).name, rows)]),
  ) as Rows
}

/** The schemas for a device's rows: missing nullable columns are null, and missing flags have their default. */
const schemas = Object.fromEntries(tableNames.map((name) => [name, toSchema(readTable(name))])) as Record<
  TableName,
  z.ZodObject & z.ZodType<Row>
>

function toSchema({ row, defaults }: KnownTable): z.ZodObject & z.ZodType<Row> {
  const columns = Object.entries(row.shape).map(([column, schema]) => {
    const fallback = defaults[column]
    const mayLack = fallback === null || typeof fallback === "number"
    return [column, mayLack ? (schema as z.ZodType).nullish().transform((value) => value ?? fallback) : schema]
  })
  return z.object(Object.fromEntries(columns)) as unknown as z.ZodObject & z.ZodType<Row>
}

/**
 * Refuses a row that has every column of another table and lacks some of this one, because most columns are optional.
 */
function requireOfTable(name: TableName, given: unknown): void {
  if (typeof given !== "object" || given === null) return
  const has = (other: TableName) => Object.keys(workspaceTables[other].row.shape).every((column) => column in given)
  if (has(name) || !tableNames.some((other) => other !== name && has(other))) return
  throw malformedAnswer(`a row of another table where a ${readTable(name).noun} was asked for`)
}
