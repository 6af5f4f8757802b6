import { failure } from "../../../core/protocol/errors.ts"
import { own } from "../../../core/shared/text/json.ts"
import type { IdsByTable } from "../../../core/protocol/workspace.ts"
import type { KnownTable, Rows } from "./known-tables.ts"

/** What goes along was shown to a person: other rows than those were not agreed to. */
export function requireShown(
  { noun }: KnownTable,
  id: string,
  { shown, gone }: { shown: IdsByTable; gone: Rows },
): void {
  const tables = new Set([...Object.keys(shown), ...Object.keys(gone)])
  const changed = [...tables].filter((called) => {
    const before = new Set(own(shown, called as keyof IdsByTable))
    const now = new Set((own(gone, called as keyof Rows) ?? []).map((row) => String(row.id)))
    return before.symmetricDifference(now).size > 0
  })
  if (changed.length > 0) throw failure("row_stale", { noun, id, columns: changed.join(", ") })
}
