import { useState } from "react"
import { Button } from "../parts/button.tsx"
import { Plain } from "../parts/plain.tsx"

type Fields = Readonly<Record<string, unknown>>

interface EditFormProps {
  readonly given: Fields
  readonly onDone: (changed: Record<string, unknown>) => void
  readonly onCancel: () => void
}

/** Other arguments for the same tool: field by field, or as JSON. They become a proposal of their own. */
export function EditForm({ given, onDone, onCancel }: EditFormProps) {
  const [asJson, setAsJson] = useState(false)
  const [fields, setFields] = useState<Fields>(given)
  const [text, setText] = useState("")
  const [problem, setProblem] = useState<string>()
  const submit = () => {
    const changed = asJson ? parse(text) : { fields }
    if ("problem" in changed) return setProblem(changed.problem)
    onDone({ ...changed.fields })
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
  return (
    <form
      className="space-y-3 border-t border-line px-4 py-3"
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return
        event.preventDefault()
        onCancel()
      }}
    >
      {asJson ? (
        <textarea
          autoFocus
          aria-label="Arguments as JSON"
          spellCheck={false}
          rows={Math.min(16, text.split("\n").length + 1)}
          value={text}
          onChange={(event) => setText(event.target.value)}
          className="field font-mono text-[13px]"
        />
      ) : (
        Object.entries(fields).map(([name, value]) => (
          <FieldEditor
            key={name}
            name={name}
            value={value}
            onChange={(next) => setFields((before) => ({ ...before, [name]: next }))}
          />
        ))
      )}
      {problem && (
        <p role="alert" className="text-sm text-danger">
          {problem}
        </p>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <Button look="main" type="submit">
          Propose this instead
        </Button>
        <Button onClick={onCancel}>Back</Button>
        <Button look="quiet" onClick={turn} className="ml-auto">
          {asJson ? "Edit by field" : "Edit as JSON"}
        </Button>
      </div>
    </form>
  )
}

interface FieldEditorProps {
  readonly name: string
  readonly value: unknown
  readonly onChange: (value: unknown) => void
}

function FieldEditor({ name, value, onChange }: FieldEditorProps) {
  const label = <Plain text={name} />
  if (typeof value === "boolean") {
    return (
      <label className="flex items-center gap-2 text-sm">
        <input type="checkbox" checked={value} onChange={(event) => onChange(event.target.checked)} /> {label}
      </label>
    )
  }
  if (typeof value === "string") {
    return (
      <label className="block text-sm">
        <span className="mb-1 block text-soft">{label}</span>
        <textarea
          rows={Math.min(8, Math.ceil(value.length / 70) + value.split("\n").length - 1 || 1)}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          className="field resize-y"
        />
      </label>
    )
  }
  return <JsonField name={name} value={value} onChange={onChange} />
}

/** A number, a list or an object: written as JSON, taken over when it is some. */
function JsonField({ name, value, onChange }: FieldEditorProps) {
  const [text, setText] = useState(() => JSON.stringify(value))
  const [isBad, setBad] = useState(false)
  return (
    <label className="block text-sm">
      <span className="mb-1 block text-soft">
        <Plain text={name} /> {isBad && <span className="text-danger">is not valid JSON</span>}
      </span>
      <input
        value={text}
        aria-invalid={isBad}
        onChange={(event) => {
          setText(event.target.value)
          try {
            onChange(JSON.parse(event.target.value))
            setBad(false)
          } catch {
            setBad(true)
          }
        }}
        className="field font-mono text-[13px]"
      />
    </label>
  )
}

function parse(text: string): { readonly fields: Record<string, unknown> } | { readonly problem: string } {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { fields: { ...value } }
    return { problem: "This has to be an object: { … }." }
  } catch (error) {
    return { problem: `This is not JSON: ${(error as Error).message}.` }
  }
}
