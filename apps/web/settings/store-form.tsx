import type { InputHTMLAttributes, ReactNode } from "react"
import { Form, Labelled, SubmitButton } from "../components/form.tsx"
import { toast } from "../state/toasts.ts"
import { t } from "../strings/strings.ts"

interface StoreProps {
  /** Whether there is anything to save. */
  readonly isReady: boolean
  readonly store: () => Promise<void>
  readonly children: ReactNode
}

/** Fields side by side, saved together. Autofill is off because the fields hold keys. */
export function StoreForm({ isReady, store, children }: StoreProps) {
  const save = async () => {
    await store()
    toast(t("settings.saved"))
  }
  return (
    <Form className="mt-2 grid gap-3 pb-2 sm:grid-cols-2" autoComplete="off" onSubmit={save}>
      {children}
      <div>
        <SubmitButton look="main" disabled={!isReady}>
          {t("common.save")}
        </SubmitButton>
      </div>
    </Form>
  )
}

interface FieldProps extends Omit<InputHTMLAttributes<HTMLInputElement>, "onChange"> {
  readonly label: string
  /** The name of the field in the request. */
  readonly field: string
  readonly value: string
  readonly onType: (text: string) => void
}

export function Field({ label, field, onType, ...input }: FieldProps) {
  return (
    <Labelled label={label} field={field}>
      <input autoComplete="off" onChange={(event) => onType(event.target.value)} className="field" {...input} />
    </Labelled>
  )
}
