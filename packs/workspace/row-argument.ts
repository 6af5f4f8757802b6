import { z } from "zod"
import { nounOf } from "./describe-row.ts"
import { nameColumn } from "./tables/find-row.ts"
import { cached } from "./tables/cached.ts"
import type { TableSpec } from "./tables/table.ts"

/** The argument that names one row. */
export function rowArgument(table: TableSpec): z.ZodString {
  const column = nameColumn(table.name)
  const about = `The ${nounOf(table)}'s id${column ? `, or its exact ${column}` : ""}`
  return z.string().trim().min(1).max(1000).describe(about)
}

/** The arguments of a tool whose only argument is a row. */
export const rowArguments = cached((table: TableSpec) => z.strictObject({ [table.argument]: rowArgument(table) }))
