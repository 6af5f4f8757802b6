import { z } from "zod"
import { failure } from "../protocol/errors.ts"
import { DeviceFilters } from "../protocol/socket.ts"
import type { RowCounts } from "../protocol/workspace-file.ts"
import {
  type Reference,
  type TableName,
  tableNames,
  type TableSpecification,
  workspaceTables,
} from "../protocol/workspace-tables.ts"

/** A row of a workspace table, as stored in SQL: column values by column name. */
export type Row = Readonly<Record<string, string | number | null>>
/** Rows by table. */
export type Rows = Readonly<Partial<Record<TableName, readonly Row[]>>>

/** A table's specification, with data derived from it. */
export interface KnownTable extends TableSpecification {
  readonly name: TableName
  readonly columns: readonly string[]
  /** The columns of other tables that refer to its rows. */
  readonly referredBy: readonly (Reference & { readonly column: string })[]
  readonly schemas: Schemas
}

/** The schemas for filters and rows. */
export interface Schemas {
  readonly filters: z.ZodType<Filters>
  readonly insert: z.ZodType<Row>
  readonly updates: z.ZodType<Row>
  readonly expect: z.ZodType<Row>
  readonly row: z.ZodType<Row>
}

export type Filters = DeviceFilters & Readonly<Record<string, unknown>>

/** Returns the table with this name. Throws `bad_request` with the list of tables if there is none. */
export function readTable(name: string): KnownTable {
  if (!isTableName(name))
    throw failure("bad_request", { problem: `There is no table "${name}". There are: ${tableNames.join(", ")}.` })
  const table = known.get(name) ?? toKnown(name)
  known.set(name, table)
  return table
}

const isTableName = (name: string): name is TableName => Object.hasOwn(workspaceTables, name)
/** The tables that were used so far. */
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

/** The columns of a table that contain free text. */
export function textColumns({ row, made, references }: KnownTable): string[] {
  const isText = (schema: unknown) =>
    (schema instanceof z.ZodNullable ? schema.unwrap() : schema) instanceof z.ZodString
  const columns = Object.entries(row.shape).filter(([, schema]) => isText(schema))
  return columns.flatMap(([column]) => (made.includes(column) || column in references ? [] : column))
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
    filters: z.strictObject(filters()) as unknown as z.ZodType<Filters>,
    insert: z.strictObject(Object.fromEntries(insert())) as z.ZodType<Row>,
    updates: z.strictObject(Object.fromEntries(said)).partial() as z.ZodType<Row>,
    expect: z.strictObject(row.shape).partial() as z.ZodType<Row>,
    row: z.strictObject(row.shape) as z.ZodType<Row>,
  }
}

export function countRows(rows: Rows): RowCounts {
  return Object.fromEntries(tableNames.map((name) => [name, rows[name]?.length ?? 0])) as RowCounts
}
