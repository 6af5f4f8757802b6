import { useState } from "react"
import type { WorkspaceRows } from "../../../src/client/index.ts"
import type { TableName } from "../../../src/protocol/index.ts"
import { attempt } from "../../parts/explain.ts"
import { toast } from "../../state/toasts.ts"
import { changeRow } from "./edit-row.ts"

export interface RowDraft<Row> {
  readonly value: <Column extends keyof Row>(column: Column) => Row[Column]
  readonly set: <Column extends keyof Row>(column: Column, value: Row[Column]) => void
  readonly isChanged: boolean
  readonly isSaving: boolean
  /** What the person had written where somebody else was first; undefined where nobody was. */
  readonly overtaken: Partial<Row> | undefined
  readonly save: () => Promise<boolean>
}

/**
 * A row that is being edited. Columns that the person has not touched stay live; those they have are saved only while the
 * row still holds what stood there when they began. Otherwise the newer row is shown, and their own words beside it.
 */
export function useRowDraft<Name extends TableName>(
  table: Name,
  live: WorkspaceRows[Name],
): RowDraft<WorkspaceRows[Name]> {
  type Row = WorkspaceRows[Name]
  const [draft, setDraft] = useState<Partial<Row>>({})
  const [seen, setSeen] = useState<Partial<Row>>({})
  const [overtaken, setOvertaken] = useState<Partial<Row>>()
  const [isSaving, setSaving] = useState(false)
  const columns = (Object.keys(draft) as (keyof Row)[]).filter((column) => draft[column] !== seen[column])
  return {
    value: (column) => (column in draft ? (draft[column] as Row[typeof column]) : live[column]),
    set(column, value) {
      setSeen((before) => (column in before ? before : { ...before, [column]: live[column] }))
      setDraft((before) => ({ ...before, [column]: value }))
    },
    isChanged: columns.length > 0,
    isSaving,
    overtaken,
    async save() {
      if (columns.length === 0) return true
      setSaving(true)
      let isSaved = false
      await attempt(async () => {
        const changed = await changeRow(table, live.id, { updates: pick(draft, columns), seen: pick(seen, columns) })
        if (changed.is === "gone") toast("This was deleted meanwhile.", "bad")
        isSaved = changed.is === "done"
        if (changed.is !== "stale") return
        setOvertaken(
          pick(
            draft,
            columns.filter((column) => draft[column] !== changed.newer[column]),
          ),
        )
        setDraft({})
        setSeen({})
      })
      setSaving(false)
      return isSaved
    },
  }
}

const pick = <Row, Column extends keyof Row>(row: Partial<Row>, columns: readonly Column[]): Partial<Row> =>
  Object.fromEntries(columns.map((column) => [column, row[column]])) as Partial<Row>
