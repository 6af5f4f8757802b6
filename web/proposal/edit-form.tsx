import { useEffect, useRef, useState } from "react"
import type { Proposal } from "../../src/protocol/index.ts"
import { Button } from "../parts/button.tsx"
import { catalogue } from "../state/catalogue.ts"
import { useStore } from "../state/store.ts"
import { FieldEditor } from "./edit-field.tsx"
import { type EditField, fieldsOf } from "./edit-fields.ts"
import { type Fields, isRecord } from "../changes/value-words.ts"

interface EditFormProps {
  readonly proposal: Proposal
  /** On its way. */
  readonly isSent: boolean
  readonly onDone: (changed: Record<string, unknown>) => void
  readonly onCancel: () => void
}

/** Other arguments for the same tool: field by field, or as JSON. They become a proposal of their own. */
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
  // The button that was pressed is gone: what is typed next would be taken for shortcuts.
  useEffect(() => form.current?.querySelector<HTMLElement>("input, textarea, select")?.focus(), [])
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
    <form
      ref={form}
      className="space-y-3 border-t border-line px-4 py-3"
      onSubmit={(event) => {
        event.preventDefault()
        if (!isSent) submit()
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
        <>
          {known.filter(({ name }) => name in given).map(editor)}
          {known.length > Object.keys(given).length && (
            <details className="text-sm">
              <summary className="w-fit rounded text-soft hover:text-ink">More that can be set</summary>
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
        <Button look="main" type="submit" disabled={isSent}>
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

/** `due_date` is told as `dueDate`. */
const toColumn = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

function withField(before: Fields, name: string, value: unknown): Fields {
  const { [name]: _, ...others } = before
  // In its place, so that what follows stays where it is.
  return value === undefined ? others : { ...before, [name]: value }
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
