import type { Project } from "../../src/protocol/index.ts"
import { Labelled } from "../parts/labelled.tsx"
import { useWorkspace } from "../state/workspace.ts"
import { RowDialog } from "./rows/dialog.tsx"
import { RowSelect } from "./rows/select.tsx"
import { useRowDraft } from "./rows/use-row-draft.ts"

interface ProjectDialogProps {
  readonly project: Project
  readonly onClose: () => void
}

export function ProjectDialog({ project, onClose }: ProjectDialogProps) {
  const { clients } = useWorkspace().view
  const draft = useRowDraft("projects", project)
  const { value, set } = draft
  return (
    <RowDialog
      title="Project"
      name={{ label: "Name", value: value("name"), set: (name) => set("name", name) }}
      draft={draft}
      onClose={onClose}
    >
      <RowSelect
        label="Client"
        value={value("clientId")}
        rows={clients.rows}
        onChoose={(client) => set("clientId", client)}
      />
      <Labelled label="Summary">
        <textarea
          rows={4}
          value={value("aiSummary") ?? ""}
          onChange={(event) => set("aiSummary", event.target.value || null)}
          className="field resize-y"
        />
      </Labelled>
    </RowDialog>
  )
}
