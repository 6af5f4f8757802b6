import { Circle, CircleCheck, CircleDot } from "../../icons/signs.ts"
import { useState } from "react"
import type { Project, Task } from "../../../src/protocol/index.ts"
import { Button } from "../../parts/button.tsx"
import { escapeHidden } from "../../parts/hidden-characters.ts"
import { Plain } from "../../parts/plain.tsx"
import { DueSign } from "../due-sign.tsx"
import { moveTask } from "./move-task.ts"
import { PrioritySign } from "./card.tsx"
import { TaskMenu } from "./menu.tsx"
import { assigneesOf } from "./words.ts"

interface TaskListProps {
  readonly tasks: readonly Task[]
  readonly projects?: ReadonlyMap<string, Project>
  readonly onOpen: (id: string) => void
}

const PAGE = 100

/** Tasks one below the other; the circle completes one, or opens it again. */
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
          Show {Math.min(PAGE, tasks.length - shown)} more of {tasks.length}
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
        aria-label={`Done: ${escapeHidden(task.title)}`}
        onClick={() => void moveTask(task, isDone ? "todo" : "done")}
        className="grid size-8 shrink-0 place-items-center rounded-lg hover:bg-sunken"
      >
        <Icon className={`size-4.5 ${task.status === "todo" ? "text-faint" : "text-accent"}`} />
      </button>
      <button
        type="button"
        data-task={task.id}
        onClick={() => onOpen(task.id)}
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
              <span className="sr-only">For </span>
              <Plain text={people.join(", ")} />
            </span>
          )}
          {project && (
            <span className="max-w-48 truncate">
              <Plain text={project.name} />
            </span>
          )}
          <PrioritySign priority={task.priority} isDone={isDone} />
          <DueSign dueDate={task.dueDate} isDone={isDone} />
        </span>
      </button>
      <TaskMenu task={task} onOpen={() => onOpen(task.id)} />
    </li>
  )
}
