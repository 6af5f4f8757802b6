import type { ReactNode } from "react"
import { Button } from "../../parts/button.tsx"
import type { RowDraft } from "./use-row-draft.ts"

interface SaveFormProps<Row> {
  readonly draft: RowDraft<Row>
  /** What has to be there is there. */
  readonly isComplete: boolean
  readonly onClose: () => void
  readonly children: ReactNode
}

/** The fields of a row with Cancel and Save; it closes when it is saved. */
export function SaveForm<Row>({ draft, isComplete, onClose, children }: SaveFormProps<Row>) {
  return (
    <form
      className="space-y-3"
      onSubmit={(event) => {
        event.preventDefault()
        if (isComplete) void draft.save().then((isSaved) => isSaved && onClose())
      }}
    >
      {children}
      <div className="flex justify-end gap-2 pt-1">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="main" type="submit" disabled={!isComplete || !draft.isChanged || draft.isSaving}>
          Save
        </Button>
      </div>
    </form>
  )
}
