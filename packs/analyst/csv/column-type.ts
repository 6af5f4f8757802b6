import type { CsvQuestion, CsvReading } from "../../../core/pack.ts"
import { BOOLEAN, type ColumnCells, DATES, type FoundCell, NUMBERS } from "./column-cells.ts"
import { isNullWord } from "./missing-values.ts"
import type { NumberType } from "./number-type.ts"
import { type DayOrder, toIsoDate } from "./read-date.ts"
import { type Decimal, readNumber, toPlainNumber } from "./read-number.ts"

type Value = string | number | bigint | null

/** The detected type of a column. */
export interface ColumnType {
  /** The declared type in SQLite. */
  readonly declared: string
  /** Converts a cell to its stored value. An empty cell is NULL. */
  toValue(cell: string | undefined): Value
  /** A note about the conversion, such as a unit that was removed. */
  readonly note?: string
  readonly warnings: readonly string[]
  readonly question?: Omit<CsvQuestion, "column">
}

/** The preferences that decide if cells could have two types. */
export type Habits = Pick<CsvReading, "decimal" | "dates">

/**
 * SQLite derives the affinity of a column from these words: with TEXT in it, digits stay as written, and a value that
 * is neither an integer nor a double is not converted.
 */
const DECLARED: Readonly<Record<NumberType, string>> = {
  integer: "INTEGER",
  long: "INTEGER",
  decimal: "REAL",
  exact: "DECIMAL TEXT",
}

/**
 * Returns the type of a column after all cells were read: the type of all its cells, and text if the type is ambiguous.
 */
export function toColumnType(cells: ColumnCells, habits: Habits): ColumnType {
  const { ways, facts } = cells
  if (ways & NUMBERS) {
    const decimal = cells.decimal ?? (facts.number ? habits.decimal : "point")
    return decimal ? numbers(cells, decimal) : text(cells, askDecimal(facts.number))
  }
  if (ways & DATES) {
    const order = cells.dates ?? (facts.date ? habits.dates : "day-first")
    return order ? dates(cells, order) : text(cells, askDates(facts.date))
  }
  if (ways & BOOLEAN) return typed(cells, "BOOLEAN", (cell) => (/^true$/i.test(cell) ? 1 : 0))
  return text(cells)
}

function numbers(cells: ColumnCells, decimal: Decimal): ColumnType {
  const { unit, [decimal]: type } = cells.facts
  const isQuick = decimal === "point" && (type === "integer" || type === "decimal")
  const toValue = (cell: string): Value => {
    // Most numbers have JavaScript's format. The others are NaN here and parsed below.
    const plain = isQuick ? Number(cell) : Number.NaN
    if (!Number.isNaN(plain)) return plain
    const body = readNumber(cell)?.body
    if (body === undefined) return null
    const number = toPlainNumber(body, decimal)
    if (type === "exact") return number
    return type === "long" ? BigInt(number) : Number(number)
  }
  const told = unit === "%" ? "in percent: 12.5 is 12.5 %" : `in ${unit}`
  const exact =
    type === "exact" ? ["Some numbers have more digits than a sum keeps; they are stored as they are written."] : []
  return {
    ...typed(cells, DECLARED[type], toValue),
    ...(unit === "" ? {} : { note: told }),
    warnings: [...nulls(cells), ...exact],
  }
}

function dates(cells: ColumnCells, order: DayOrder): ColumnType {
  const { hasTime, offset, otherOffset } = cells.facts
  const type = typed(cells, hasTime ? "DATETIME" : "DATE", (cell) => toIsoDate(cell, order))
  if (!offset || !otherOffset) return type
  const [one, other] = [offset, otherOffset].map((each) => `${toldOffset(each.offset)} (line ${each.line})`)
  const mixed = `Times are written with ${one} and with ${other}: compare and sort them with datetime(…), which turns them into UTC.`
  return { ...type, warnings: [...type.warnings, mixed] }
}

const toldOffset = (offset: string) => (offset === "none" ? "no offset" : `the offset ${offset}`)

function typed(cells: ColumnCells, declared: string, read: (cell: string) => Value): ColumnType {
  return {
    declared,
    warnings: nulls(cells),
    toValue(written) {
      const cell = written?.trim() ?? ""
      return cell === "" || (!isDigit(cell) && isNullWord(cell)) ? null : read(cell)
    },
  }
}

/** True if it starts with a digit, which no word for a missing value does. */
const isDigit = (cell: string) => cell.charCodeAt(0) >= 48 && cell.charCodeAt(0) <= 57

function text(cells: ColumnCells, question?: ColumnType["question"]): ColumnType {
  const { odd, spaced, sureNull, named } = cells.facts
  const warnings: string[] = []
  if (question) {
    const options = question.choices.map((choice) => `${question.option}=${choice}`).join(" or ")
    warnings.push(`${question.says} The column stays text until the upload says ${options}; nothing is to be added up.`)
  } else if (named)
    warnings.push(
      `${quoted(named)} (line ${named.line}) looks like a date that is not read; the column stays text. Dates such as 2024-03-31 or 31 Mar 2024 are read.`,
    )
  else if (odd) warnings.push(`line ${odd.line} holds ${quoted(odd)}, unlike the others; the column stays text.`)
  else if (spaced && cells.ways === 0)
    warnings.push(`${quoted(spaced)} (line ${spaced.line}) may be a number or a name; the column stays text.`)
  if (sureNull !== undefined) warnings.push(`some cells say “${sureNull}”, which is text in a column of text.`)
  return {
    declared: "TEXT",
    warnings,
    ...(question ? { question } : {}),
    toValue: (cell) => (cell === undefined || cell === "" ? null : cell),
  }
}

function nulls(cells: ColumnCells): string[] {
  const { nulls: count, null: word } = cells.facts
  return count === 0 ? [] : [`${count} cell(s) such as “${word}” are NULL.`]
}

function askDecimal(found: FoundCell | undefined): ColumnType["question"] {
  const body = readNumber(found?.cell ?? "")?.body ?? ""
  const [point, comma] = [Number(toPlainNumber(body, "point")), Number(toPlainNumber(body, "comma"))]
  const says = `${quoted(found)} (line ${found?.line}) may be ${point} or ${comma}.`
  return { option: "decimal", choices: ["point", "comma"], says }
}

function askDates(found: FoundCell | undefined): ColumnType["question"] {
  const [day, month] = [toIsoDate(found?.cell ?? "", "day-first"), toIsoDate(found?.cell ?? "", "month-first")]
  const says = `${quoted(found)} (line ${found?.line}) may be ${day} or ${month}.`
  return { option: "dates", choices: ["day-first", "month-first"], says }
}

const SHOWN = 40
const quoted = (found: FoundCell | undefined) => `“${(found?.cell ?? "").slice(0, SHOWN).toWellFormed()}”`
