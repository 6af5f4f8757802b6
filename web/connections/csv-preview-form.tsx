import { useState } from "react"
import { Button } from "../parts/button.tsx"
import { attempt } from "../parts/explain.ts"
import { escapeHidden } from "../parts/hidden-characters.ts"
import { Labelled } from "../parts/labelled.tsx"
import { Plain } from "../parts/plain.tsx"
import { count } from "../parts/words.ts"
import { client } from "../state/client.ts"
import type { ConnectionView } from "../state/connections.ts"
import { DataTable } from "../views/data-table.tsx"
import { CsvOptions, type CsvSaid } from "./csv-options.tsx"

type Answer = Awaited<ReturnType<typeof client.uploadCsv>>
type CsvPreview = Extract<Answer, { delimiter: string }>

/** A file that was looked into, and what was found. */
export interface Previewed {
  readonly file: File
  readonly type: "text/csv" | "text/tab-separated-values"
  /** What the person has said of it. */
  readonly said: CsvSaid
  readonly preview: CsvPreview
}

interface CsvPreviewFormProps {
  readonly read: Previewed
  readonly isReading: boolean
  /** Has it read again, in another way. */
  readonly onSay: (said: CsvSaid) => void
  readonly onDone: (connection: ConnectionView) => void
  readonly onCancel: () => void
}

const DELIMITERS = new Map<string, string>(
  Object.entries({ ",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars" }),
)

/** What would be made of a file: its columns with their types, its first rows, and what was odd; then its name. */
export function CsvPreviewForm({ read, isReading, onSay, onDone, onCancel }: CsvPreviewFormProps) {
  const { file, type, said, preview } = read
  const { columns, rows, rowCount, delimiter, warnings, questions } = preview
  const [name, setName] = useState(() => nameOf(file))
  const [isSent, setSent] = useState(false)
  const make = async () => {
    setSent(true)
    await attempt(async () => {
      const made = await client.uploadCsv({ query: { ...said, name: name.trim() }, file, type })
      if ("configured" in made) onDone(made)
    })
    setSent(false)
  }
  return (
    <form
      className="space-y-3 rounded-xl bg-sunken px-4 py-3"
      onSubmit={(event) => {
        event.preventDefault()
        if (name.trim() !== "") void make()
      }}
    >
      <p className="text-sm text-soft [overflow-wrap:anywhere]">
        <Plain text={file.name} />: {count(rowCount, "row")}, {count(columns.length, "column")}, between{" "}
        {DELIMITERS.get(delimiter) ?? escapeHidden(delimiter)}
      </p>
      {warnings.length > 0 && (
        <ul className="space-y-1 rounded-xl bg-warn-soft px-4 py-2 text-[13px] text-warn">
          {warnings.map((warning, index) => (
            <li key={index}>
              <Plain text={warning} />
            </li>
          ))}
        </ul>
      )}
      <CsvOptions questions={questions} said={said} disabled={isReading || isSent} onSay={onSay} />
      <div className="overflow-hidden rounded-xl border border-line bg-surface">
        <DataTable columns={columns} rows={rows} />
        {rowCount > rows.length && (
          <p className="border-t border-line px-3 py-1.5 text-xs text-faint">The first {rows.length} rows.</p>
        )}
      </div>
      <Labelled label="Name">
        <input
          autoFocus
          required
          maxLength={200}
          autoComplete="off"
          value={name}
          onChange={(event) => setName(event.target.value)}
          className="field"
        />
      </Labelled>
      <div className="flex gap-2">
        <Button look="main" type="submit" disabled={isSent || isReading || name.trim() === ""}>
          {isSent ? "Being made …" : "Make a database of it"}
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </form>
  )
}

const nameOf = (file: File): string => file.name.replace(/\.[^.]{1,5}$/, "").slice(0, 200) || "CSV"
