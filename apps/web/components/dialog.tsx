import { type ReactNode, useEffect, useId, useRef } from "react"
import { Button } from "./button.tsx"
import { NameBox } from "./plain.tsx"
import { t } from "../strings/strings.ts"

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A native dialog: it traps and restores the focus and closes with Escape. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  const heading = useId()
  useEffect(() => {
    const dialog = ref.current
    if (dialog && !dialog.open) dialog.showModal()
  }, [])
  return (
    <dialog
      ref={ref}
      aria-labelledby={heading}
      onClose={onClose}
      onCancel={(event) => event.stopPropagation()}
      className="w-[min(30rem,calc(100vw-2rem))] rounded-2xl border border-line bg-surface p-5 shadow-xl"
    >
      <h2 id={heading} className="mb-3 font-serif text-xl">
        {title}
      </h2>
      {children}
    </dialog>
  )
}

interface ConfirmProps {
  readonly title: string
  /** The name of the object, which another person may have chosen. */
  readonly name?: string | undefined
  readonly says: ReactNode
  readonly act: string
  readonly onAct: () => void
  readonly onClose: () => void
}

/** Asks before an action that cannot be undone. */
export function Confirm({ title, name, says, act, onAct, onClose }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="mb-5 space-y-3 text-soft">
        {name !== undefined && <NameBox text={name} />}
        <p>{says}</p>
      </div>
      <div className="flex justify-end gap-2">
        <Button onClick={onClose} autoFocus>
          {t("common.cancel")}
        </Button>
        <Button look="danger" onClick={onAct}>
          {act}
        </Button>
      </div>
    </Dialog>
  )
}
