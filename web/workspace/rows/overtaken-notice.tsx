import { Button } from "../../parts/button.tsx"
import { Plain } from "../../parts/plain.tsx"
import { humanName } from "../../parts/words.ts"
import { isDay } from "../../../src/protocol/index.ts"
import { dueInWords } from "../due.ts"
import type { RowDraft } from "./use-row-draft.ts"

/** Somebody else was first: what is shown is theirs, and what the person had written is not lost. */
export function OvertakenNotice<Row extends object>({ draft }: { readonly draft: RowDraft<Row> }) {
  const { overtaken } = draft
  if (!overtaken) return null
  const columns = Object.keys(overtaken) as (keyof Row & string)[]
  return (
    <div role="alert" className="mb-4 space-y-2 rounded-xl bg-warn-soft px-3.5 py-2.5 text-sm text-warn">
      <p>This was changed meanwhile, so yours was not saved. Here is the newer one.</p>
      {columns.map((column) => {
        const mine = overtaken[column] as Row[typeof column]
        return (
          <div key={column} className="flex items-start gap-2">
            <p className="max-h-32 min-w-0 flex-1 overflow-auto whitespace-pre-wrap [overflow-wrap:anywhere]">
              Your {humanName(column.replaceAll(/([A-Z])/g, " $1")).toLowerCase()}:{" "}
              <Plain text={inWords(column, mine)} />
            </p>
            <Button small onClick={() => draft.set(column, mine)} disabled={draft.value(column) === mine}>
              Use mine
            </Button>
          </div>
        )
      })}
    </div>
  )
}

function inWords(column: string, value: unknown): string {
  if (value === null || value === "") return "none"
  if (/date/i.test(column) && (typeof value === "number" || isDay(value))) return dueInWords(value, Date.now())
  return String(value)
}
