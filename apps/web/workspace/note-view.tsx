import { ArrowLeft, Pencil, Trash } from "../components/icons.tsx"
import { useState } from "react"
import type { Note } from "../../../core/protocol/index.ts"
import { Markdown } from "../markdown/markdown.tsx"
import { Button, IconButton, IconLink, Link } from "../components/button.tsx"
import { Confirm } from "../components/dialog.tsx"
import { attempt } from "../components/explain.ts"
import { escapeHidden } from "../../../client/index.ts"
import { Labelled } from "../components/form.tsx"
import { Plain } from "../components/plain.tsx"
import { navigate } from "../state/router.ts"
import { useWorkspace } from "../state/workspace.ts"
import { t } from "../strings/strings.ts"
import { deleteRow } from "./rows/edit-row.ts"
import { ConflictNotice } from "./rows/conflict-notice.tsx"
import { RowSelect } from "./rows/select.tsx"
import { SaveForm } from "./rows/dialog.tsx"
import { useRowDraft } from "./rows/use-row-draft.ts"
import { useFullRow } from "./rows/use-full-row.ts"

/** A note, to read and to edit. */
export function NoteView({ note }: { readonly note: Note }) {
  const [doing, setDoing] = useState<"edit" | "delete">()
  const { projects } = useWorkspace().view
  const project = projects.rows.find(({ id }) => id === note.projectId)
  const whole = useFullRow("notes", note)
  return (
    <article className="min-h-0 min-w-0 flex-1 overflow-y-auto pb-8" aria-label={t("workspace.note")}>
      <div className="mb-3 flex items-center gap-2">
        <IconLink label={t("workspace.allNotes")} to="/notes" className="md:hidden">
          <ArrowLeft className="size-4" />
        </IconLink>
        <p className="min-w-0 flex-1 truncate text-[13px] text-faint">
          {project && (
            <Link to={`/projects/${encodeURIComponent(project.id)}`} className="underline underline-offset-2">
              <Plain text={project.name} />
            </Link>
          )}
        </p>
        {doing !== "edit" && (
          <>
            <Button small disabled={!whole} onClick={() => setDoing("edit")}>
              <Pencil className="size-3.5" /> {t("workspace.edit")}
            </Button>
            <IconButton label={t("workspace.deleteNote")} onClick={() => setDoing("delete")}>
              <Trash className="size-4" />
            </IconButton>
          </>
        )}
      </div>
      {doing === "edit" && whole ? (
        <NoteEditor note={whole} onClose={() => setDoing(undefined)} />
      ) : (
        <div className="max-w-3xl">
          <h2 className="mb-3 font-serif text-2xl [overflow-wrap:anywhere]">
            <Plain text={note.title} />
          </h2>
          {note.content === "" ? (
            <p className="text-faint">{t("workspace.noteEmpty")}</p>
          ) : (
            <Markdown text={escapeHidden((whole ?? note).content)} />
          )}
        </div>
      )}
      {doing === "delete" && (
        <Confirm
          title={t("workspace.deleteNoteTitle")}
          name={note.title}
          says={t("workspace.deleteNoteHint")}
          act={t("common.delete")}
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
      <ConflictNotice draft={draft} />
      <SaveForm draft={draft} isComplete={value("title").trim() !== ""} onClose={onClose}>
        <Labelled label={t("common.title")}>
          <input value={value("title")} onChange={(event) => set("title", event.target.value)} className="field" />
        </Labelled>
        <RowSelect
          label={t("workspace.project")}
          none={t("workspace.noProject")}
          value={value("projectId")}
          rows={projects.rows}
          onChoose={(project) => set("projectId", project)}
        />
        <Labelled label={t("workspace.content")}>
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
