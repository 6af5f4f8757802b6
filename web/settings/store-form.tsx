import type { InputHTMLAttributes, ReactNode } from "react"
import { Button } from "../parts/button.tsx"
import { attempt } from "../parts/explain.ts"
import { Labelled } from "../parts/labelled.tsx"
import { toast } from "../state/toasts.ts"

interface StoreProps {
  /** Whether there is anything to store. */
  readonly isReady: boolean
  readonly store: () => Promise<void>
  readonly children: ReactNode
}

/** Fields side by side, stored together. Browsers are asked to fill in nothing: these are keys. */
export function StoreForm({ isReady, store, children }: StoreProps) {
  const save = () =>
    attempt(async () => {
      await store()
      toast("Stored.")
    })
  return (
    <form
      className="mt-2 grid gap-3 pb-2 sm:grid-cols-2"
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      {children}
      <div>
        <Button look="main" type="submit" disabled={!isReady}>
          Store
        </Button>
      </div>
    </form>
  )
}

interface FieldProps extends Omit<InputHTMLAttributes<HTMLInputElement>, "onChange"> {
  readonly label: string
  readonly value: string
  readonly onType: (text: string) => void
}

export function Field({ label, onType, ...input }: FieldProps) {
  return (
    <Labelled label={label}>
      <input autoComplete="off" onChange={(event) => onType(event.target.value)} className="field" {...input} />
    </Labelled>
  )
}
