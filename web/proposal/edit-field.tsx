import { useState } from "react"
import { Labelled, Select } from "../parts/labelled.tsx"
import { Plain } from "../parts/plain.tsx"
import { humanName } from "../parts/words.ts"
import { type EditField, toDateInput } from "./edit-fields.ts"

interface FieldEditorProps {
  readonly field: EditField
  readonly value: unknown
  /** How the change tells what is given, where that is in other words. */
  readonly shown: unknown
  /** `undefined` takes the argument away. */
  readonly onChange: (value: unknown) => void
}

/** One argument, in the control that fits what the tool takes for it. */
export function FieldEditor({ field, value, shown, onChange }: FieldEditorProps) {
  const { control, hint } = field
  const label = <Plain text={field.label} />
  if (control === "check") {
    return (
      <label className="flex items-center gap-2 text-sm">
        <input type="checkbox" checked={value === true} onChange={(event) => onChange(event.target.checked)} /> {label}
      </label>
    )
  }
  if (control === "json") return <JsonField field={field} value={value} shown={shown} onChange={onChange} />
  return (
    <Labelled label={label}>
      <Input field={field} value={value} shown={shown} onChange={onChange} />
      {/* How to write it is for whoever writes it: a choice and a date explain themselves. */}
      {hint && control !== "choice" && control !== "date" && (
        <span className="mt-0.5 block text-xs text-faint">
          <Plain text={hint} />
        </span>
      )}
    </Labelled>
  )
}

function Input({ field: { control, choices, isRequired }, value, shown, onChange }: FieldEditorProps) {
  const text = value === undefined || value === null ? "" : String(value)
  const date = control === "date" ? toDateInput(value, shown) : undefined
  if (control === "choice") {
    const known = text === "" || choices.includes(text) ? choices : [...choices, text]
    const none: readonly (readonly [string, string])[] = isRequired && text !== "" ? [] : [["", "–"]]
    return (
      <Select
        value={text}
        choices={[...none, ...known.map((each) => [each, humanName(each)] as const)]}
        onChoose={(chosen) => onChange(chosen === "" ? undefined : chosen)}
      />
    )
  }
  if (control === "number") {
    return (
      <input
        type="number"
        step="any"
        value={text}
        onChange={(event) => onChange(event.target.value === "" ? undefined : event.target.valueAsNumber)}
        className="field"
      />
    )
  }
  if (date !== undefined) {
    return (
      <input
        type={date.includes("T") ? "datetime-local" : "date"}
        value={date}
        onChange={(event) => onChange(event.target.value === "" ? undefined : event.target.value)}
        className="field"
      />
    )
  }
  if (control === "list") {
    const lines = Array.isArray(value) ? value.map(String) : []
    return (
      <textarea
        rows={Math.min(8, Math.max(2, lines.length + 1))}
        defaultValue={lines.join("\n")}
        placeholder="One in each line"
        onChange={(event) =>
          onChange(
            event.target.value
              .split("\n")
              .map((each) => each.trim())
              .filter(Boolean),
          )
        }
        className="field resize-y"
      />
    )
  }
  if (control === "text") {
    return (
      <textarea
        rows={Math.min(10, Math.max(3, Math.ceil(text.length / 70) + text.split("\n").length - 1))}
        value={text}
        onChange={(event) => onChange(event.target.value)}
        className="field resize-y"
      />
    )
  }
  return <input value={text} onChange={(event) => onChange(event.target.value)} className="field" />
}

/** An object, or what nobody knows: written as JSON, taken over when it is some. */
function JsonField({ field, value, onChange }: FieldEditorProps) {
  const [text, setText] = useState(() => (value === undefined ? "" : JSON.stringify(value)))
  const [isBad, setBad] = useState(false)
  return (
    <Labelled
      label={
        <>
          <Plain text={field.label} /> {isBad && <span className="text-danger">is not valid JSON</span>}
        </>
      }
    >
      <input
        value={text}
        aria-invalid={isBad}
        onChange={(event) => {
          setText(event.target.value)
          try {
            onChange(event.target.value.trim() === "" ? undefined : JSON.parse(event.target.value))
            setBad(false)
          } catch {
            setBad(true)
          }
        }}
        className="field font-mono text-[13px]"
      />
    </Labelled>
  )
}
