import { useState } from "react"
import type { Project } from "../../../core/protocol/index.ts"
import { Archive, ArchiveRestore, Pencil, Trash } from "../components/icons.tsx"
import { Confirm } from "../components/dialog.tsx"
import { attempt } from "../components/explain.ts"
import { Labelled } from "../components/form.tsx"
import { Link } from "../components/button.tsx"
import { MenuItem, MenuLine, MoreMenu } from "../components/menu.tsx"
import { Plain } from "../components/plain.tsx"
import { MissingPage, PageHeader } from "../shell/page-header.tsx"
import { navigate } from "../state/router.ts"
import { toast } from "../state/toasts.ts"
import { useWorkspace } from "../state/workspace.ts"
import { rich, t } from "../strings/strings.ts"
import { CheckpointList } from "./checkpoint-list.tsx"
import { ReadProblem } from "./empty-workspace.tsx"
import { NoteEntry } from "./note-entry.tsx"
import { RowDialog } from "./rows/dialog.tsx"
import { changeRow, createRow, deleteRow } from "./rows/edit-row.ts"
import { QuickAdd } from "./rows/quick-add.tsx"
import { RowSelect } from "./rows/select.tsx"
import { useRowDraft } from "./rows/use-row-draft.ts"
import { useFullRow } from "./rows/use-full-row.ts"
import { FullText } from "./rows/full-text.tsx"
import { byUrgency } from "./task-fields.ts"
import { TaskDialog } from "./tasks/dialog.tsx"
import { TaskList } from "./tasks/list.tsx"

/** A project with everything in it. */
export function ProjectPage({ id }: { readonly id: string }) {
  const { view, problem } = useWorkspace()
  const [openTask, setOpenTask] = useState<string>()
  const project = view.projects.rows.find((row) => row.id === id)
  if (!project) return view.projects.isKnown ? <MissingPage /> : <PageHeader title={t("shell.projects")} />
  const isOwn = ({ projectId }: { readonly projectId: string | null }) => projectId === id
  const tasks = view.tasks.rows.filter(isOwn).sort((a, b) => isDone(a) - isDone(b) || byUrgency(a, b))
  const notes = view.notes.rows.filter(isOwn).sort((a, b) => b.updatedAt - a.updatedAt)
  const client = view.clients.rows.find((row) => row.id === project.clientId)
  return (
    <>
      <PageHeader title={project.name}>
        <ProjectMenu project={project} />
      </PageHeader>
      <ReadProblem problem={problem} />
      <div className="min-h-0 flex-1 overflow-y-auto px-3 pb-8 md:px-5">
        <div className="max-w-3xl space-y-7">
          <p className="text-[13px] text-faint [overflow-wrap:anywhere]">
            <Link to="/projects" className="underline underline-offset-2 hover:text-ink">
              {t("shell.projects")}
            </Link>
            {project.status === "archived" && ` · ${t("workspace.projectArchived")}`}
            {client && <> · {rich("workspace.clientOf", { name: <Plain text={client.name} /> })}</>}
          </p>
          {project.aiSummary && (
            <p className="text-soft [overflow-wrap:anywhere]">
              <FullText table="projects" row={project} column="aiSummary" />
            </p>
          )}
          <section aria-label={t("shell.tasks")} className="space-y-2">
            <h2 className="font-serif text-xl">{t("shell.tasks")}</h2>
            {tasks.length > 0 && <TaskList tasks={tasks} onOpen={setOpenTask} />}
            <QuickAdd what="task" onAdd={(title) => createRow("tasks", { title, projectId: id })} />
          </section>
          <CheckpointList projectId={id} checkpoints={view.checkpoints.rows.filter(isOwn)} />
          <section aria-label={t("shell.notes")} className="space-y-2">
            <h2 className="font-serif text-xl">{t("shell.notes")}</h2>
            {notes.length > 0 && (
              <ul className="grid gap-2 sm:grid-cols-2">
                {notes.map((note) => (
                  <NoteEntry key={note.id} note={note} />
                ))}
              </ul>
            )}
            <QuickAdd
              what="note"
              onAdd={async (title) => {
                const note = await createRow("notes", { title, projectId: id })
                navigate(`/notes/${note.id}`)
              }}
            />
          </section>
        </div>
      </div>
      {openTask !== undefined && <TaskDialog key={openTask} id={openTask} onClose={() => setOpenTask(undefined)} />}
    </>
  )
}

const isDone = ({ status }: { readonly status: string }) => (status === "done" ? 1 : 0)

function ProjectMenu({ project }: { readonly project: Project }) {
  const [shown, setShown] = useState<"edit" | "delete">()
  const close = () => setShown(undefined)
  const isArchived = project.status === "archived"
  const archive = async () => {
    const change = {
      updates: { status: isArchived ? "active" : "archived" },
      seen: { status: project.status },
    } as const
    const changed = await changeRow("projects", project.id, change)
    if (changed.is !== "done") toast(t("workspace.projectChanged"), "bad")
  }
  return (
    <>
      <MoreMenu label={t("workspace.moreProject")}>
        <MenuItem icon={<Pencil />} onSelect={() => setShown("edit")}>
          {t("workspace.edit")}
        </MenuItem>
        <MenuItem icon={isArchived ? <ArchiveRestore /> : <Archive />} onSelect={() => void attempt(archive)}>
          {t(isArchived ? "workspace.unarchive" : "workspace.archive")}
        </MenuItem>
        <MenuLine />
        <MenuItem icon={<Trash />} danger onSelect={() => setShown("delete")}>
          {t("common.delete")}
        </MenuItem>
      </MoreMenu>
      {shown === "edit" && <ProjectDialog project={project} onClose={close} />}
      {shown === "delete" && (
        <Confirm
          title={t("workspace.deleteProjectTitle")}
          name={project.name}
          says={t("workspace.deleteProjectHint")}
          act={t("common.delete")}
          onClose={close}
          onAct={() => {
            close()
            void attempt(() => deleteRow("projects", project.id)).then((done) => done && navigate("/projects"))
          }}
        />
      )}
    </>
  )
}

interface ProjectDialogProps {
  readonly project: Project
  readonly onClose: () => void
}

function ProjectDialog({ project, onClose }: ProjectDialogProps) {
  const whole = useFullRow("projects", project)
  return whole ? <ProjectForm project={whole} onClose={onClose} /> : null
}

function ProjectForm({ project, onClose }: ProjectDialogProps) {
  const { clients } = useWorkspace().view
  const draft = useRowDraft("projects", project)
  const { value, set } = draft
  return (
    <RowDialog
      title={t("workspace.project")}
      name={{ label: t("common.name"), field: "name", value: value("name"), set: (name) => set("name", name) }}
      draft={draft}
      onClose={onClose}
    >
      <RowSelect
        label={t("workspace.client")}
        none={t("workspace.noClient")}
        value={value("clientId")}
        rows={clients.rows}
        onChoose={(client) => set("clientId", client)}
      />
      <Labelled label={t("workspace.summary")}>
        <textarea
          rows={4}
          value={value("aiSummary") ?? ""}
          onChange={(event) => set("aiSummary", event.target.value || null)}
          className="field resize-y"
        />
      </Labelled>
    </RowDialog>
  )
}
