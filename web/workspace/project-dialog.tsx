import type { Project } from "../../src/protocol/index.ts"
import { Dialog } from "../parts/dialog.tsx"
import { escapeHidden } from "../parts/hidden-characters.ts"
import { Labelled, Select } from "../parts/labelled.tsx"
import { useWorkspace } from "../state/workspace.ts"
import { OvertakenNotice } from "./overtaken-notice.tsx"
import { SaveForm } from "./save-form.tsx"
import { useRowDraft } from "./use-row-draft.ts"

interface ProjectDialogProps {
  readonly project: Project
  readonly onClose: () => void
}

export function ProjectDialog({ project, onClose }: ProjectDialogProps) {
  const { clients } = useWorkspace().view
  const draft = useRowDraft("projects", project)
  const { value, set } = draft
  return (
    <Dialog title="Project" onClose={onClose}>
      <OvertakenNotice draft={draft} />
      <SaveForm draft={draft} isComplete={value("name").trim() !== ""} onClose={onClose}>
        <Labelled label="Name">
          <input
            autoFocus
            value={value("name")}
            onChange={(event) => set("name", event.target.value)}
            className="field"
          />
        </Labelled>
        <Labelled label="Client">
          <Select
            value={value("clientId") ?? ""}
            choices={[["", "None"], ...clients.rows.map(({ id, name }) => [id, escapeHidden(name)] as const)]}
            onChoose={(client) => set("clientId", client || null)}
          />
        </Labelled>
        <Labelled label="Summary">
          <textarea
            rows={4}
            value={value("aiSummary") ?? ""}
            onChange={(event) => set("aiSummary", event.target.value || null)}
            className="field resize-y"
          />
        </Labelled>
      </SaveForm>
    </Dialog>
  )
}
