import type { ReactNode } from "react"
import { Dialog } from "../../parts/dialog.tsx"
import { Labelled } from "../../parts/labelled.tsx"
import { OvertakenNotice } from "./overtaken-notice.tsx"
import { SaveForm } from "./save-form.tsx"
import type { RowDraft } from "./use-row-draft.ts"

interface RowDialogProps<Row> {
  /** What it is about, and by which column it is known. */
  readonly title: string
  readonly name: { readonly label: string; readonly value: string; readonly set: (value: string) => void }
  readonly draft: RowDraft<Row>
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A row to be edited: its name first, without which it is not saved, then what else it has. */
export function RowDialog<Row extends object>({ title, name, draft, onClose, children }: RowDialogProps<Row>) {
  return (
    <Dialog title={title} onClose={onClose}>
      <OvertakenNotice draft={draft} />
      <SaveForm draft={draft} isComplete={name.value.trim() !== ""} onClose={onClose}>
        <Labelled label={name.label}>
          <input autoFocus value={name.value} onChange={(event) => name.set(event.target.value)} className="field" />
        </Labelled>
        {children}
      </SaveForm>
    </Dialog>
  )
}
