import { isName } from "../../src/charts/index.ts"

/** What a cell of a result says. A number is exact; what a number cannot hold is text already; bytes say how many they are. */
export function cellText(cell: unknown): string {
  if (cell === null || cell === undefined) return ""
  if (typeof cell === "string") return cell
  if (typeof cell !== "object") return String(cell as number | boolean)
  const { bytes, base64 } = cell as { readonly bytes?: unknown; readonly base64?: unknown }
  if (typeof bytes === "number" && typeof base64 === "string") return `${bytes.toLocaleString()} bytes: ${base64}`
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

/** Whether a column's numbers are grouped by thousands. Years, ids and codes are names, and are not. */
export function isGrouped(name: string, cells: readonly unknown[]): boolean {
  if (isName({ name }) || !isNumeric(cells)) return false
  const some = cells.filter((cell) => !isNothing(cell))
  return !some.every(isLikeYear) && !some.some((cell) => /^-?0\d|e/i.test(cellText(cell)))
}

const isLikeYear = (cell: unknown): boolean => /^(?:1[5-9]|20)\d\d$/.test(cellText(cell))

const whole = new Intl.NumberFormat(undefined, { numberingSystem: "latn" })
const decimalSign = whole.formatToParts(0.5).find(({ type }) => type === "decimal")?.value ?? "."

/** A number as its reader writes it, with every digit that it has: `1234567.50` is `1,234,567.50`, or `1.234.567,50`. */
export function toGrouped(text: string): string {
  const [, sign = "", digits = "", decimals] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  if (digits === "") return text
  return sign + whole.format(BigInt(digits)) + (decimals === undefined ? "" : decimalSign + decimals)
}
