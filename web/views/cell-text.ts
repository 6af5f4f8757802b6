/** What a cell of a result says. A number is exact; what a number cannot hold is text already; bytes say how many they are. */
export function cellText(cell: unknown): string {
  if (cell === null || cell === undefined) return ""
  if (typeof cell === "string") return cell
  if (typeof cell !== "object") return String(cell as number | boolean)
  const { bytes, base64 } = cell as { readonly bytes?: unknown; readonly base64?: unknown }
  if (typeof bytes === "number" && typeof base64 === "string") return `${bytes.toLocaleString("en")} bytes: ${base64}`
  return JSON.stringify(cell)
}

export const isNothing = (cell: unknown): boolean => cell === null || cell === undefined

const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i

/** Whether a column's cells are numbers, so that they stand to the right; also exact ones, which come as text. */
export function isNumeric(cells: readonly unknown[]): boolean {
  const some = cells.filter((cell) => !isNothing(cell))
  return (
    some.length > 0 && some.every((cell) => typeof cell === "number" || (typeof cell === "string" && NUMBER.test(cell)))
  )
}
