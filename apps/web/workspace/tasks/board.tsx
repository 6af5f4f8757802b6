import { useEffect, useMemo, useRef, useState } from "react"
import type { Project, Task } from "../../../../core/protocol/index.ts"
import { escapeHidden } from "../../../../client/index.ts"
import { t } from "../../strings/strings.ts"
import { STATUSES, byUrgency, statusName } from "../task-fields.ts"
import { TaskCard } from "./card.tsx"
import { moveTask } from "./menu.tsx"

interface TaskBoardProps {
  readonly tasks: readonly Task[]
  readonly projects: ReadonlyMap<string, Project>
  readonly onOpen: (id: string) => void
}

/** At most this many tasks are shown in a column, to stay readable; the list has all of them. */
const MAX = 100

/** Tasks by status. A card is dragged, or moved from its menu or with Ctrl and an arrow key. */
export function TaskBoard({ tasks, projects, onOpen }: TaskBoardProps) {
  const board = useRef<HTMLDivElement>(null)
  const moved = useRef<string>(undefined)
  const [over, setOver] = useState<Task["status"]>()
  const [says, setSays] = useState("")
  const columns = useMemo(
    () => STATUSES.map(([status]) => tasks.filter((task) => task.status === status).sort(byUrgency)),
    [tasks],
  )
  const cardOf = (id: string) => board.current?.querySelector<HTMLElement>(`[data-task="${CSS.escape(id)}"]`)
  useEffect(() => {
    // A moved card is a new element. It gets the focus back, so that the keys keep working on it.
    if (moved.current && tasks.some(({ id }) => id === moved.current)) cardOf(moved.current)?.focus()
  }, [tasks])

  const move = async (task: Task, status: Task["status"]) => {
    moved.current = task.id
    const isMoved = await moveTask(task, status)
    if (isMoved) setSays(t("workspace.moved", { title: escapeHidden(task.title), status: statusName(status) }))
    // Two frames later the feed has reported the change and the card is in its column.
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        cardOf(task.id)?.focus()
        moved.current = undefined
      }),
    )
  }

  const press = (event: React.KeyboardEvent, column: number, row: number) => {
    const task = columns[column]?.[row]
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key]
    if (!task || !step) return
    const [across = 0, down = 0] = step
    if (event.ctrlKey || event.metaKey) {
      const status = STATUSES[column + across]?.[0]
      if (across === 0 || !status) return
      event.preventDefault()
      return void move(task, status)
    }
    if (event.altKey || event.shiftKey) return
    event.preventDefault()
    const cards = columns[column + across] ?? []
    const next = across === 0 ? cards[row + down] : cards[Math.min(row, cards.length - 1)]
    if (next) cardOf(next.id)?.focus()
  }

  return (
    <div ref={board} className="min-h-0 flex-1 overflow-auto px-3 pb-4 md:px-5" tabIndex={-1}>
      <p role="status" className="sr-only">
        {says}
      </p>
      <p id="board-keys" className="sr-only">
        {t("workspace.boardKeys")}
      </p>
      <div className="grid min-h-full gap-3 md:grid-cols-3">
        {STATUSES.map(([status, name], column) => (
          <section
            key={status}
            aria-label={t(name)}
            onDragOver={(event) => {
              event.preventDefault()
              setOver(status)
            }}
            onDragLeave={() => setOver(undefined)}
            onDrop={(event) => {
              event.preventDefault()
              setOver(undefined)
              const id = event.dataTransfer.getData("text/plain")
              const task = tasks.find((each) => each.id === id)
              if (task) void move(task, status)
            }}
            className={`min-w-0 rounded-2xl p-2 ${over === status ? "bg-accent-soft" : "bg-sunken"}`}
          >
            <h2 className="flex items-center gap-2 px-2 pt-1 pb-2 text-sm font-medium">
              {t(name)}
              <span className="text-[13px] font-normal text-faint">{columns[column]?.length ?? 0}</span>
            </h2>
            <ul className="space-y-2">
              {columns[column]?.slice(0, MAX).map((task, row) => (
                <TaskCard
                  key={task.id}
                  task={task}
                  project={projects.get(task.projectId ?? "")}
                  onOpen={() => onOpen(task.id)}
                  onMove={(to) => void move(task, to)}
                  onKeyDown={(event) => press(event, column, row)}
                />
              ))}
            </ul>
            {(columns[column]?.length ?? 0) > MAX && (
              <p className="px-2 pt-2 text-[13px] text-faint">
                {t("workspace.boardMore", { count: (columns[column]?.length ?? 0) - MAX })}
              </p>
            )}
          </section>
        ))}
      </div>
    </div>
  )
}
