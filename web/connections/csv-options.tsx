import { Plain } from "../parts/plain.tsx"
import { Labelled } from "../parts/labelled.tsx"
import type { client } from "../state/client.ts"

type CsvQuery = NonNullable<Parameters<typeof client.uploadCsv>[0]["query"]>
/** What a person says of a file. */
export type CsvSaid = Pick<CsvQuery, "decimal" | "dates" | "header">

export interface CsvQuestion {
  readonly column: string | null
  readonly option: keyof CsvSaid
  readonly says: string
}

interface CsvOptionsProps {
  readonly questions: readonly CsvQuestion[]
  readonly said: CsvSaid
  readonly disabled: boolean
  readonly onSay: (said: CsvSaid) => void
}

interface Option {
  readonly label: string
  readonly choices: readonly (readonly [value: string, words: string])[]
}

const OPTIONS: readonly (readonly [name: keyof CsvSaid, option: Option])[] = [
  [
    "header",
    {
      label: "The first row",
      choices: [
        ["true", "names the columns"],
        ["false", "is data"],
      ],
    },
  ],
  [
    "decimal",
    {
      label: "Before the decimals stands",
      choices: [
        ["point", "a point: 1,234.56"],
        ["comma", "a comma: 1.234,56"],
      ],
    },
  ],
  [
    "dates",
    {
      label: "In dates like 03/04/2025",
      choices: [
        ["day-first", "the day is first"],
        ["month-first", "the month is first"],
      ],
    },
  ],
]

/** What a file does not tell: each question that it leaves open, and what was said to it. The first row can always be said. */
export function CsvOptions({ questions, said, disabled, onSay }: CsvOptionsProps) {
  const shown = OPTIONS.filter(
    ([name]) => name === "header" || said[name] !== undefined || questions.some(({ option }) => option === name),
  )
  return (
    <div className="flex flex-wrap gap-x-4 gap-y-2">
      {shown.map(([name, { label, choices }]) => (
        <Labelled key={name} label={label}>
          <select
            className="field"
            disabled={disabled}
            value={said[name] ?? ""}
            onChange={({ target: { value } }) => onSay({ ...said, [name]: value === "" ? undefined : value })}
          >
            <option value="">{questions.some(({ option }) => option === name) ? "not said yet" : "as it looks"}</option>
            {choices.map(([value, words]) => (
              <option key={value} value={value}>
                {words}
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
