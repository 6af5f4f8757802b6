import { useMemo, useState } from "react"
import { hasWords, SearchField } from "../parts/search-field.tsx"
import { PageHeader } from "../shell/page-header.tsx"
import { navigate } from "../state/router.ts"
import { useWorkspace } from "../state/workspace.ts"
import { createRow } from "./rows/edit-row.ts"
import { EmptyWorkspace } from "./empty-workspace.tsx"
import { NoteEntry } from "./note-entry.tsx"
import { NoteView } from "./note-view.tsx"
import { QuickAdd } from "./rows/quick-add.tsx"
import { ReadProblem } from "./read-problem.tsx"
import { WorkspaceMenu } from "./workspace-menu.tsx"

const MAX = 200

/** All notes, and beside them the one that is read; on a phone one or the other. */
export function NotesPage({ id }: { readonly id?: string }) {
  const { view, problem } = useWorkspace()
  const [words, setWords] = useState("")
  const { notes } = view
  const found = useMemo(
    () =>
      notes.rows
        .filter(({ title, content }) => hasWords(words, title, content))
        .sort((a, b) => b.updatedAt - a.updatedAt),
    [notes.rows, words],
  )
  const note = notes.rows.find((row) => row.id === id)
  const add = async (title: string) => {
    const made = await createRow("notes", { title })
    navigate(`/notes/${made.id}`)
  }
  return (
    <>
      <PageHeader title={note?.title ?? "Notes"}>
        <WorkspaceMenu />
      </PageHeader>
      <ReadProblem problem={problem} />
      {notes.isKnown && notes.rows.length === 0 && id === undefined ? (
        <EmptyWorkspace what="notes" says="Write one here, or ask the assistant to. Notes are Markdown.">
          <QuickAdd what="note" onAdd={add} />
        </EmptyWorkspace>
      ) : (
        <div className="flex min-h-0 flex-1 gap-4 px-3 md:px-5">
          <div
            className={`min-h-0 w-full flex-col md:flex md:w-80 md:shrink-0 ${id === undefined ? "flex" : "hidden"}`}
          >
            <div className="space-y-2 pb-3">
              <QuickAdd what="note" onAdd={add} />
              <SearchField label="Search notes" value={words} onChange={setWords} />
            </div>
            <ul className="min-h-0 flex-1 space-y-2 overflow-y-auto pb-6" aria-label="Notes">
              {found.slice(0, MAX).map((each) => (
                <NoteEntry key={each.id} note={each} isHere={each.id === id} />
              ))}
            </ul>
            {found.length > MAX && <p className="py-2 text-[13px] text-faint">Search to find the older ones.</p>}
            {notes.isKnown && found.length === 0 && <p className="pb-6 text-soft">No note has these words.</p>}
          </div>
          {note && <NoteView key={note.id} note={note} />}
          {!note && notes.isKnown && (
            <p className={`flex-1 p-6 text-center text-soft ${id === undefined ? "max-md:hidden" : ""}`}>
              {id === undefined ? "Choose a note to read it." : "This note is gone, or it is not yours."}
            </p>
          )}
        </div>
      )}
    </>
  )
}
