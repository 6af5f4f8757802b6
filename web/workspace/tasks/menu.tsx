import { ArrowRight } from "../../icons/arrows.ts"
import { Ellipsis } from "../../icons/signs.ts"
import { Pencil, Trash } from "../../icons/things.ts"
import { useState } from "react"
import type { Task } from "../../../src/protocol/index.ts"
import { Confirm } from "../../parts/dialog.tsx"
import { attempt } from "../../parts/explain.ts"
import { escapeHidden } from "../../parts/hidden-characters.ts"
import { Menu, MenuItem, MenuLine } from "../../parts/menu.tsx"
import { Plain } from "../../parts/plain.tsx"
import { deleteRow } from "../rows/edit-row.ts"
import { moveTask } from "./move-task.ts"
import { STATUSES } from "./words.ts"

interface TaskMenuProps {
  readonly task: Task
  readonly onOpen: () => void
  readonly onMove?: (status: Task["status"]) => void
}

/** What can be done with a task without opening it. */
export function TaskMenu({ task, onOpen, onMove = (status) => void moveTask(task, status) }: TaskMenuProps) {
  const [isDeleting, setDeleting] = useState(false)
  return (
    <>
      <Menu
        align="end"
        trigger={
          <button
            type="button"
            aria-label={`More for ${escapeHidden(task.title)}`}
            className="grid size-7 shrink-0 place-items-center rounded-md text-faint hover:bg-sunken hover:text-ink"
          >
            <Ellipsis className="size-4" />
          </button>
        }
      >
        <MenuItem icon={<Pencil />} onSelect={onOpen}>
          Open
        </MenuItem>
        {STATUSES.filter(([status]) => status !== task.status).map(([status, name]) => (
          <MenuItem key={status} icon={<ArrowRight />} onSelect={() => onMove(status)}>
            Move to {name}
          </MenuItem>
        ))}
        <MenuLine />
        <MenuItem icon={<Trash />} danger onSelect={() => setDeleting(true)}>
          Delete
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
      title="Delete this task?"
      says={
        <>
          “<Plain text={task.title} />” and its comments will be gone.
        </>
      }
      act="Delete"
      onClose={onClose}
      onAct={() => {
        onClose()
        void attempt(() => deleteRow("tasks", task.id)).then((done) => done && onDeleted?.())
      }}
    />
  )
}
