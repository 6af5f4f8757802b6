import { useState } from "react"
import type { WorkspaceRows } from "../../../../client/index.ts"
import type { TableName } from "../../../../core/protocol/index.ts"
import { toast } from "../../state/toasts.ts"
import { t } from "../../strings/strings.ts"
import { changeRow } from "./edit-row.ts"

export interface RowDraft<Row> {
  readonly value: <Column extends keyof Row>(column: Column) => Row[Column]
  readonly set: <Column extends keyof Row>(column: Column, value: Row[Column]) => void
  readonly isChanged: boolean
  /** The values that the user entered before the row changed; undefined if it did not change. */
  readonly conflict: Partial<Row> | undefined
  /** Returns whether it was saved. Throws the error of the server if it was refused. */
  readonly save: () => Promise<boolean>
}

/**
 * A row that is being edited. Columns that the user did not touch stay live. The others are saved only if the row still
 * has the values that it had when the user started; otherwise the newer row is shown next to the values of the user.
 */
export function useRowDraft<Name extends TableName>(
  table: Name,
  live: WorkspaceRows[Name],
): RowDraft<WorkspaceRows[Name]> {
  type Row = WorkspaceRows[Name]
  const [draft, setDraft] = useState<Partial<Row>>({})
  const [seen, setSeen] = useState<Partial<Row>>({})
  const [conflict, setConflict] = useState<Partial<Row>>()
  const columns = (Object.keys(draft) as (keyof Row)[]).filter((column) => draft[column] !== seen[column])
  return {
    value: (column) => (column in draft ? (draft[column] as Row[typeof column]) : live[column]),
    set(column, value) {
      setSeen((before) => (column in before ? before : { ...before, [column]: live[column] }))
      setDraft((before) => ({ ...before, [column]: value }))
    },
    isChanged: columns.length > 0,
    conflict,
    async save() {
      if (columns.length === 0) return true
      const changed = await changeRow(table, live.id, { updates: pick(draft, columns), seen: pick(seen, columns) })
      if (changed.is === "gone") toast(t("workspace.deletedMeanwhile"), "bad")
      if (changed.is === "stale") {
        setConflict(
          pick(
            draft,
            columns.filter((column) => draft[column] !== changed.newer[column]),
          ),
        )
        setDraft({})
        setSeen({})
      }
      return changed.is === "done"
    },
  }
}

const pick = <Row, Column extends keyof Row>(row: Partial<Row>, columns: readonly Column[]): Partial<Row> =>
  Object.fromEntries(columns.map((column) => [column, row[column]])) as Partial<Row>
