import { useMemo, useState } from "react"
import type { Task } from "../../../core/protocol/index.ts"
import { Columns, List } from "../components/icons.tsx"
import { IconButton } from "../components/button.tsx"
import { escapeHidden } from "../../../client/index.ts"
import { SearchField, Select, containsText } from "../components/form.tsx"
import { PageHeader } from "../shell/page-header.tsx"
import { navigate } from "../state/router.ts"
import { useWorkspace } from "../state/workspace.ts"
import { t } from "../strings/strings.ts"
import { EmptyWorkspace, ReadProblem, WorkspaceMenu } from "./empty-workspace.tsx"
import { createRow } from "./rows/edit-row.ts"
import { QuickAdd } from "./rows/quick-add.tsx"
import { useServerSearch } from "./rows/use-full-row.ts"
import { STATUSES, byUrgency, choiceLabels, taskPath } from "./task-fields.ts"
import { TaskBoard } from "./tasks/board.tsx"
import { TaskDialog } from "./tasks/dialog.tsx"
import { TaskList } from "./tasks/list.tsx"

/** All tasks, as a board or as a list; `id` names the one that is open. */
export function TasksPage({ id }: { readonly id?: string }) {
  const { view, problem } = useWorkspace()
  const [look, setLook] = useState<TaskView>(readTaskView)
  const [words, setWords] = useState("")
  const [projectId, setProjectId] = useState("")
  const [status, setStatus] = useState("")
  const { tasks, projects } = view
  const projectsById = useMemo(() => new Map(projects.rows.map((project) => [project.id, project])), [projects.rows])
  const onServer = useServerSearch("tasks", words, tasks.rows)
  const found = useMemo(() => {
    const fits = (task: Task) =>
      (containsText(words, task.title, task.description) || onServer?.has(task.id)) &&
      (projectId === "" || (projectId === "none" ? task.projectId === null : task.projectId === projectId)) &&
      (look === "board" || status === "" || task.status === status)
    return tasks.rows.filter(fits).sort(byUrgency)
  }, [tasks.rows, words, onServer, projectId, status, look])
  const choose = (next: TaskView) => {
    setLook(next)
    saveTaskView(next)
  }
  const open = (task: string) => navigate(taskPath(task))
  const isEmpty = tasks.isKnown && tasks.rows.length === 0
  const project = projectId === "none" || projectId === "" ? {} : { projectId }
  return (
    <>
      <PageHeader title={t("shell.tasks")}>
        <div role="group" aria-label={t("workspace.view")} className="flex rounded-lg bg-sunken">
          <IconButton
            label={t("workspace.board")}
            aria-pressed={look === "board"}
            onClick={() => choose("board")}
            className={PRESSED}
          >
            <Columns className="size-4" />
          </IconButton>
          <IconButton
            label={t("workspace.list")}
            aria-pressed={look === "list"}
            onClick={() => choose("list")}
            className={PRESSED}
          >
            <List className="size-4" />
          </IconButton>
        </div>
        <WorkspaceMenu />
      </PageHeader>
      <ReadProblem problem={problem} />
      {isEmpty ? (
        <EmptyWorkspace title={t("workspace.noTasks")} hint={t("workspace.noTasksHint")}>
          <QuickAdd what="task" onAdd={(title) => createRow("tasks", { title })} />
        </EmptyWorkspace>
      ) : (
        <>
          <div className="flex flex-wrap items-center gap-2 px-3 pb-3 md:px-5">
            <div className="w-full md:w-80">
              <QuickAdd what="task" onAdd={(title) => createRow("tasks", { title, ...project })} />
            </div>
            <SearchField label={t("workspace.searchTasks")} value={words} onChange={setWords} />
            <Select
              aria-label={t("workspace.project")}
              value={projectId}
              choices={[
                ["", t("workspace.allProjects")],
                ["none", t("workspace.noProject")],
                ...projects.rows.map((each) => [each.id, escapeHidden(each.name)] as const),
              ]}
              onChoose={setProjectId}
              className="h-9 max-w-52 py-0 text-sm"
            />
            {look === "list" && (
              <Select
                aria-label={t("workspace.status")}
                value={status}
                choices={[["", t("workspace.anyStatus")], ...choiceLabels(STATUSES)]}
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
              {tasks.isKnown && found.length === 0 && (
                <p className="px-1 py-3 text-soft">{t("workspace.noTasksMatch")}</p>
              )}
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

type TaskView = "board" | "list"

const KEY = "pawl.tasks"

/** The view that the person used last. */
function readTaskView(): TaskView {
  try {
    return localStorage.getItem(KEY) === "list" ? "list" : "board"
  } catch {
    return "board" // storage is blocked
  }
}

function saveTaskView(view: TaskView): void {
  try {
    localStorage.setItem(KEY, view)
  } catch {
    // The browser refuses storage: the choice holds until the page is closed.
  }
}
