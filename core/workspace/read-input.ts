import { z } from "zod"
import { failure } from "../protocol/errors.ts"
import { JsonObject } from "../protocol/schema.ts"
import { mendValue } from "../shared/text/text.ts"
import { type Filters, type KnownTable, readTable, type Row, type Rows } from "./known-tables.ts"
import { boundedRecord } from "../shared/text/bounded-list.ts"

export function readFilters({ name, schemas }: KnownTable, given: unknown): Filters {
  return parseInput(schemas.filters, given, `The filters of ${name}`)
}

export const readId = (given: unknown): string => parseInput(Id, given, "id")

/** Returns a new row with its defaults, without the columns that the workspace sets. */
export function readNewRow({ name, made, schemas }: KnownTable, given: unknown): Row {
  const own = made.find((column) => Object.hasOwn(Object(given), column))
  if (own) throw refuse(`${name}.${own} is made by the workspace; leave it out.`)
  return parseInput(schemas.insert, given, name)
}

export function readUpdates(table: KnownTable, given: unknown): { id: string; updates: Row; expect: Row } {
  const { id, updates, expect } = parseInput(Update, given, "An update")
  const own = table.made.find((column) => Object.hasOwn(updates, column))
  if (own) throw refuse(`${table.name}.${own} is made by the workspace and cannot be changed.`)
  return { id, updates: parseInput(table.schemas.updates, updates, table.name), expect: readExpected(table, expect) }
}

export function readExpected({ name, schemas }: KnownTable, given: unknown): Row {
  return parseInput(schemas.expect, given ?? {}, `What is expected of ${name}`)
}

export function readRestoredRows(table: KnownTable, given: unknown): { rows: Row[]; with: Rows } {
  const { rows, with: others } = parseInput(Restore, given, "A restore")
  const ofTable = ({ schemas, name }: KnownTable, theirs: readonly unknown[]) =>
    theirs.map((row) => parseInput(schemas.row, row, name))
  const more = Object.entries(others ?? {}).map(([name, theirs]) => [name, ofTable(readTable(name), theirs)])
  return { rows: ofTable(table, rows), with: Object.fromEntries(more) as Rows }
}

/** Text that cannot be stored is repaired and not refused, because models write it. */
export function parseInput<T>(schema: z.ZodType<T>, given: unknown, what: string): T {
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
  with: boundedRecord(z.record(z.string(), z.array(JsonObject).max(10_000)), 100).nullish(),
})
