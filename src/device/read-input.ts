import { z } from "zod"
import { failure } from "../protocol/errors.ts"
import { JsonObject } from "../protocol/schema.ts"
import { DeviceFilters } from "../protocol/socket.ts"
import { mendValue } from "../protocol/text.ts"
import {
  type Reference,
  type TableName,
  tableNames,
  type TableSpecification,
  workspaceTables,
} from "../protocol/workspace-tables.ts"
import type { Row, RowsByTable } from "./local-tables.ts"

/** What a caller says of rows, held against the specification of its table. What does not fit is refused with a sentence. */

export interface KnownTable extends TableSpecification {
  readonly name: TableName
  /** Its columns for a SELECT. */
  readonly columns: string
  /** Who names its rows. */
  readonly referredBy: readonly (Reference & { readonly column: string })[]
  readonly schemas: Schemas
}

interface Schemas {
  readonly filters: z.ZodType<Filters>
  readonly insert: z.ZodType<Row>
  readonly updates: z.ZodType<Row>
  readonly expect: z.ZodType<Row>
  readonly row: z.ZodType<Row>
}

type Filters = DeviceFilters & Readonly<Record<string, unknown>>

export function readTable(name: string): KnownTable {
  const table = known.get(name)
  if (!table) throw refuse(`There is no table "${name}". There are: ${tableNames.join(", ")}.`)
  return table
}

export function readFilters({ name, schemas }: KnownTable, given: unknown): Filters {
  return read(schemas.filters, given, `The filters of ${name}`)
}

export const readId = (given: unknown): string => read(Id, given, "id")

export function readNewRow({ name, made, schemas }: KnownTable, given: unknown): Row {
  const own = made.find((column) => Object.hasOwn(Object(given), column))
  if (own) throw refuse(`${name}.${own} is made by this device; leave it out.`)
  return read(schemas.insert, given, name)
}

export function readUpdates(table: KnownTable, given: unknown): { id: string; updates: Row; expect: Row } {
  const { id, updates, expect } = read(Update, given, "An update")
  const own = table.made.find((column) => Object.hasOwn(updates, column))
  if (own) throw refuse(`${table.name}.${own} is made by this device and cannot be changed.`)
  const { schemas, name } = table
  return {
    id,
    updates: read(schemas.updates, updates, name),
    expect: read(schemas.expect, expect ?? {}, `What is expected of ${name}`),
  }
}

export function readRows(table: KnownTable, given: unknown): { rows: Row[]; with: RowsByTable } {
  const { rows, with: others } = read(Restore, given, "A restore")
  const ofTable = ({ schemas, name }: KnownTable, theirs: readonly unknown[]) =>
    theirs.map((row) => read(schemas.row, row, name))
  const more = Object.entries(others ?? {}).map(([name, theirs]) => [name, ofTable(readTable(name), theirs)])
  return { rows: ofTable(table, rows), with: Object.fromEntries(more) as RowsByTable }
}

/** Text that cannot be stored comes from models: it is mended, not refused. */
export function read<T>(schema: z.ZodType<T>, given: unknown, what: string): T {
  const parsed = schema.safeParse(mendValue(given))
  if (parsed.success) return parsed.data
  const { path, message } = parsed.error.issues[0] ?? { path: [], message: "is not as it should be" }
  throw refuse([what, ...path.map(String), message].join(": "))
}

const refuse = (problem: string) => failure("bad_request", { problem })

const Id = z.string().min(1).max(200)
const Update = z.strictObject({ id: Id, updates: JsonObject, expect: JsonObject.nullish() })
const Restore = z.strictObject({
  rows: z.array(JsonObject).max(10_000),
  with: z.record(z.string(), z.array(JsonObject).max(10_000)).nullish(),
})

const known = new Map(tableNames.map((name) => [name as string, toKnown(name)]))

function toKnown(name: TableName): KnownTable {
  const specification = workspaceTables[name]
  const referredBy = tableNames.flatMap((other) =>
    Object.entries(workspaceTables[other].references)
      .filter(([, { table }]) => table === name)
      .map(([column, { whenGone }]) => ({ table: other, column, whenGone })),
  )
  const columns = Object.keys(specification.row.shape)
  return {
    ...specification,
    name,
    columns: columns.map((column) => `"${column}"`).join(", "),
    referredBy,
    schemas: toSchemas(specification),
  }
}

function toSchemas({ row, made, defaults, ...table }: TableSpecification): Schemas {
  const said = Object.entries(row.shape).filter(([column]) => !made.includes(column))
  const insert = said.map(([column, schema]) => [
    column,
    column in defaults ? (schema as z.ZodType).default(defaults[column]) : schema,
  ])
  const filters = {
    ...Object.fromEntries(table.equals.map((column) => [column, (row.shape[column] as z.ZodType).nullish()])),
    search: DeviceFilters.shape.search,
    orderBy: z.enum(table.orders).nullish(),
    ...(table.due ? DeviceFilters.pick({ dueDateFrom: true, dueDateTo: true }).shape : {}),
    ...(table.hides ? DeviceFilters.pick({ includeArchived: true }).shape : {}),
  }
  return {
    filters: z.strictObject(filters) as unknown as z.ZodType<Filters>,
    insert: z.strictObject(Object.fromEntries(insert)) as z.ZodType<Row>,
    updates: z.strictObject(Object.fromEntries(said)).partial() as z.ZodType<Row>,
    expect: z.strictObject(row.shape).partial() as z.ZodType<Row>,
    row: z.strictObject(row.shape) as z.ZodType<Row>,
  }
}
