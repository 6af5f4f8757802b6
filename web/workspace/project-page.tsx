import { Archive, ArchiveRestore, Pencil, Trash } from "../icons/things.ts"
import { useState } from "react"
import type { Project } from "../../src/protocol/index.ts"
import { Confirm } from "../parts/dialog.tsx"
import { attempt } from "../parts/explain.ts"
import { Link } from "../parts/link.tsx"
import { MenuItem, MenuLine, MoreMenu } from "../parts/menu.tsx"
import { Plain } from "../parts/plain.tsx"
import { MissingPage } from "../shell/missing-page.tsx"
import { PageHeader } from "../shell/page-header.tsx"
import { navigate } from "../state/router.ts"
import { toast } from "../state/toasts.ts"
import { useWorkspace } from "../state/workspace.ts"
import { CheckpointList } from "./checkpoint-list.tsx"
import { changeRow, createRow, deleteRow } from "./rows/edit-row.ts"
import { NoteEntry } from "./note-entry.tsx"
import { ProjectDialog } from "./project-dialog.tsx"
import { QuickAdd } from "./rows/quick-add.tsx"
import { ReadProblem } from "./read-problem.tsx"
import { TaskDialog } from "./tasks/dialog.tsx"
import { TaskList } from "./tasks/list.tsx"
import { byUrgency } from "./tasks/words.ts"

/** A project with everything in it. */
export function ProjectPage({ id }: { readonly id: string }) {
  const { view, problem } = useWorkspace()
  const [openTask, setOpenTask] = useState<string>()
  const project = view.projects.rows.find((row) => row.id === id)
  if (!project) return view.projects.isKnown ? <MissingPage /> : <PageHeader title="Projects" />
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
              Projects
            </Link>
            {project.status === "archived" && ", archived"}
            {client && (
              <>
                , for <Plain text={client.name} />
              </>
            )}
          </p>
          {project.aiSummary && (
            <p className="text-soft [overflow-wrap:anywhere]">
              <Plain text={project.aiSummary} />
            </p>
          )}
          <section aria-label="Tasks" className="space-y-2">
            <h2 className="font-serif text-xl">Tasks</h2>
            {tasks.length > 0 && <TaskList tasks={tasks} onOpen={setOpenTask} />}
            <QuickAdd what="task" onAdd={(title) => createRow("tasks", { title, projectId: id })} />
          </section>
          <CheckpointList projectId={id} checkpoints={view.checkpoints.rows.filter(isOwn)} />
          <section aria-label="Notes" className="space-y-2">
            <h2 className="font-serif text-xl">Notes</h2>
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
    if (changed.is !== "done") toast("This project was changed meanwhile. You see it as it is now.", "bad")
  }
  return (
    <>
      <MoreMenu label="More for this project">
        <MenuItem icon={<Pencil />} onSelect={() => setShown("edit")}>
          Edit
        </MenuItem>
        <MenuItem icon={isArchived ? <ArchiveRestore /> : <Archive />} onSelect={() => void attempt(archive)}>
          {isArchived ? "Take out of the archive" : "Archive"}
        </MenuItem>
        <MenuLine />
        <MenuItem icon={<Trash />} danger onSelect={() => setShown("delete")}>
          Delete
        </MenuItem>
      </MoreMenu>
      {shown === "edit" && <ProjectDialog project={project} onClose={close} />}
      {shown === "delete" && (
        <Confirm
          title="Delete this project?"
          says={
            <>
              “<Plain text={project.name} />” will be gone with its tasks, their comments, its checkpoints and its
              notes.
            </>
          }
          act="Delete"
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
