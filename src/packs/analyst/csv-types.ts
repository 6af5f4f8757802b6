/** What the cells of a column are. `long`: a whole number of more digits than a double has; `exact`: any number of such. */
type CellType = "integer" | "long" | "decimal" | "exact" | "boolean" | "date" | "datetime" | "text"

/**
 * As SQLite is told. It guesses what to make of a value by these words: with TEXT in it, digits stay as they are written,
 * and what is neither a whole number nor a double never becomes one.
 */
const DECLARED: Readonly<Record<CellType, string>> = {
  integer: "INTEGER",
  long: "INTEGER",
  decimal: "REAL",
  exact: "DECIMAL TEXT",
  boolean: "BOOLEAN",
  date: "DATE",
  datetime: "DATETIME",
  text: "TEXT",
}

const NUMBERS: readonly CellType[] = ["integer", "long", "decimal", "exact"]
const LARGEST = 2n ** 63n - 1n
/** So many digits of a decimal number a double keeps. */
const DIGITS = 15

/** Looks at every cell of a column, and knows then what all of them are. */
export class ColumnType {
  #type: CellType | undefined

  see(cell: string): void {
    if (this.#type === "text" || cell === "") return
    const type = typeOf(cell.trim())
    this.#type = this.#type === undefined ? type : together(this.#type, type)
  }

  get declared(): string {
    return DECLARED[this.#type ?? "text"]
  }

  /** What is stored of a cell. One with nothing in it is NULL. */
  toValue(cell: string | undefined): string | number | bigint | null {
    if (cell === undefined || cell === "") return null
    switch (this.#type) {
      case "integer":
      case "decimal":
        return Number(cell)
      case "long":
        return BigInt(cell.trim())
      case "boolean":
        return /^true$/i.test(cell.trim()) ? 1 : 0
      case "exact":
      case "date":
      case "datetime":
        return cell.trim()
      default:
        return cell
    }
  }
}

function together(one: CellType, other: CellType): CellType {
  if (one === other) return one
  const [a, b] = [NUMBERS.indexOf(one), NUMBERS.indexOf(other)]
  if (a >= 0 && b >= 0) {
    const type = NUMBERS[Math.max(a, b)] as CellType
    // As a double, the long one would lose its last digits.
    return type === "decimal" && Math.min(a, b) === 1 ? "exact" : type
  }
  const dates = [one, other].every((type) => type === "date" || type === "datetime")
  return dates ? "datetime" : "text"
}

/** Without leading zeros: `007` and `01234` are names of something, as are `+49…` and whatever else is written oddly. */
const INTEGER = /^-?(?:0|[1-9]\d*)$/
const DECIMAL = /^-?(?:0|[1-9]\d*)?(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/
const DATETIME = /^(\d{4}-\d\d-\d\d)[T ]([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?$/

function typeOf(cell: string): CellType {
  const first = cell.charCodeAt(0)
  const numeric = (first >= 48 && first <= 57) || first === 45 || first === 46
  if (!numeric) return /^(?:true|false)$/i.test(cell) ? "boolean" : "text"
  if (INTEGER.test(cell)) return wholeType(cell)
  if (/\d/.test(cell) && DECIMAL.test(cell)) return keepsDigits(cell) ? "decimal" : "exact"
  if (isDate(cell)) return "date"
  const [, day] = DATETIME.exec(cell) ?? []
  return day !== undefined && isDate(day) ? "datetime" : "text"
}

function wholeType(cell: string): CellType {
  if (cell.length <= DIGITS) return "integer"
  if (cell.length > 20) return "exact"
  const number = BigInt(cell)
  return number <= LARGEST && number >= -LARGEST - 1n ? "long" : "exact"
}

function keepsDigits(cell: string): boolean {
  const number = Number(cell)
  if (!Number.isFinite(number)) return false
  const [mantissa = ""] = cell.split(/e/i)
  const digits = mantissa.replaceAll(/[-.]/g, "").replace(/^0+/, "")
  return digits.length <= DIGITS || String(number) === cell
}

function isDate(cell: string): boolean {
  const [, year, month, day] = DATE.exec(cell) ?? []
  if (year === undefined) return false
  const date = new Date(Date.UTC(2000, Number(month) - 1, Number(day)))
  date.setUTCFullYear(Number(year))
  return Number(month) >= 1 && date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day)
}
