import { cellText, isNothing, isNumeric } from "./cell-text.ts"

export interface Order {
  readonly column: number
  readonly isDown: boolean
}

type Rows = readonly (readonly unknown[])[]

const words = new Intl.Collator(undefined, { numeric: true })

/** Rows by one column: numbers by size, also those that came as text, everything else as a reader would; nothing last. */
export function sortRows(rows: Rows, { column, isDown }: Order): Rows {
  const cells = rows.map((row) => row[column])
  const compare = isNumeric(cells) ? bySize : byWords(cells)
  const there = rows.map((_, index) => index).filter((index) => !isNothing(cells[index]))
  const missing = rows.filter((_, index) => isNothing(cells[index]))
  there.sort((a, b) => (isDown ? -1 : 1) * compare(cells[a], cells[b]) || a - b)
  return [...there.map((index) => rows[index] as readonly unknown[]), ...missing]
}

function bySize(a: unknown, b: unknown): number {
  const difference = Number(a) - Number(b)
  // Beyond what a number holds exactly, whole ones are still told apart.
  if (difference !== 0 || typeof a !== "string" || typeof b !== "string" || a === b) return difference
  const isWhole = /^-?\d+$/
  return isWhole.test(a) && isWhole.test(b) ? (BigInt(a) < BigInt(b) ? -1 : 1) : 0
}

/** Each cell is put into words once, not once for each cell it is compared with. */
function byWords(cells: readonly unknown[]): (a: unknown, b: unknown) => number {
  const said = new Map<unknown, string>()
  for (const cell of cells) if (!said.has(cell)) said.set(cell, cellText(cell))
  return (a, b) => words.compare(said.get(a) ?? "", said.get(b) ?? "")
}
