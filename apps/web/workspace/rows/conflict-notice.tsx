import { Button } from "../../components/button.tsx"
import { Plain } from "../../components/plain.tsx"
import { isDay } from "../../../../core/protocol/index.ts"
import { useWorkspace } from "../../state/workspace.ts"
import { type Key, rich, t } from "../../strings/strings.ts"
import { assigneesOf, PRIORITIES, STATUSES } from "../task-fields.ts"
import { formatDue } from "../due.tsx"
import type { RowDraft } from "./use-row-draft.ts"

/** Shown when the row changed while the user edited it: the form has the newer values, and the user can restore their own. */
export function ConflictNotice<Row extends object>({ draft }: { readonly draft: RowDraft<Row> }) {
  const { conflict } = draft
  const { projects, clients } = useWorkspace().view
  if (!conflict) return null
  const nameOf = (id: unknown) => [...projects.rows, ...clients.rows].find((row) => row.id === id)?.name
  const columns = Object.keys(conflict) as (keyof Row & string)[]
  return (
    <div role="alert" className="mb-4 space-y-2 rounded-xl bg-warn-soft px-3.5 py-2.5 text-sm text-warn">
      <p>{t("workspace.overtaken")}</p>
      {columns.map((column) => {
        const mine = conflict[column] as Row[typeof column]
        return (
          <div key={column} className="flex items-start gap-2">
            <p className="max-h-32 min-w-0 flex-1 overflow-auto whitespace-pre-wrap [overflow-wrap:anywhere]">
              {rich("workspace.overtakenValue", {
                column: t(COLUMNS.get(column) ?? "workspace.content"),
                value: <Plain text={nameOf(mine) ?? choiceLabels(column, mine)} />,
              })}
            </p>
            <Button small onClick={() => draft.set(column, mine)} disabled={draft.value(column) === mine}>
              {t("workspace.useMine")}
            </Button>
          </div>
        )
      })}
    </div>
  )
}

const COLUMNS: ReadonlyMap<string, Key> = new Map(
  Object.entries<Key>({
    title: "common.title",
    name: "common.name",
    description: "workspace.description",
    content: "workspace.content",
    status: "workspace.status",
    priority: "workspace.priority",
    dueDate: "workspace.due",
    date: "workspace.date",
    assignee: "workspace.assignee",
    projectId: "workspace.project",
    clientId: "workspace.client",
    parentId: "workspace.partOf",
    industry: "workspace.industry",
    aiSummary: "workspace.summary",
  }),
)

function choiceLabels(column: string, value: unknown): string {
  if (value === null || value === "") return t("common.empty")
  const choice = [...STATUSES, ...PRIORITIES].find(([each]) => each === value)
  if (choice && /status|priority/.test(column)) return t(choice[1])
  if (column === "assignee") return assigneesOf({ assignee: String(value) }).join(", ")
  if (/date/i.test(column) && (typeof value === "number" || isDay(value))) return formatDue(value, Date.now())
  return String(value)
}
