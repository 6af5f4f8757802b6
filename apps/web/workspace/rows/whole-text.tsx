import type { WorkspaceRows } from "../../../../client/index.ts"
import type { TableName } from "../../../../core/protocol/index.ts"
import { Plain } from "../../parts/plain.tsx"
import { useWholeRow } from "./use-whole-row.ts"

interface WholeTextProps<Name extends TableName> {
  readonly table: Name
  readonly row: WorkspaceRows[Name]
  readonly column: keyof WorkspaceRows[Name]
}

/** A text of a row: its beginning at once, and all of it once it is loaded. */
export function WholeText<Name extends TableName>({ table, row, column }: WholeTextProps<Name>) {
  const whole = useWholeRow(table, row) ?? row
  return <Plain text={String(whole[column] ?? "")} />
}
