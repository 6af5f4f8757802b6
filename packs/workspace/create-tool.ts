import { z } from "zod"
import { type OpenWorkspace, type Tool, workspaceTables } from "../../core/pack.ts"
import { capitalised, describeNewRow, describeRow, nounOf, quotedHeadline, toReadable } from "./describe-row.ts"
import type { Desk, DeskRow, Value } from "./tables/desk.ts"
import { cached } from "./tables/cached.ts"
import type { TableSpec } from "./tables/table.ts"
import { type WriteInput, type WritePlan, writeTool } from "./write-tool.ts"

/** Marks a new row as suggested by the assistant and approved by the person, if the table has these columns. */
const OURS = { isAiSuggested: 1, isApproved: 1 }

export function createTool(table: TableSpec, open: OpenWorkspace): Tool {
  const { create, argument } = table
  return writeTool(
    {
      table,
      named: create,
      input: inputOf(table),
      action: "insert",
      plan: (given, desk) => planCreate(table, given, desk),
      say: (row, desk) => `${capitalised(nounOf(table))} ${create.done}: ${describeRow(table, row, desk)}.`,
      inverse: ({ after }) => ({ tool: table.delete.name, input: { [argument]: after?.id } }),
    },
    open,
  )
}

const inputOf = cached((table: TableSpec) => {
  const fields = table.fields.filter((field) => field.create !== "never")
  const input = fields.map((field) => {
    const schema = field.create === "required" ? field.kind.schema : field.kind.schema.nullish()
    const unsaid = field.unsaid && `default: ${field.unsaid}`
    const about = [field.about, unsaid].filter(Boolean).join("; ")
    return [field.argument, about ? schema.describe(about) : schema]
  })
  return z.strictObject(Object.fromEntries(input) as z.core.$ZodShape)
})

async function planCreate(table: TableSpec, given: WriteInput, desk: Desk): Promise<WritePlan> {
  const { defaults } = workspaceTables[table.name]
  const ours = Object.entries(OURS).filter(([column]) => column in defaults)
  const row: Record<string, Value> = { ...defaults, ...Object.fromEntries(ours) }
  for (const { argument, column, kind } of table.fields) {
    const value = given[argument]
    if (value !== null && value !== undefined) row[column] = await kind.toColumn(value, desk)
  }
  const what = `${capitalised(table.create.verb)} ${nounOf(table)}`
  return {
    write: { action: "insert", table: table.name, data: row },
    preview: {
      summary: `${what} ${describeNewRow(table, row, desk)}`,
      title: `${what} ${quotedHeadline(table, row as DeskRow)}`,
      action: "safe_create",
      diff: { before: null, after: toReadable(table, row as DeskRow, desk) },
    },
  }
}
