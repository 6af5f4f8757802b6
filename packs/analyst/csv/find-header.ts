import type { CsvQuestion } from "../../../core/pack.ts"
import type { ColumnCells } from "./column-cells.ts"

interface Header {
  /** The first row names the columns. */
  readonly header: boolean
  readonly warning?: string
  readonly question?: CsvQuestion
}

const YEAR = /^(?:19|20)\d\d$/

/**
 * Decides whether the first row contains the names of the columns. It does not if each column of numbers or dates has a
 * number or date there, too. Years are an exception, because they are often names of columns.
 */
export function findHeader(first: readonly string[], columns: readonly ColumnCells[], chosen?: boolean): Header {
  if (chosen !== undefined) return { header: chosen }
  const typed = columns.flatMap((column, index) => {
    const cell = first[index]?.trim() ?? ""
    return column.ways === 0 || cell === "" ? [] : [{ cell, fits: column.accepts(cell) }]
  })
  if (typed.length === 0 || typed.some(({ fits }) => !fits)) return { header: true }
  if (typed.some(({ cell }) => !YEAR.test(cell)))
    return {
      header: false,
      warning:
        "The first row is like the others, so it was taken for data and the columns have no names; header=true says otherwise.",
    }
  const says = "The first row holds years, which may be names of columns or data; it was taken for names."
  return { header: true, question: { column: null, option: "header", choices: ["true", "false"], says } }
}
