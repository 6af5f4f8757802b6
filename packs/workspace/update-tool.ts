import { z } from "zod"
import { failure, type OpenWorkspace, type Tool } from "../../core/pack.ts"
import { capitalised, describeRow, nounOf, proposedValue, quotedHeadline, toReadable } from "./describe-row.ts"
import type { Desk, Value } from "./tables/desk.ts"
import { findRowByName } from "./tables/find-row.ts"
import { loadNames } from "./load-names.ts"
import { rowArgument } from "./row-argument.ts"
import { cached } from "./tables/cached.ts"
import type { ColumnField, ToolText, TableSpec } from "./tables/table.ts"
import { type Done, type WriteInput, MAX_DELETED_CHARACTERS, type WritePlan, writeTool } from "./write-tool.ts"

/** Changes columns of a row if the row is still as it was shown. */
export function updateTool(table: TableSpec, update: ToolText, open: OpenWorkspace): Tool {
  return writeTool(
    {
      table,
      named: update,
      input: inputOf(table),
      action: "update",
      plan: (given, desk) => planUpdate(table, given, desk),
      say: (row, desk) => `${capitalised(nounOf(table))} updated: ${describeRow(table, row, desk)}.`,
      inverse: (done) => ({
        tool: update.name,
        input: { [table.argument]: done.after?.id, ...oldValues(table, done) },
      }),
    },
    open,
  )
}

const inputOf = cached((table: TableSpec) => {
  const input = table.fields.map(({ argument, kind, about }) => {
    const schema = kind.schema.nullish()
    return [argument, about ? schema.describe(about) : schema]
  })
  return z.strictObject({ [table.argument]: rowArgument(table), ...Object.fromEntries(input) })
})

interface Change {
  readonly field: ColumnField
  readonly before: Value
  readonly after: Value
}

async function planUpdate(table: TableSpec, given: WriteInput, desk: Desk): Promise<WritePlan> {
  const row = await findRowByName(desk, table.name, String(given[table.argument]))
  await loadNames(table, [row], desk)
  const changes: Change[] = []
  for (const field of table.fields) {
    const value = given[field.argument]
    if (value === null || value === undefined) continue
    const [before, after] = [row[field.column] ?? null, await field.kind.toColumn(value, desk)]
    const isSame = field.kind.isSame?.(before, after, desk) ?? after === before
    if (!isSame) changes.push({ field, before, after })
  }
  const about = `${nounOf(table)} ${quotedHeadline(table, row)}`
  if (changes.length === 0)
    throw failure("bad_request", { problem: `Nothing would change: the ${about} already has these values` })
  requireKept(about, changes)
  const updates = Object.fromEntries(changes.map(({ field, after }) => [field.column, after]))
  const columns = Object.keys(updates)
  return {
    write: { action: "update", table: table.name, id: String(row.id), updates, expect: row },
    preview: {
      summary: `Update ${about}: ${changes.map((change) => inWords(change, desk)).join(", ")}`,
      title: `Update ${nounOf(table)} ${quotedHeadline(table, row)}`,
      action: changes.some(({ field, before, after }) => field.kind.loses(before, after))
        ? "destructive_update"
        : "safe_update",
      diff: {
        before: toReadable(table, row, desk, columns),
        after: toReadable(table, { ...row, ...updates }, desk, columns),
      },
      target: String(row.id),
    },
  }
}

/** Refuses a change whose undo, a call with the previous values, would exceed the limits of the arguments. */
function requireKept(about: string, changes: readonly Change[]): void {
  const isTooLong = ({ field, before }: Change) =>
    typeof before === "string" && before.length > (field.kind.most ?? Number.POSITIVE_INFINITY)
  const long = changes.find(isTooLong)
  const all = JSON.stringify(changes.map(({ before }) => before)).length
  if (!long && all <= MAX_DELETED_CHARACTERS) return
  const what = long ? (long.field.label ?? long.field.argument.replaceAll("_", " ")) : "what it says"
  const problem = `The ${about} is too long for an undo (${what}): change that by hand`
  throw failure("bad_request", { problem })
}

function inWords({ field, before, after }: Change, desk: Desk): string {
  const { label, argument, kind } = field
  const [from, to] = [before, after].map((value) => proposedValue(kind, value, desk, "forDeciding"))
  return `${label ?? argument.replaceAll("_", " ")} ${from} → ${to}`
}

/** The arguments that restore the previous values. */
function oldValues({ fields }: TableSpec, { before, after }: Done): Record<string, unknown> {
  if (!before || !after) throw new TypeError("what was there before is not known")
  const changed = fields.filter(({ column }) => before[column] !== after[column])
  return Object.fromEntries(
    changed.map(({ argument, column, kind }) => [argument, kind.toArgument(before[column] ?? null)]),
  )
}
