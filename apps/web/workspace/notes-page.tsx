import { useMemo, useState } from "react"
import { containsText, SearchField } from "../components/form.tsx"
import { PageHeader } from "../shell/page-header.tsx"
import { navigate } from "../state/router.ts"
import { useWorkspace } from "../state/workspace.ts"
import { t } from "../strings/strings.ts"
import { createRow } from "./rows/edit-row.ts"
import { EmptyWorkspace, ReadProblem, WorkspaceMenu } from "./empty-workspace.tsx"
import { NoteEntry } from "./note-entry.tsx"
import { NoteView } from "./note-view.tsx"
import { QuickAdd } from "./rows/quick-add.tsx"
import { useServerSearch } from "./rows/use-full-row.ts"

const MAX = 200

/** The list of notes next to the open note; on a phone one or the other. */
export function NotesPage({ id }: { readonly id?: string }) {
  const { view, problem } = useWorkspace()
  const [words, setWords] = useState("")
  const { notes } = view
  const onServer = useServerSearch("notes", words, notes.rows)
  const found = useMemo(
    () =>
      notes.rows
        .filter(({ id: each, title, content }) => containsText(words, title, content) || onServer?.has(each))
        .sort((a, b) => b.updatedAt - a.updatedAt),
    [notes.rows, words, onServer],
  )
  const note = notes.rows.find((row) => row.id === id)
  const add = async (title: string) => {
    const made = await createRow("notes", { title })
    navigate(`/notes/${made.id}`)
  }
  return (
    <>
      <PageHeader title={note?.title ?? t("shell.notes")}>
        <WorkspaceMenu />
      </PageHeader>
      <ReadProblem problem={problem} />
      {notes.isKnown && notes.rows.length === 0 && id === undefined ? (
        <EmptyWorkspace title={t("workspace.noNotes")} hint={t("workspace.noNotesHint")}>
          <QuickAdd what="note" onAdd={add} />
        </EmptyWorkspace>
      ) : (
        <div className="flex min-h-0 flex-1 gap-4 px-3 md:px-5">
          <div
            className={`min-h-0 w-full flex-col md:flex md:w-80 md:shrink-0 ${id === undefined ? "flex" : "hidden"}`}
          >
            <div className="space-y-2 pb-3">
              <QuickAdd what="note" onAdd={add} />
              <SearchField label={t("workspace.searchNotes")} value={words} onChange={setWords} />
            </div>
            <ul className="min-h-0 flex-1 space-y-2 overflow-y-auto pb-6" aria-label={t("shell.notes")}>
              {found.slice(0, MAX).map((each) => (
                <NoteEntry key={each.id} note={each} isHere={each.id === id} />
              ))}
            </ul>
            {found.length > MAX && <p className="py-2 text-[13px] text-faint">{t("workspace.notesOlder")}</p>}
            {notes.isKnown && found.length === 0 && <p className="pb-6 text-soft">{t("workspace.noNotesMatch")}</p>}
          </div>
          {note && <NoteView key={note.id} note={note} />}
          {!note && notes.isKnown && (
            <p className={`flex-1 p-6 text-center text-soft ${id === undefined ? "max-md:hidden" : ""}`}>
              {t(id === undefined ? "workspace.noteSelect" : "workspace.noteMissing")}
            </p>
          )}
        </div>
      )}
    </>
  )
}
