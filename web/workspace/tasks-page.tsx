import { List } from "../icons/signs.ts"
import { Columns } from "../icons/things.ts"
import { useMemo, useState } from "react"
import type { Task } from "../../src/protocol/index.ts"
import { IconButton } from "../parts/button.tsx"
import { escapeHidden } from "../parts/hidden-characters.ts"
import { Select } from "../parts/labelled.tsx"
import { hasWords, SearchField } from "../parts/search-field.tsx"
import { PageHeader } from "../shell/page-header.tsx"
import { navigate } from "../state/router.ts"
import { useWorkspace } from "../state/workspace.ts"
import { createRow } from "./rows/edit-row.ts"
import { EmptyWorkspace } from "./empty-workspace.tsx"
import { QuickAdd } from "./rows/quick-add.tsx"
import { ReadProblem } from "./read-problem.tsx"
import { TaskBoard } from "./tasks/board.tsx"
import { TaskDialog } from "./tasks/dialog.tsx"
import { TaskList } from "./tasks/list.tsx"
import { byUrgency, STATUSES } from "./tasks/words.ts"
import { WorkspaceMenu } from "./workspace-menu.tsx"
import { type TaskView, readTaskView, saveTaskView } from "./tasks/board-or-list.ts"

/** All tasks, as a board or as a list; `id` names the one that is open. */
export function TasksPage({ id }: { readonly id?: string }) {
  const { view, problem } = useWorkspace()
  const [look, setLook] = useState<TaskView>(readTaskView)
  const [words, setWords] = useState("")
  const [projectId, setProjectId] = useState("")
  const [status, setStatus] = useState("")
  const { tasks, projects } = view
  const projectsById = useMemo(() => new Map(projects.rows.map((project) => [project.id, project])), [projects.rows])
  const found = useMemo(() => {
    const fits = (task: Task) =>
      hasWords(words, task.title, task.description) &&
      (projectId === "" || (projectId === "none" ? task.projectId === null : task.projectId === projectId)) &&
      (look === "board" || status === "" || task.status === status)
    return tasks.rows.filter(fits).sort(byUrgency)
  }, [tasks.rows, words, projectId, status, look])
  const choose = (next: TaskView) => {
    setLook(next)
    saveTaskView(next)
  }
  const open = (task: string) => navigate(`/tasks/${encodeURIComponent(task)}`)
  const isEmpty = tasks.isKnown && tasks.rows.length === 0
  const project = projectId === "none" || projectId === "" ? {} : { projectId }
  return (
    <>
      <PageHeader title="Tasks">
        <div role="group" aria-label="Show as" className="flex rounded-lg bg-sunken">
          <IconButton label="Board" aria-pressed={look === "board"} onClick={() => choose("board")} className={PRESSED}>
            <Columns className="size-4" />
          </IconButton>
          <IconButton label="List" aria-pressed={look === "list"} onClick={() => choose("list")} className={PRESSED}>
            <List className="size-4" />
          </IconButton>
        </div>
        <WorkspaceMenu />
      </PageHeader>
      <ReadProblem problem={problem} />
      {isEmpty ? (
        <EmptyWorkspace what="tasks" says="Add one here, or ask the assistant: “create a task called Call Ada”.">
          <QuickAdd what="task" onAdd={(title) => createRow("tasks", { title })} />
        </EmptyWorkspace>
      ) : (
        <>
          <div className="flex flex-wrap items-center gap-2 px-3 pb-3 md:px-5">
            <div className="w-full md:w-80">
              <QuickAdd what="task" onAdd={(title) => createRow("tasks", { title, ...project })} />
            </div>
            <SearchField label="Search tasks" value={words} onChange={setWords} />
            <Select
              aria-label="Project"
              value={projectId}
              choices={[
                ["", "All projects"],
                ["none", "No project"],
                ...projects.rows.map((each) => [each.id, escapeHidden(each.name)] as const),
              ]}
              onChoose={setProjectId}
              className="h-9 max-w-52 py-0 text-sm"
            />
            {look === "list" && (
              <Select
                aria-label="Status"
                value={status}
                choices={[["", "Any status"], ...STATUSES]}
                onChoose={setStatus}
                className="h-9 max-w-36 py-0 text-sm"
              />
            )}
          </div>
          {look === "board" ? (
            <TaskBoard tasks={found} projects={projectsById} onOpen={open} />
          ) : (
            <div className="min-h-0 flex-1 overflow-y-auto px-3 pb-6 md:px-5">
              {found.length > 0 && <TaskList tasks={found} projects={projectsById} onOpen={open} />}
              {tasks.isKnown && found.length === 0 && <p className="px-1 py-3 text-soft">No task is like that.</p>}
            </div>
          )}
        </>
      )}
      {id !== undefined && (
        <TaskDialog
          key={id}
          id={id}
          onClose={() => {
            navigate("/tasks")
            document.querySelector<HTMLElement>(`[data-task="${CSS.escape(id)}"]`)?.focus()
          }}
        />
      )}
    </>
  )
}

const PRESSED = "aria-pressed:bg-surface aria-pressed:text-ink aria-pressed:shadow-[inset_0_0_0_1px_var(--line)]"
