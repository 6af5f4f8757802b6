import { useState } from "react"
import { Button } from "../components/button.tsx"
import { Form, Labelled, SubmitButton } from "../components/form.tsx"
import { escapeHidden } from "../../../client/index.ts"
import { Plain } from "../components/plain.tsx"
import { client } from "../state/client.ts"
import type { ConnectionView } from "../state/connections.ts"
import { type Key, rich, t } from "../strings/strings.ts"
import { DataTable } from "../views/data-table.tsx"

type Answer = Awaited<ReturnType<typeof client.uploadCsv>>
type CsvPreview = Extract<Answer, { delimiter: string }>

/** A file with its preview. */
export interface Previewed {
  readonly file: File
  readonly type: "text/csv" | "text/tab-separated-values"
  /** The format that the user set. */
  readonly said: CsvFormat
  readonly preview: CsvPreview
}

interface CsvPreviewFormProps {
  readonly read: Previewed
  readonly isReading: boolean
  /** Reads the file again with this format. */
  readonly onSay: (said: CsvFormat) => void
  readonly onDone: (connection: ConnectionView) => void
  readonly onCancel: () => void
}

const DELIMITERS = new Map<string, Key>([
  [",", "connections.separatorComma"],
  [";", "connections.separatorSemicolon"],
  ["\t", "connections.separatorTab"],
  ["|", "connections.separatorPipe"],
])

/** The preview of a database from a file: columns with types, first rows, warnings, and the name to give it. */
export function CsvPreviewForm({ read, isReading, onSay, onDone, onCancel }: CsvPreviewFormProps) {
  const { file, type, said, preview } = read
  const { columns, rows, rowCount, delimiter, warnings, questions } = preview
  const [name, setName] = useState(() => nameOf(file))
  const separator = DELIMITERS.get(delimiter)
  const make = async () => {
    if (name.trim() === "") return
    const made = await client.uploadCsv({ query: { ...said, name: name.trim() }, file, type })
    if ("configured" in made) onDone(made)
  }
  return (
    <Form className="space-y-3 rounded-xl bg-sunken px-4 py-3" onSubmit={make}>
      <p className="text-sm text-soft [overflow-wrap:anywhere]">
        {rich("connections.csvSummary", {
          name: <Plain text={file.name} />,
          rows: rowCount,
          columns: columns.length,
          delimiter: separator === undefined ? escapeHidden(delimiter) : t(separator),
        })}
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
      <CsvOptions questions={questions} said={said} disabled={isReading} onSay={onSay} />
      <div className="overflow-hidden rounded-xl border border-line bg-surface">
        <DataTable columns={columns} rows={rows} />
        {rowCount > rows.length && (
          <p className="border-t border-line px-3 py-1.5 text-xs text-faint">
            {t("connections.firstRows", { count: rows.length })}
          </p>
        )}
      </div>
      <Labelled label={t("common.name")} field="name">
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
        <SubmitButton look="main" busy={t("connections.creating")} disabled={isReading || name.trim() === ""}>
          {t("connections.create")}
        </SubmitButton>
        <Button onClick={onCancel}>{t("common.cancel")}</Button>
      </div>
    </Form>
  )
}

const nameOf = (file: File): string => file.name.replace(/\.[^.]{1,5}$/, "").slice(0, 200) || "CSV"

type CsvQuery = NonNullable<Parameters<typeof client.uploadCsv>[0]["query"]>
/** The format of a file, as the user set it. */
export type CsvFormat = Pick<CsvQuery, "decimal" | "dates" | "header">

interface CsvQuestion {
  readonly column: string | null
  readonly option: keyof CsvFormat
  readonly says: string
}

interface CsvOptionsProps {
  readonly questions: readonly CsvQuestion[]
  readonly said: CsvFormat
  readonly disabled: boolean
  readonly onSay: (said: CsvFormat) => void
}

interface Option {
  readonly label: Key
  readonly choices: readonly (readonly [value: string, label: Key])[]
}

const OPTIONS: readonly (readonly [name: keyof CsvFormat, option: Option])[] = [
  [
    "header",
    {
      label: "connections.firstRow",
      choices: [
        ["true", "connections.firstRowColumns"],
        ["false", "connections.firstRowData"],
      ],
    },
  ],
  [
    "decimal",
    {
      label: "connections.decimal",
      choices: [
        ["point", "connections.decimalPoint"],
        ["comma", "connections.decimalComma"],
      ],
    },
  ],
  [
    "dates",
    {
      label: "connections.dates",
      choices: [
        ["day-first", "connections.dayFirst"],
        ["month-first", "connections.monthFirst"],
      ],
    },
  ],
]

/** The format options that the file leaves open, and those that are set. The first row can always be set. */
function CsvOptions({ questions, said, disabled, onSay }: CsvOptionsProps) {
  const shown = OPTIONS.filter(
    ([name]) => name === "header" || said[name] !== undefined || questions.some(({ option }) => option === name),
  )
  return (
    <div className="flex flex-wrap gap-x-4 gap-y-2">
      {shown.map(([name, { label, choices }]) => (
        <Labelled key={name} label={t(label)}>
          <select
            className="field"
            disabled={disabled}
            value={said[name] ?? ""}
            onChange={({ target: { value } }) => onSay({ ...said, [name]: value === "" ? undefined : value })}
          >
            <option value="">
              {t(questions.some(({ option }) => option === name) ? "connections.notAnswered" : "connections.detect")}
            </option>
            {choices.map(([value, choice]) => (
              <option key={value} value={value}>
                {t(choice)}
              </option>
            ))}
          </select>
        </Labelled>
      ))}
      {questions.length > 0 && (
        <ul className="basis-full text-[13px] text-soft">
          {questions.map(({ column, says }, index) => (
            <li key={index}>
              <Plain text={column === null ? says : `${column}: ${says}`} />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
