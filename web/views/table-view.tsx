import { Plain } from "../parts/plain.tsx"
import { count } from "../parts/words.ts"
import { defineView } from "./define-view.ts"

interface Table {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
  readonly truncated: boolean
}

/** More than anybody reads would only make the page slow. */
const MAX_ROWS = 200
const MAX_COLUMNS = 100
const MAX_CHARACTERS = 1000

/** `{ kind: "table", columns, rows, truncated? }`: columns by name, rows as lists or as objects. */
export const tableView = defineView<Table>({
  kind: "table",
  read({ columns, rows, truncated }) {
    if (!Array.isArray(columns) || !Array.isArray(rows)) return undefined
    const names = columns.slice(0, MAX_COLUMNS).map((column) => nameOf(column))
    const cut = truncated === true || columns.length > MAX_COLUMNS
    return { columns: names, rows: rows.map((row) => toCells(row, names)), truncated: cut }
  },
  Draw: ({ data: { columns, rows, truncated } }) => (
    <figure className="my-2 overflow-hidden rounded-xl border border-line bg-surface">
      <div className="max-h-96 overflow-auto" tabIndex={0} role="group" aria-label="Table">
        <table className="w-full text-[13px] tabular-nums">
          <thead>
            <tr>
              {columns.map((column, index) => (
                <th
                  key={index}
                  scope="col"
                  className="sticky top-0 border-b border-line bg-surface px-3 py-2 text-left font-semibold whitespace-nowrap"
                >
                  <Plain text={column} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, MAX_ROWS).map((cells, index) => (
              <tr key={index} className="border-b border-line last:border-0">
                {cells.map((cell, place) => (
                  <td
                    key={place}
                    className={`max-w-96 px-3 py-1.5 align-top [overflow-wrap:anywhere] ${typeof cell === "number" ? "text-right" : ""}`}
                  >
                    <Plain text={inWords(cell)} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <figcaption className="border-t border-line px-3 py-1.5 text-xs text-faint">
        {count(rows.length, "row")}
        {rows.length > MAX_ROWS && `, the first ${MAX_ROWS} shown`}
        {truncated && ", and there are more"}
      </figcaption>
    </figure>
  ),
})

const nameOf = (column: unknown): string =>
  typeof column === "object" && column !== null && "name" in column ? String(column.name) : String(column)

function toCells(row: unknown, columns: readonly string[]): unknown[] {
  if (Array.isArray(row)) return row.slice(0, columns.length)
  const fields = (typeof row === "object" && row !== null ? row : {}) as Record<string, unknown>
  return columns.map((column) => fields[column])
}

function inWords(cell: unknown): string {
  if (cell === null || cell === undefined) return "–"
  const text = typeof cell === "object" ? JSON.stringify(cell) : String(cell as string | number | boolean)
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text
}
