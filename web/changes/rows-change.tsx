import { Plain } from "../parts/plain.tsx"
import type { RowsBlock } from "./blocks.ts"
import { pairRows, type ShownRow } from "./pair-rows.ts"
import { toText } from "./value-words.ts"

/** Rows of a database as they are and as they would be: one table, in which what changes is marked. */
export function RowsChange({ block }: { readonly block: RowsBlock }) {
  const { columns, rowCount } = block
  const rows = pairRows(block)
  return (
    <div className="overflow-x-auto rounded-lg border border-line" tabIndex={0} role="group" aria-label="Rows">
      <table className="w-full text-left text-[13px]">
        <thead>
          <tr className="border-b border-line text-xs text-soft">
            {columns.map((name, index) => (
              <th key={index} scope="col" className="px-2.5 py-1.5 font-medium whitespace-nowrap">
                <Plain text={name} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index} className="border-b border-line align-top last:border-0">
              {columns.map((_, place) => (
                <td key={place} className="max-w-80 px-2.5 py-1.5 [overflow-wrap:anywhere]">
                  <Cell row={row} place={place} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rowCount > rows.length && (
        <p className="px-2.5 py-1.5 text-[13px] text-faint">
          These are the first {rows.length} of {rowCount} rows.
        </p>
      )}
    </div>
  )
}

function Cell({ row: { was, now }, place }: { readonly row: ShownRow; readonly place: number }) {
  const [old, next] = [was && cellText(was[place]), now && cellText(now[place])]
  if (old === next) return <Plain text={next ?? ""} />
  return (
    <>
      {old !== undefined && (
        <del className={`text-danger ${now ? "decoration-1" : "no-underline"}`}>
          <Plain text={old} />
        </del>
      )}{" "}
      {next !== undefined && (
        <ins className={was ? "rounded bg-good-soft text-good no-underline" : "no-underline"}>
          <Plain text={next} />
        </ins>
      )}
    </>
  )
}

const cellText = (value: unknown): string => (value === null || value === undefined ? "–" : toText(value))
