import { Flag, Pencil, X } from "../components/icons.tsx"
import { useState } from "react"
import type { Checkpoint } from "../../../core/protocol/index.ts"
import { IconButton } from "../components/button.tsx"
import { Confirm } from "../components/dialog.tsx"
import { attempt } from "../components/explain.ts"
import { Form, OnlyField, SubmitButton } from "../components/form.tsx"
import { Plain } from "../components/plain.tsx"
import { t } from "../strings/strings.ts"
import { DueField, formatDue, fromFields, startOf, toDayField } from "./due.tsx"
import { createRow, deleteRow } from "./rows/edit-row.ts"
import { RowDialog } from "./rows/dialog.tsx"
import { useRowDraft } from "./rows/use-row-draft.ts"

interface CheckpointListProps {
  readonly projectId: string
  readonly checkpoints: readonly Checkpoint[]
}

/** The checkpoints of a project, by date. */
export function CheckpointList({ projectId, checkpoints }: CheckpointListProps) {
  const inOrder = [...checkpoints].sort((a, b) => startOf(a.date) - startOf(b.date))
  return (
    <section aria-label={t("workspace.checkpoints")} className="space-y-2">
      <h2 className="font-serif text-xl">{t("workspace.checkpoints")}</h2>
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
      <span className="text-[13px] whitespace-nowrap text-faint">{formatDue(checkpoint.date, Date.now())}</span>
      <IconButton small label={t("workspace.editCheckpoint")} onClick={() => setShown("edit")}>
        <Pencil className="size-3.5" />
      </IconButton>
      <IconButton small label={t("workspace.deleteCheckpoint")} onClick={() => setShown("delete")}>
        <X className="size-3.5" />
      </IconButton>
      {shown === "edit" && <CheckpointDialog checkpoint={checkpoint} onClose={close} />}
      {shown === "delete" && (
        <Confirm
          title={t("workspace.deleteCheckpointTitle")}
          name={checkpoint.title}
          says={t("workspace.deleteCheckpointHint")}
          act={t("common.delete")}
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
      title={t("workspace.checkpoint")}
      name={{ label: t("common.title"), field: "title", value: value("title"), set: (title) => set("title", title) }}
      draft={draft}
      onClose={onClose}
    >
      <DueField
        label={t("workspace.date")}
        value={value("date")}
        onChange={(date) => date !== null && set("date", date)}
      />
    </RowDialog>
  )
}

function NewCheckpoint({ projectId }: { readonly projectId: string }) {
  const [title, setTitle] = useState("")
  const [day, setDay] = useState(() => toDayField(Date.now()))
  const date = fromFields(day, "")
  const add = async () => {
    if (title.trim() === "" || date === null) return
    await createRow("checkpoints", { projectId, title: title.trim(), date })
    setTitle("")
  }
  return (
    <Form className="flex flex-wrap gap-2" onSubmit={add}>
      <OnlyField>
        <input
          value={title}
          aria-label={t("workspace.newCheckpoint")}
          placeholder={t("workspace.newCheckpoint")}
          onChange={(event) => setTitle(event.target.value)}
          className="field h-9 min-w-40 flex-1 text-sm"
        />
      </OnlyField>
      <input
        type="date"
        max="9999-12-31"
        aria-label={t("workspace.date")}
        value={day}
        onChange={(event) => setDay(event.target.value)}
        className="field h-9 w-auto text-sm"
      />
      <SubmitButton disabled={title.trim() === "" || date === null}>{t("common.add")}</SubmitButton>
    </Form>
  )
}
