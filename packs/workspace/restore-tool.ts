import { z } from "zod"
import {
  type AnyRow,
  failure,
  type OpenWorkspace,
  type RowsByTable,
  tableNames,
  type Tool,
  workspaceTables,
} from "../../core/pack.ts"
import { namesByTable, relatedCounts, relatedInWords } from "./delete-tool.ts"
import { capitalised, describeProposedRow, describeRow, nounOf, quotedHeadline, toReadable } from "./describe-row.ts"
import type { DeskRow } from "./tables/desk.ts"
import { cached } from "./tables/cached.ts"
import type { TableSpec } from "./tables/table.ts"
import { writeTool } from "./write-tool.ts"

const along = z.strictObject(
  Object.fromEntries(tableNames.map((name) => [name, z.array(workspaceTables[name].row).optional()])),
)

const inputOf = cached((table: TableSpec) =>
  z.strictObject({ [nounOf(table)]: workspaceTables[table.name].row, with: along.optional() }),
)

/**
 * Restores a deleted row and its dependents with their previous ids. Only an undo calls it, because only it has the
 * rows.
 */
export function restoreTool(table: TableSpec, open: OpenWorkspace): Tool {
  const noun = nounOf(table)
  return writeTool(
    {
      table,
      named: { name: table.restore, description: `Put a deleted ${noun} back as it was.`, examples: [] },
      input: inputOf(table),
      action: "restore",
      onlyUndoes: true,
      async plan(given, desk) {
        const row = given[noun] as DeskRow
        if (await desk.workspace.get(table.name, String(row.id)))
          throw failure("bad_request", { problem: `The ${noun} ${row.id} is there already` })
        const others = (given.with ?? {}) as RowsByTable
        return {
          write: { action: "restore", table: table.name, rows: [row as unknown as AnyRow], with: others },
          preview: {
            summary: `Put back ${noun} ${describeProposedRow(table, row, desk)}${relatedInWords(others)}`,
            title: `Put back ${noun} ${quotedHeadline(table, row)}${relatedCounts(others)}`,
            action: "safe_create",
            diff: { before: null, after: { ...toReadable(table, row, desk), ...namesByTable(others) } },
            target: String(row.id),
          },
        }
      },
      say: (row, desk, others) =>
        `${capitalised(noun)} put back: ${describeRow(table, row, desk)}${relatedInWords(others)}.`,
      inverse: ({ after }) => ({ tool: table.delete.name, input: { [table.argument]: after?.id } }),
    },
    open,
  )
}
