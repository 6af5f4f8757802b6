import { ArrowRight, Ellipsis, Pencil, Trash } from "../../components/icons.tsx"
import { useState } from "react"
import type { Task } from "../../../../core/protocol/index.ts"
import { Confirm } from "../../components/dialog.tsx"
import { attempt } from "../../components/explain.ts"
import { escapeHidden } from "../../../../client/index.ts"
import { Menu, MenuItem, MenuLine } from "../../components/menu.tsx"
import { toast } from "../../state/toasts.ts"
import { t } from "../../strings/strings.ts"
import { changeRow, deleteRow } from "../rows/edit-row.ts"
import { STATUSES } from "../task-fields.ts"

interface TaskMenuProps {
  readonly task: Task
  readonly onOpen: () => void
  readonly onMove?: (status: Task["status"]) => void
}

/** The actions for a task that is not open. */
export function TaskMenu({ task, onOpen, onMove = (status) => void moveTask(task, status) }: TaskMenuProps) {
  const [isDeleting, setDeleting] = useState(false)
  return (
    <>
      <Menu
        align="end"
        trigger={
          <button
            type="button"
            aria-label={t("shell.moreFor", { name: escapeHidden(task.title) })}
            className="grid size-7 shrink-0 place-items-center rounded-md text-faint hover:bg-sunken hover:text-ink"
          >
            <Ellipsis className="size-4" />
          </button>
        }
      >
        <MenuItem icon={<Pencil />} onSelect={onOpen}>
          {t("common.open")}
        </MenuItem>
        {STATUSES.filter(([status]) => status !== task.status).map(([status, name]) => (
          <MenuItem key={status} icon={<ArrowRight />} onSelect={() => onMove(status)}>
            {t("workspace.moveTo", { status: t(name) })}
          </MenuItem>
        ))}
        <MenuLine />
        <MenuItem icon={<Trash />} danger onSelect={() => setDeleting(true)}>
          {t("common.delete")}
        </MenuItem>
      </Menu>
      {isDeleting && <DeleteTask task={task} onClose={() => setDeleting(false)} />}
    </>
  )
}

interface DeleteTaskProps {
  readonly task: Task
  readonly onClose: () => void
  readonly onDeleted?: () => void
}

export function DeleteTask({ task, onClose, onDeleted }: DeleteTaskProps) {
  return (
    <Confirm
      title={t("workspace.deleteTaskTitle")}
      name={task.title}
      says={t("workspace.deleteTaskHint")}
      act={t("common.delete")}
      onClose={onClose}
      onAct={() => {
        onClose()
        void attempt(() => deleteRow("tasks", task.id)).then((done) => done && onDeleted?.())
      }}
    />
  )
}

/** Changes the status of a task if it still has the status that the user saw. Returns whether it did. */
export async function moveTask(task: Task, status: Task["status"]): Promise<boolean> {
  if (status === task.status) return false
  let isMoved = false
  await attempt(async () => {
    const changed = await changeRow("tasks", task.id, { updates: { status }, seen: { status: task.status } })
    isMoved = changed.is === "done"
    if (changed.is === "stale") toast(t("workspace.movedMeanwhile"), "bad")
    if (changed.is === "gone") toast(t("workspace.taskDeleted"), "bad")
  })
  return isMoved
}
