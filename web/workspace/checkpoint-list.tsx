import { Flag, X } from "../icons/signs.ts"
import { Pencil } from "../icons/things.ts"
import { useState } from "react"
import type { Checkpoint } from "../../src/protocol/index.ts"
import { Button, IconButton } from "../parts/button.tsx"
import { Confirm } from "../parts/dialog.tsx"
import { attempt } from "../parts/explain.ts"
import { Plain } from "../parts/plain.tsx"
import { useAttempt } from "../parts/use-attempt.ts"
import { DueField } from "./due-field.tsx"
import { dueInWords, fromFields, startOf, toDayField } from "./due.ts"
import { createRow, deleteRow } from "./rows/edit-row.ts"
import { RowDialog } from "./rows/dialog.tsx"
import { useRowDraft } from "./rows/use-row-draft.ts"

interface CheckpointListProps {
  readonly projectId: string
  readonly checkpoints: readonly Checkpoint[]
}

/** Dates a project is measured by. */
export function CheckpointList({ projectId, checkpoints }: CheckpointListProps) {
  const inOrder = [...checkpoints].sort((a, b) => startOf(a.date) - startOf(b.date))
  return (
    <section aria-label="Checkpoints" className="space-y-2">
      <h2 className="font-serif text-xl">Checkpoints</h2>
      {inOrder.length > 0 && (
        <ul className="divide-y divide-line rounded-2xl border border-line bg-surface">
          {inOrder.map((checkpoint) => (
            <Entry key={checkpoint.id} checkpoint={checkpoint} />
          ))}
        </ul>
      )}
      <NewCheckpoint projectId={projectId} />
    </section>
  )
}

function Entry({ checkpoint }: { readonly checkpoint: Checkpoint }) {
  const [shown, setShown] = useState<"edit" | "delete">()
  const close = () => setShown(undefined)
  return (
    <li className="flex items-center gap-2 px-3.5 py-1.5 text-sm">
      <Flag className="size-4 shrink-0 text-faint" aria-hidden="true" />
      <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <Plain text={checkpoint.title} />
      </span>
      <span className="text-[13px] whitespace-nowrap text-faint">{dueInWords(checkpoint.date, Date.now())}</span>
      <IconButton small label="Edit this checkpoint" onClick={() => setShown("edit")}>
        <Pencil className="size-3.5" />
      </IconButton>
      <IconButton small label="Delete this checkpoint" onClick={() => setShown("delete")}>
        <X className="size-3.5" />
      </IconButton>
      {shown === "edit" && <CheckpointDialog checkpoint={checkpoint} onClose={close} />}
      {shown === "delete" && (
        <Confirm
          title="Delete this checkpoint?"
          says={<Plain text={checkpoint.title} />}
          act="Delete"
          onClose={close}
          onAct={() => {
            close()
            void attempt(() => deleteRow("checkpoints", checkpoint.id))
          }}
        />
      )}
    </li>
  )
}

function CheckpointDialog({ checkpoint, onClose }: { readonly checkpoint: Checkpoint; readonly onClose: () => void }) {
  const draft = useRowDraft("checkpoints", checkpoint)
  const { value, set } = draft
  return (
    <RowDialog
      title="Checkpoint"
      name={{ label: "Title", value: value("title"), set: (title) => set("title", title) }}
      draft={draft}
      onClose={onClose}
    >
      <DueField value={value("date")} onChange={(date) => date !== null && set("date", date)} />
    </RowDialog>
  )
}

function NewCheckpoint({ projectId }: { readonly projectId: string }) {
  const [title, setTitle] = useState("")
  const [day, setDay] = useState(() => toDayField(Date.now()))
  const date = fromFields(day, "")
  const { once, isBusy } = useAttempt()
  const add = async () => {
    if (title.trim() === "" || date === null) return
    if (await once(() => createRow("checkpoints", { projectId, title: title.trim(), date }))) setTitle("")
  }
  return (
    <form
      className="flex flex-wrap gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        void add()
      }}
    >
      <input
        value={title}
        aria-label="New checkpoint"
        placeholder="New checkpoint"
        onChange={(event) => setTitle(event.target.value)}
        className="field h-9 min-w-40 flex-1 text-sm"
      />
      <input
        type="date"
        max="9999-12-31"
        aria-label="Its date"
        value={day}
        onChange={(event) => setDay(event.target.value)}
        className="field h-9 w-auto text-sm"
      />
      <Button type="submit" disabled={title.trim() === "" || date === null || isBusy}>
        Add
      </Button>
    </form>
  )
}
