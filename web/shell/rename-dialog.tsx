import { useState } from "react"
import { Button } from "../parts/button.tsx"
import { Dialog } from "../parts/dialog.tsx"
import { useAttempt } from "../parts/use-attempt.ts"
import { renameConversation } from "../state/feed.ts"

interface RenameDialogProps {
  readonly id: string
  readonly title: string
  readonly onClose: () => void
}

export function RenameDialog({ id, title, onClose }: RenameDialogProps) {
  const [text, setText] = useState(title)
  const { once, isBusy } = useAttempt()
  const name = text.trim()
  return (
    <Dialog title="Rename" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (name === "") return
          if (name === title) return onClose()
          // The new name stays until the server has it.
          void once(() => renameConversation(id, name)).then((isDone) => isDone && onClose())
        }}
      >
        <input
          autoFocus
          aria-label="Title"
          maxLength={200}
          value={text}
          onFocus={(event) => event.target.select()}
          onChange={(event) => setText(event.target.value)}
          className="field mb-4"
        />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="main" type="submit" disabled={name === "" || isBusy}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
