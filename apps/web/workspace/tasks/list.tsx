import { Circle, CircleCheck, CircleDot } from "../../components/icons.tsx"
import { useState } from "react"
import type { Project, Task } from "../../../../core/protocol/index.ts"
import { Button, Link } from "../../components/button.tsx"
import { escapeHidden } from "../../../../client/index.ts"
import { Plain } from "../../components/plain.tsx"
import { rich, t } from "../../strings/strings.ts"
import { DueBadge } from "../due.tsx"
import { assigneesOf, taskPath } from "../task-fields.ts"
import { PrioritySign } from "./card.tsx"
import { TaskMenu, moveTask } from "./menu.tsx"

interface TaskListProps {
  readonly tasks: readonly Task[]
  readonly projects?: ReadonlyMap<string, Project>
  readonly onOpen: (id: string) => void
}

const PAGE = 100

/** Tasks as a list. The circle completes a task or reopens it. */
export function TaskList({ tasks, projects, onOpen }: TaskListProps) {
  const [shown, setShown] = useState(PAGE)
  return (
    <>
      <ul className="divide-y divide-line rounded-2xl border border-line bg-surface">
        {tasks.slice(0, shown).map((task) => (
          <TaskRow key={task.id} task={task} project={projects?.get(task.projectId ?? "")} onOpen={onOpen} />
        ))}
      </ul>
      {tasks.length > shown && (
        <Button look="quiet" className="mt-2" onClick={() => setShown(shown + PAGE)}>
          {t("workspace.showMoreTasks", { count: Math.min(PAGE, tasks.length - shown), total: tasks.length })}
        </Button>
      )}
    </>
  )
}

const ICONS = { todo: Circle, in_progress: CircleDot, done: CircleCheck }

interface TaskRowProps {
  readonly task: Task
  readonly project: Project | undefined
  readonly onOpen: (id: string) => void
}

function TaskRow({ task, project, onOpen }: TaskRowProps) {
  const isDone = task.status === "done"
  const Icon = ICONS[task.status]
  const people = assigneesOf(task)
  return (
    <li className="flex items-center gap-1 px-2 py-1">
      <button
        type="button"
        role="checkbox"
        aria-checked={isDone}
        aria-label={t("workspace.doneTask", { title: escapeHidden(task.title) })}
        onClick={() => void moveTask(task, isDone ? "todo" : "done")}
        className="grid size-8 shrink-0 place-items-center rounded-lg hover:bg-sunken"
      >
        <Icon className={`size-4.5 ${task.status === "todo" ? "text-faint" : "text-accent"}`} />
      </button>
      <Link
        to={taskPath(task.id)}
        onPlainClick={() => onOpen(task.id)}
        data-task={task.id}
        className="flex min-w-0 flex-1 flex-wrap items-center gap-x-3 rounded-lg px-1.5 py-1 text-left text-sm"
      >
        <span
          className={`min-w-40 flex-1 [overflow-wrap:anywhere] ${isDone ? "text-faint line-through decoration-1" : ""}`}
        >
          <Plain text={task.title} />
        </span>
        <span className="flex max-w-full flex-wrap items-center gap-x-3 text-[13px] text-faint">
          {people.length > 0 && (
            <span className="max-w-48 truncate">
              {rich("workspace.assignedTo", {
                names: <Plain text={people.join(", ")} />,
                hidden: (inner) => <span className="sr-only">{inner}</span>,
              })}
            </span>
          )}
          {project && (
            <span className="max-w-48 truncate">
              <Plain text={project.name} />
            </span>
          )}
          <PrioritySign priority={task.priority} isDone={isDone} />
          <DueBadge dueDate={task.dueDate} isDone={isDone} />
        </span>
      </Link>
      <TaskMenu task={task} onOpen={() => onOpen(task.id)} />
    </li>
  )
}
