import { ArrowLeft } from "../icons/arrows.ts"
import { Pencil, Trash } from "../icons/things.ts"
import { useState } from "react"
import type { Note } from "../../src/protocol/index.ts"
import { Markdown } from "../markdown/markdown.tsx"
import { Button, IconButton } from "../parts/button.tsx"
import { Confirm } from "../parts/dialog.tsx"
import { attempt } from "../parts/explain.ts"
import { escapeHidden } from "../parts/hidden-characters.ts"
import { Labelled } from "../parts/labelled.tsx"
import { Link } from "../parts/link.tsx"
import { Plain } from "../parts/plain.tsx"
import { navigate } from "../state/router.ts"
import { useWorkspace } from "../state/workspace.ts"
import { deleteRow } from "./rows/edit-row.ts"
import { OvertakenNotice } from "./rows/overtaken-notice.tsx"
import { RowSelect } from "./rows/select.tsx"
import { SaveForm } from "./rows/save-form.tsx"
import { useRowDraft } from "./rows/use-row-draft.ts"

/** A note, to be read and to be changed. */
export function NoteView({ note }: { readonly note: Note }) {
  const [doing, setDoing] = useState<"edit" | "delete">()
  const { projects } = useWorkspace().view
  const project = projects.rows.find(({ id }) => id === note.projectId)
  return (
    <article className="min-h-0 min-w-0 flex-1 overflow-y-auto pb-8" aria-label="Note">
      <div className="mb-3 flex items-center gap-2">
        <IconButton label="Back to all notes" onClick={() => navigate("/notes")} className="md:hidden">
          <ArrowLeft className="size-4" />
        </IconButton>
        <p className="min-w-0 flex-1 truncate text-[13px] text-faint">
          {project && (
            <Link to={`/projects/${encodeURIComponent(project.id)}`} className="underline underline-offset-2">
              <Plain text={project.name} />
            </Link>
          )}
        </p>
        {doing !== "edit" && (
          <>
            <Button small onClick={() => setDoing("edit")}>
              <Pencil className="size-3.5" /> Edit
            </Button>
            <IconButton label="Delete this note" onClick={() => setDoing("delete")}>
              <Trash className="size-4" />
            </IconButton>
          </>
        )}
      </div>
      {doing === "edit" ? (
        <NoteEditor note={note} onClose={() => setDoing(undefined)} />
      ) : (
        <div className="max-w-3xl">
          <h2 className="mb-3 font-serif text-2xl [overflow-wrap:anywhere]">
            <Plain text={note.title} />
          </h2>
          {note.content === "" ? (
            <p className="text-faint">Nothing in it yet.</p>
          ) : (
            <Markdown text={escapeHidden(note.content)} />
          )}
        </div>
      )}
      {doing === "delete" && (
        <Confirm
          title="Delete this note?"
          says={
            <>
              “<Plain text={note.title} />” will be gone.
            </>
          }
          act="Delete"
          onClose={() => setDoing(undefined)}
          onAct={() => {
            setDoing(undefined)
            void attempt(() => deleteRow("notes", note.id)).then((done) => done && navigate("/notes"))
          }}
        />
      )}
    </article>
  )
}

function NoteEditor({ note, onClose }: { readonly note: Note; readonly onClose: () => void }) {
  const { projects } = useWorkspace().view
  const draft = useRowDraft("notes", note)
  const { value, set } = draft
  return (
    <div className="max-w-3xl">
      <OvertakenNotice draft={draft} />
      <SaveForm draft={draft} isComplete={value("title").trim() !== ""} onClose={onClose}>
        <Labelled label="Title">
          <input value={value("title")} onChange={(event) => set("title", event.target.value)} className="field" />
        </Labelled>
        <RowSelect
          label="Project"
          value={value("projectId")}
          rows={projects.rows}
          onChoose={(project) => set("projectId", project)}
        />
        <Labelled label="Text, as Markdown">
          <textarea
            autoFocus
            rows={16}
            value={value("content")}
            onChange={(event) => set("content", event.target.value)}
            className="field resize-y font-mono text-[13.5px]"
          />
        </Labelled>
      </SaveForm>
    </div>
  )
}
