import type { KeyboardEvent } from "react"
import type { Project, Task } from "../../../../core/protocol/index.ts"
import { Link } from "../../components/button.tsx"
import { Plain } from "../../components/plain.tsx"
import { rich, t } from "../../strings/strings.ts"
import { DueBadge } from "../due.tsx"
import { TaskMenu } from "./menu.tsx"
import { assigneesOf, taskPath } from "../task-fields.ts"

interface TaskCardProps {
  readonly task: Task
  readonly project: Project | undefined
  readonly onOpen: () => void
  readonly onMove: (status: Task["status"]) => void
  readonly onKeyDown: (event: KeyboardEvent) => void
}

export function TaskCard({ task, project, onOpen, onMove, onKeyDown }: TaskCardProps) {
  const people = assigneesOf(task)
  const isDone = task.status === "done"
  return (
    <li
      draggable
      onDragStart={(event) => event.dataTransfer.setData("text/plain", task.id)}
      className="flex items-start gap-1 rounded-xl border border-line bg-surface py-1 pr-1 shadow-[0_1px_2px_rgb(0_0_0/0.04)] hover:border-accent"
    >
      <Link
        to={taskPath(task.id)}
        onPlainClick={onOpen}
        // The card is dragged, not the link.
        draggable={false}
        data-task={task.id}
        aria-describedby="board-keys"
        onKeyDown={onKeyDown}
        className="min-w-0 flex-1 rounded-lg px-3 py-1.5 text-left text-sm"
      >
        <span className={`block [overflow-wrap:anywhere] ${isDone ? "text-faint line-through decoration-1" : ""}`}>
          <Plain text={task.title} />
        </span>
        <span className="mt-1 flex flex-wrap items-center gap-x-2.5 gap-y-0.5 text-[13px] text-faint empty:hidden">
          <PrioritySign priority={task.priority} isDone={isDone} />
          <DueBadge dueDate={task.dueDate} isDone={isDone} />
          {project && (
            <span className="max-w-full truncate">
              <Plain text={project.name} />
            </span>
          )}
          {people.length > 0 && (
            <span className="max-w-full truncate">
              {rich("workspace.assignedTo", {
                names: <Plain text={people.join(", ")} />,
                hidden: (inner) => <span className="sr-only">{inner}</span>,
              })}
            </span>
          )}
        </span>
      </Link>
      <TaskMenu task={task} onOpen={onOpen} onMove={onMove} />
    </li>
  )
}

/** Draws nothing for the default priority and for tasks that are done. */
export function PrioritySign({ priority, isDone }: { readonly priority: Task["priority"]; readonly isDone: boolean }) {
  if (priority === "medium" || isDone) return null
  const tone = priority === "high" ? "bg-danger-soft text-danger" : "bg-sunken text-soft"
  return (
    <span className={`rounded-md px-1.5 text-xs font-semibold ${tone}`}>
      {t(priority === "high" ? "workspace.priorityHigh" : "workspace.priorityLow")}
    </span>
  )
}
