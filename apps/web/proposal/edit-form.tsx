import { useEffect, useRef, useState } from "react"
import type { Proposal } from "../../../core/protocol/index.ts"
import { type Fields, displayValue, isRecord } from "../changes/display-value.ts"
import { Button } from "../components/button.tsx"
import { FormField, Form, Labelled, Select, SubmitButton } from "../components/form.tsx"
import { Plain } from "../components/plain.tsx"
import { humanName } from "../../../client/index.ts"
import { catalogue } from "../state/catalogue.ts"
import { useStore } from "../state/store.ts"
import { t } from "../strings/strings.ts"
import { type EditField, fieldsOf, toDateInput } from "./edit-fields.ts"

interface EditFormProps {
  readonly proposal: Proposal
  /** Being sent. */
  readonly isSent: boolean
  readonly onDone: (changed: Record<string, unknown>) => Promise<unknown>
  readonly onCancel: () => void
}

/** Edits the arguments field by field, or as JSON. The result is a new proposal. */
export function EditForm({ proposal, isSent, onDone, onCancel }: EditFormProps) {
  const { arguments: given, tool, diff } = proposal
  const schema = useStore(catalogue)?.tools.find(({ name }) => name === tool)?.inputSchema
  const known = fieldsOf(schema, given)
  const after = isRecord(diff?.after) ? diff.after : {}
  const [asJson, setAsJson] = useState(false)
  const [fields, setFields] = useState<Fields>(given)
  const [text, setText] = useState("")
  const [problem, setProblem] = useState<string>()
  const form = useRef<HTMLFormElement>(null)
  // The pressed button is gone: without focus, typed text would trigger shortcuts.
  useEffect(() => form.current?.querySelector<HTMLElement>("input, textarea, select")?.focus(), [])
  const submit = async () => {
    if (isSent) return
    const changed = asJson ? parse(text) : { fields }
    if ("problem" in changed) return setProblem(changed.problem)
    setProblem(undefined)
    await onDone({ ...changed.fields })
  }
  const turn = () => {
    setProblem(undefined)
    if (!asJson) {
      setText(JSON.stringify(fields, undefined, 2))
      return setAsJson(true)
    }
    const read = parse(text)
    if ("problem" in read) return setProblem(read.problem)
    setFields(read.fields)
    setAsJson(false)
  }
  const editor = (field: EditField) => (
    <FieldEditor
      key={field.name}
      field={field}
      value={fields[field.name]}
      shown={after[toColumn(field.name)]}
      onChange={(next) => setFields((before) => withField(before, field.name, next))}
    />
  )
  return (
    <Form
      ref={form}
      className="space-y-3 border-t border-line px-4 py-3"
      onSubmit={submit}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return
        event.preventDefault()
        onCancel()
      }}
    >
      {asJson ? (
        <textarea
          autoFocus
          aria-label={t("proposal.argumentsAsJson")}
          spellCheck={false}
          rows={Math.min(16, text.split("\n").length + 1)}
          value={text}
          onChange={(event) => setText(event.target.value)}
          className="field font-mono text-[13px]"
        />
      ) : (
        <>
          {known.filter(({ name }) => name in given).map(editor)}
          {known.length > Object.keys(given).length && (
            <details className="text-sm">
              <summary className="w-fit rounded text-soft hover:text-ink">{t("proposal.moreFields")}</summary>
              <div className="mt-3 space-y-3">{known.filter(({ name }) => !(name in given)).map(editor)}</div>
            </details>
          )}
        </>
      )}
      {problem && (
        <p role="alert" className="text-sm text-danger">
          {problem}
        </p>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <SubmitButton look="main" disabled={isSent}>
          {t("proposal.saveAndReview")}
        </SubmitButton>
        <Button onClick={onCancel}>{t("common.back")}</Button>
        <Button look="quiet" onClick={turn} className="ml-auto">
          {t(asJson ? "proposal.editAsForm" : "proposal.editAsJson")}
        </Button>
      </div>
    </Form>
  )
}

/** The diff names the argument `due_date` `dueDate`. */
const toColumn = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

function withField(before: Fields, name: string, value: unknown): Fields {
  const { [name]: _, ...others } = before
  // Keeps the order of the other fields.
  return value === undefined ? others : { ...before, [name]: value }
}

function parse(text: string): { readonly fields: Record<string, unknown> } | { readonly problem: string } {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { fields: { ...value } }
    return { problem: t("proposal.needsObject") }
  } catch {
    return { problem: t("proposal.needsJson") }
  }
}

interface FieldEditorProps {
  readonly field: EditField
  readonly value: unknown
  /** The diff's value, if it differs from the argument. */
  readonly shown: unknown
  /** `undefined` removes the argument. */
  readonly onChange: (value: unknown) => void
}

/** One argument, in the control that fits its schema. */
function FieldEditor({ field, value, shown, onChange }: FieldEditorProps) {
  const { control, hint } = field
  const label = <Plain text={field.label} />
  if (control === "check") {
    return (
      <label className="flex items-center gap-2 text-sm">
        <FormField name={field.name}>
          <input type="checkbox" checked={value === true} onChange={(event) => onChange(event.target.checked)} />
        </FormField>{" "}
        {label}
      </label>
    )
  }
  if (control === "json") return <JsonField field={field} value={value} shown={shown} onChange={onChange} />
  return (
    <Labelled label={label}>
      <FormField name={field.name}>{toInput({ field, value, shown, onChange })}</FormField>
      {/* Choices and dates need no format hint. */}
      {hint && control !== "choice" && control !== "date" && (
        <span className="mt-0.5 block text-xs text-faint">
          <Plain text={hint} />
        </span>
      )}
    </Labelled>
  )
}

/** A choice in words: of a field that the page knows in its language. */
const choiceText = (name: string, choice: string): string => {
  const text = displayValue(name, choice)
  return typeof text === "string" && text !== choice ? text : humanName(choice)
}

/** An element rather than a component, so that `FieldOf` can describe it. */
function toInput({ field: { name, control, choices, isRequired }, value, shown, onChange }: FieldEditorProps) {
  const text = value === undefined || value === null ? "" : String(value)
  const date = control === "date" ? toDateInput(value, shown) : undefined
  if (control === "choice") {
    const known = text === "" || choices.includes(text) ? choices : [...choices, text]
    const none: readonly (readonly [string, string])[] = isRequired && text !== "" ? [] : [["", "–"]]
    return (
      <Select
        value={text}
        choices={[...none, ...known.map((each) => [each, choiceText(name, each)] as const)]}
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
        placeholder={t("proposal.onePerLine")}
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

/** An object or an unknown type: edited as JSON, applied when it is valid. */
function JsonField({ field, value, onChange }: FieldEditorProps) {
  const [text, setText] = useState(() => (value === undefined ? "" : JSON.stringify(value)))
  const [isBad, setBad] = useState(false)
  return (
    <Labelled
      label={
        <>
          <Plain text={field.label} /> {isBad && <span className="text-danger">{t("proposal.invalidJson")}</span>}
        </>
      }
    >
      <FormField name={field.name}>
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
      </FormField>
    </Labelled>
  )
}
