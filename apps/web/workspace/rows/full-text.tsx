import type { WorkspaceRows } from "../../../../client/index.ts"
import type { TableName } from "../../../../core/protocol/index.ts"
import { Plain } from "../../components/plain.tsx"
import { useFullRow } from "./use-full-row.ts"

interface FullTextProps<Name extends TableName> {
  readonly table: Name
  readonly row: WorkspaceRows[Name]
  readonly column: keyof WorkspaceRows[Name]
}

/** A text of a row: its beginning at once, and all of it once it is loaded. */
export function FullText<Name extends TableName>({ table, row, column }: FullTextProps<Name>) {
  const whole = useFullRow(table, row) ?? row
  return <Plain text={String(whole[column] ?? "")} />
}
