import { useState } from "react"
import type { Task } from "../../../../core/protocol/index.ts"
import { X } from "../../components/icons.tsx"
import { Button, IconButton } from "../../components/button.tsx"
import { Dialog } from "../../components/dialog.tsx"
import { attempt } from "../../components/explain.ts"
import { Form, Labelled, Select, SubmitButton } from "../../components/form.tsx"
import { Plain } from "../../components/plain.tsx"
import { useShell } from "../../shell/page.ts"
import { useWorkspace } from "../../state/workspace.ts"
import { time } from "../../strings/format.ts"
import { t } from "../../strings/strings.ts"
import { DueField } from "../due.tsx"
import { createRow, deleteRow } from "../rows/edit-row.ts"
import { ConflictNotice } from "../rows/conflict-notice.tsx"
import { QuickAdd } from "../rows/quick-add.tsx"
import { RowSelect } from "../rows/select.tsx"
import { useRowDraft } from "../rows/use-row-draft.ts"
import { useFullRow } from "../rows/use-full-row.ts"
import { FullText } from "../rows/full-text.tsx"
import { PRIORITIES, STATUSES, assigneesOf, choiceLabels, toAssignee } from "../task-fields.ts"
import { DeleteTask } from "./menu.tsx"

interface TaskDialogProps {
  readonly id: string
  readonly onClose: () => void
}

/** One task with all its fields and its comments. */
export function TaskDialog({ id, onClose }: TaskDialogProps) {
  const { view } = useWorkspace()
  const task = view.tasks.rows.find((row) => row.id === id)
  if (!view.tasks.isKnown) return null
  return (
    <Dialog title={t("workspace.task")} onClose={onClose}>
      {task ? (
        <LoadedTask task={task} onClose={onClose} />
      ) : (
        <>
          <p className="mb-5 text-soft">{t("workspace.taskMissing")}</p>
          <div className="flex justify-end">
            <Button onClick={onClose}>{t("common.close")}</Button>
          </div>
        </>
      )}
    </Dialog>
  )
}

/** Waits until long texts are loaded in full, because a save would replace them. */
function LoadedTask({ task, onClose }: { readonly task: Task; readonly onClose: () => void }) {
  const whole = useFullRow("tasks", task)
  return whole ? <TaskForm task={whole} onClose={onClose} /> : null
}

function TaskForm({ task, onClose }: { readonly task: Task; readonly onClose: () => void }) {
  const { projects } = useWorkspace().view
  const draft = useRowDraft("tasks", task)
  const [isDeleting, setDeleting] = useState(false)
  const { value, set } = draft
  const [people, setPeople] = useState<string>()
  const title = value("title")
  const save = async () => {
    if (title.trim() !== "" && (await draft.save())) onClose()
    else setPeople(undefined)
  }
  return (
    <>
      <ConflictNotice draft={draft} />
      <Form className="space-y-3" onSubmit={save}>
        <Labelled label={t("common.title")} field="title">
          <input value={title} onChange={(event) => set("title", event.target.value)} className="field" />
        </Labelled>
        <Labelled label={t("workspace.description")} field="description">
          <textarea
            rows={3}
            value={value("description") ?? ""}
            onChange={(event) => set("description", event.target.value || null)}
            className="field resize-y"
          />
        </Labelled>
        <div className="grid grid-cols-2 gap-3">
          <Labelled label={t("workspace.status")}>
            <Select
              value={value("status")}
              choices={choiceLabels(STATUSES)}
              onChoose={(status) => set("status", status as Task["status"])}
            />
          </Labelled>
          <Labelled label={t("workspace.priority")}>
            <Select
              value={value("priority")}
              choices={choiceLabels(PRIORITIES)}
              onChoose={(priority) => set("priority", priority as Task["priority"])}
            />
          </Labelled>
        </div>
        <DueField label={t("workspace.due")} value={value("dueDate")} onChange={(due) => set("dueDate", due)} />
        <div className="grid grid-cols-2 items-end gap-3">
          <RowSelect
            label={t("workspace.project")}
            none={t("workspace.noProject")}
            value={value("projectId")}
            rows={projects.rows}
            onChoose={(project) => set("projectId", project)}
          />
          <Labelled label={t("workspace.assigneeField")}>
            <input
              value={people ?? assigneesOf({ assignee: value("assignee") }).join(", ")}
              onChange={(event) => {
                setPeople(event.target.value)
                set("assignee", toAssignee(event.target.value))
              }}
              className="field"
            />
          </Labelled>
        </div>
        <div className="flex gap-2 pt-1">
          <Button look="danger" onClick={() => setDeleting(true)} className="mr-auto">
            {t("common.delete")}
          </Button>
          <Button onClick={onClose}>{t("common.cancel")}</Button>
          <SubmitButton look="main" disabled={title.trim() === "" || !draft.isChanged}>
            {t("common.save")}
          </SubmitButton>
        </div>
      </Form>
      <TaskComments taskId={task.id} />
      {isDeleting && <DeleteTask task={task} onClose={() => setDeleting(false)} onDeleted={onClose} />}
    </>
  )
}

/** The comments on a task, oldest first. */
function TaskComments({ taskId }: { readonly taskId: string }) {
  const { name } = useShell().identity.user
  const { rows } = useWorkspace().view.taskComments
  const comments = rows.filter((row) => row.taskId === taskId).sort((a, b) => a.createdAt - b.createdAt)
  return (
    <section aria-label={t("workspace.comments")} className="mt-5 border-t border-line pt-4">
      <h3 className="mb-2 text-sm font-medium">{t("workspace.comments")}</h3>
      <ul className="mb-3 space-y-2">
        {comments.map((comment) => (
          <li key={comment.id} className="flex items-start gap-2 text-sm">
            <div className="min-w-0 flex-1">
              <p className="text-[13px] text-faint">
                <Plain text={comment.author} />, {time(comment.createdAt)}
              </p>
              <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">
                <FullText table="taskComments" row={comment} column="content" />
              </p>
            </div>
            <IconButton
              small
              label={t("workspace.deleteComment")}
              onClick={() => void attempt(() => deleteRow("taskComments", comment.id))}
            >
              <X className="size-3.5" />
            </IconButton>
          </li>
        ))}
      </ul>
      <QuickAdd
        what="comment"
        maxLength={10_000}
        onAdd={(content) => createRow("taskComments", { taskId, author: name, content })}
      />
    </section>
  )
}
