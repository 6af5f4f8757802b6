import { z } from "zod"
import { failure } from "../../protocol/errors.ts"
import type { CallOutcome } from "../../protocol/socket.ts"
import type { Applied, WorkspaceWrite } from "../../protocol/workspace-port.ts"
import { type TableName, tableNames, workspaceTables } from "../../protocol/workspace-tables.ts"
import { type KnownTable, readTable, type Row, type Rows } from "../../workspace/known-tables.ts"

/** More than fit into a frame, where they are rows. */
const MOST_ROWS = 10_000

/** What a device says its rows are, checked as any input is. Throws a sentence: of a read, nothing is lost. */
export function checkRow(name: TableName, given: unknown, id?: string): Row {
  const { noun } = readTable(name)
  if (isOfAnotherTable(name, given)) throw odd(`a row of another table where a ${noun} was asked for`)
  const parsed = schemas[name].safeParse(given)
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0] ?? { path: [], message: "it is odd" }
    throw odd([`a ${noun} that cannot be read`, ...path.map(String), message].join(": "))
  }
  if (id !== undefined && parsed.data.id !== id) throw odd(`the ${noun} ${parsed.data.id} when asked for ${id}`)
  return parsed.data
}

export function checkRows(name: TableName, given: unknown): Row[] {
  if (!Array.isArray(given)) throw odd("no rows")
  if (given.length > MOST_ROWS) throw odd(`${given.length} rows, and ${MOST_ROWS} are the most; ask for fewer`)
  return given.map((row) => checkRow(name, row))
}

/** What a device says it has done. Where that cannot be read it may have been done, and nobody claims either. */
export function checkApplied(
  { action, table }: Pick<WorkspaceWrite, "action" | "table">,
  outcome: CallOutcome,
  asked: { readonly id?: string; readonly ids?: readonly string[]; readonly before?: Row } = {},
): Applied | "nothing" {
  const applied = (rows: { before?: Row | null; after?: Row | null; with?: Rows }) =>
    ({ action, table, before: null, after: null, with: {}, ...rows }) as unknown as Applied
  try {
    switch (action) {
      case "insert":
        return applied({ after: checkRow(table, outcome.row) })
      case "update": {
        const after = checkRow(table, outcome.row, asked.id)
        const before = outcome.before ? checkRow(table, outcome.before, String(after.id)) : asked.before
        return applied({ before: before ?? null, after })
      }
      case "delete": {
        if (outcome.deleted === false) return "nothing"
        if (outcome.deleted !== true) throw odd("neither that it was deleted nor that it was not")
        const before = outcome.row || !asked.before ? checkRow(table, outcome.row, asked.id) : asked.before
        return applied({ before, with: checkByTable(outcome.with) })
      }
      case "restore": {
        const [first, ...rest] = checkRows(table, outcome.rows)
        const ids = [first, ...rest].map((row) => row?.id)
        if (!first || (asked.ids && asked.ids.join() !== ids.join())) throw odd("other rows than were put back")
        return applied({ after: first, with: rest.length > 0 ? { [table]: rest } : {} })
      }
    }
  } catch (error) {
    throw failure("outcome_unknown", {
      problem: `The device answered, but not what it has done: ${(error as Error).message}.`,
    })
  }
}

function checkByTable(given: CallOutcome["with"] = {}): Rows {
  return Object.fromEntries(
    Object.entries(given).map(([name, rows]) => [name, checkRows(readTable(name).name, rows)]),
  ) as Rows
}

const odd = (what: string) => new Error(`the device answered with ${what}`)

/** What another program keeps: what may be empty and is left out is empty, a flag that is left out has its default. */
const schemas = Object.fromEntries(tableNames.map((name) => [name, toSchema(readTable(name))])) as Record<
  TableName,
  z.ZodType<Row>
>

function toSchema({ row, defaults }: KnownTable): z.ZodType<Row> {
  const columns = Object.entries(row.shape).map(([column, schema]) => {
    const fallback = defaults[column]
    const mayLack = fallback === null || typeof fallback === "number"
    return [column, mayLack ? (schema as z.ZodType).nullish().transform((value) => value ?? fallback) : schema]
  })
  return z.object(Object.fromEntries(columns)) as unknown as z.ZodType<Row>
}

/** It has every column of another table and lacks some of its own: what all tables have would pass for a row of this one. */
function isOfAnotherTable(name: TableName, given: unknown): boolean {
  if (typeof given !== "object" || given === null) return false
  const has = (other: TableName) => Object.keys(workspaceTables[other].row.shape).every((column) => column in given)
  return !has(name) && tableNames.some((other) => other !== name && has(other))
}
