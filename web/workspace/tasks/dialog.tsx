import { useState } from "react"
import type { Task } from "../../../src/protocol/index.ts"
import { Button } from "../../parts/button.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { Labelled, Select } from "../../parts/labelled.tsx"
import { useWorkspace } from "../../state/workspace.ts"
import { DueField } from "../due-field.tsx"
import { OvertakenNotice } from "../rows/overtaken-notice.tsx"
import { RowSelect } from "../rows/select.tsx"
import { TaskComments } from "./comments.tsx"
import { DeleteTask } from "./menu.tsx"
import { assigneesOf, PRIORITIES, STATUSES, toAssignee } from "./words.ts"
import { useRowDraft } from "../rows/use-row-draft.ts"

interface TaskDialogProps {
  readonly id: string
  readonly onClose: () => void
}

/** One task: everything about it, and what was said of it. */
export function TaskDialog({ id, onClose }: TaskDialogProps) {
  const { view } = useWorkspace()
  const task = view.tasks.rows.find((row) => row.id === id)
  if (!view.tasks.isKnown) return null
  return (
    <Dialog title="Task" onClose={onClose}>
      {task ? (
        <TaskForm task={task} onClose={onClose} />
      ) : (
        <>
          <p className="mb-5 text-soft">This task is gone, or it is not yours.</p>
          <div className="flex justify-end">
            <Button onClick={onClose}>Close</Button>
          </div>
        </>
      )}
    </Dialog>
  )
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
      <OvertakenNotice draft={draft} />
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        <Labelled label="Title">
          <input value={title} onChange={(event) => set("title", event.target.value)} className="field" />
        </Labelled>
        <Labelled label="Description">
          <textarea
            rows={3}
            value={value("description") ?? ""}
            onChange={(event) => set("description", event.target.value || null)}
            className="field resize-y"
          />
        </Labelled>
        <div className="grid grid-cols-2 gap-3">
          <Labelled label="Status">
            <Select
              value={value("status")}
              choices={STATUSES}
              onChoose={(status) => set("status", status as Task["status"])}
            />
          </Labelled>
          <Labelled label="Priority">
            <Select
              value={value("priority")}
              choices={PRIORITIES}
              onChoose={(priority) => set("priority", priority as Task["priority"])}
            />
          </Labelled>
        </div>
        <DueField value={value("dueDate")} onChange={(due) => set("dueDate", due)} />
        <div className="grid grid-cols-2 items-end gap-3">
          <RowSelect
            label="Project"
            value={value("projectId")}
            rows={projects.rows}
            onChoose={(project) => set("projectId", project)}
          />
          <Labelled label="For (names, with commas)">
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
            Delete
          </Button>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="main" type="submit" disabled={title.trim() === "" || !draft.isChanged || draft.isSaving}>
            Save
          </Button>
        </div>
      </form>
      <TaskComments taskId={task.id} />
      {isDeleting && <DeleteTask task={task} onClose={() => setDeleting(false)} onDeleted={onClose} />}
    </>
  )
}
