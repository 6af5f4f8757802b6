import type { ReactNode } from "react"
import { Button } from "../../components/button.tsx"
import { Dialog } from "../../components/dialog.tsx"
import { Form, Labelled, SubmitButton } from "../../components/form.tsx"
import { t } from "../../strings/strings.ts"
import { ConflictNotice } from "./conflict-notice.tsx"
import type { RowDraft } from "./use-row-draft.ts"

interface RowDialogProps<Row> {
  readonly title: string
  /** The column with the name of the row. `field` is its name in a request. */
  readonly name: {
    readonly label: string
    readonly field: string
    readonly value: string
    readonly set: (value: string) => void
  }
  readonly draft: RowDraft<Row>
  readonly onClose: () => void
  readonly children: ReactNode
}

/** Edits a row: its name, which is required, then its other fields. */
export function RowDialog<Row extends object>({ title, name, draft, onClose, children }: RowDialogProps<Row>) {
  return (
    <Dialog title={title} onClose={onClose}>
      <ConflictNotice draft={draft} />
      <SaveForm draft={draft} isComplete={name.value.trim() !== ""} onClose={onClose}>
        <Labelled label={name.label} field={name.field}>
          <input autoFocus value={name.value} onChange={(event) => name.set(event.target.value)} className="field" />
        </Labelled>
        {children}
      </SaveForm>
    </Dialog>
  )
}

interface SaveFormProps<Row> {
  readonly draft: RowDraft<Row>
  /** Whether all required fields are filled. */
  readonly isComplete: boolean
  readonly onClose: () => void
  readonly children: ReactNode
}

/** The fields of a row with Cancel and Save; it closes after a save. */
export function SaveForm<Row>({ draft, isComplete, onClose, children }: SaveFormProps<Row>) {
  return (
    <Form
      className="space-y-3"
      onSubmit={async () => {
        if (isComplete && (await draft.save())) onClose()
      }}
    >
      {children}
      <div className="flex justify-end gap-2 pt-1">
        <Button onClick={onClose}>{t("common.cancel")}</Button>
        <SubmitButton look="main" disabled={!isComplete || !draft.isChanged}>
          {t("common.save")}
        </SubmitButton>
      </div>
    </Form>
  )
}
