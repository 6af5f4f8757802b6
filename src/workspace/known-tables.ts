import { z } from "zod"
import { failure } from "../protocol/errors.ts"
import { lazily } from "../protocol/lazily.ts"
import { DeviceFilters } from "../protocol/socket.ts"
import {
  type Reference,
  type TableName,
  tableNames,
  type TableSpecification,
  workspaceTables,
} from "../protocol/workspace-tables.ts"

export type Row = Readonly<Record<string, string | number | null>>
/** Rows by the table they are of. */
export type Rows = Readonly<Partial<Record<TableName, readonly Row[]>>>

/** A table's specification with what follows from it. */
export interface KnownTable extends TableSpecification {
  readonly name: TableName
  readonly columns: readonly string[]
  /** Who names its rows. */
  readonly referredBy: readonly (Reference & { readonly column: string })[]
  readonly schemas: Schemas
}

/** What may be said of rows, and of which rows. */
export interface Schemas {
  readonly filters: z.ZodType<Filters>
  readonly insert: z.ZodType<Row>
  readonly updates: z.ZodType<Row>
  readonly expect: z.ZodType<Row>
  readonly row: z.ZodType<Row>
}

export type Filters = DeviceFilters & Readonly<Record<string, unknown>>

/** The table of a name that a caller gives: one of six, or a sentence that lists them. */
export function readTable(name: string): KnownTable {
  if (!isTableName(name))
    throw failure("bad_request", { problem: `There is no table "${name}". There are: ${tableNames.join(", ")}.` })
  const table = known.get(name) ?? toKnown(name)
  known.set(name, table)
  return table
}

const isTableName = (name: string): name is TableName => Object.hasOwn(workspaceTables, name)
/** Those that somebody has asked for. */
const known = new Map<TableName, KnownTable>()

function toKnown(name: TableName): KnownTable {
  const specification = workspaceTables[name]
  const referredBy = tableNames.flatMap((other) =>
    Object.entries(workspaceTables[other].references)
      .filter(([, { table }]) => table === name)
      .map(([column, { whenGone }]) => ({ table: other, column, whenGone })),
  )
  const columns = Object.keys(specification.row.shape)
  return { ...specification, name, columns, referredBy, schemas: toSchemas(specification) }
}

function toSchemas({ row, made, defaults, ...table }: TableSpecification): Schemas {
  const said = Object.entries(row.shape).filter(([column]) => !made.includes(column))
  const insert = () =>
    said.map(([column, schema]) => [
      column,
      column in defaults ? (schema as z.ZodType).default(defaults[column]) : schema,
    ])
  const filters = () => ({
    ...Object.fromEntries(table.equals.map((column) => [column, (row.shape[column] as z.ZodType).nullish()])),
    search: DeviceFilters.shape.search,
    orderBy: z.enum(table.orders).nullish(),
    ...(table.due ? DeviceFilters.pick({ dueDateFrom: true, dueDateTo: true }).shape : {}),
    ...(table.days ? DeviceFilters.pick({ timeZone: true }).shape : {}),
    ...(table.hides ? DeviceFilters.pick({ includeArchived: true }).shape : {}),
  })
  return {
    filters: lazily(() => z.strictObject(filters())) as unknown as z.ZodType<Filters>,
    insert: lazily(() => z.strictObject(Object.fromEntries(insert()))) as z.ZodType<Row>,
    updates: lazily(() => z.strictObject(Object.fromEntries(said)).partial()) as z.ZodType<Row>,
    expect: lazily(() => z.strictObject(row.shape).partial()) as z.ZodType<Row>,
    row: lazily(() => z.strictObject(row.shape)) as z.ZodType<Row>,
  }
}
