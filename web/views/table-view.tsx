import { lazy } from "react"
import { defineView } from "./define-view.ts"
import { type ShownTable, toTable } from "./shown-table.ts"

/** Comes with the first result: most conversations have none. */
export const ResultCard = lazy(async () => ({ default: (await import("./result-card.tsx")).ResultCard }))

/** `{ kind: "table", columns, rows, rowCount?, truncated?, warnings?, connectionId?, resultId?, sql? }`: rows as lists or as objects. */
export const tableView = defineView<ShownTable>({ kind: "table", read: toTable, Draw: ResultCard })
