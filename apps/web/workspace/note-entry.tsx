import type { Note } from "../../../core/protocol/index.ts"
import { Link } from "../components/button.tsx"
import { Plain } from "../components/plain.tsx"
import { time } from "../strings/format.ts"

interface NoteEntryProps {
  readonly note: Note
  readonly isHere?: boolean
}

const SHOWN = 120

/** A note in a list: its name and its beginning. */
export function NoteEntry({ note, isHere = false }: NoteEntryProps) {
  const begin = note.content
    .slice(0, SHOWN * 2)
    .replaceAll(/[#>*_`\s]+/g, " ")
    .trim()
    .slice(0, SHOWN)
  return (
    <li className="min-w-0">
      <Link
        to={`/notes/${encodeURIComponent(note.id)}`}
        aria-current={isHere ? "page" : undefined}
        className={`block rounded-xl border bg-surface px-3.5 py-2.5 text-sm transition-colors hover:border-accent ${isHere ? "border-accent" : "border-line"}`}
      >
        <span className="block truncate font-medium">
          <Plain text={note.title} />
        </span>
        {begin !== "" && (
          <span className="block truncate text-[13px] text-soft">
            <Plain text={begin} />
          </span>
        )}
        <span className="block text-xs text-faint">{time(note.updatedAt)}</span>
      </Link>
    </li>
  )
}
