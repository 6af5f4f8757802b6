import { isNullWord, isSureNullWord } from "./missing-values.ts"
import { type NumberType, numberType, togetherType } from "./number-type.ts"
import { isDateLike, isNamedDate, isShortDate, offsetOf, readDateCell } from "./read-date.ts"
import { readNumber, toPlainNumber } from "./read-number.ts"

/** Bits for the ways to read a cell. A column can be read in the ways that all of its cells share. */
export const [BOOLEAN, POINT, COMMA, DAY, MONTH] = [1, 2, 4, 8, 16]
export const NUMBERS = POINT | COMMA
export const DATES = DAY | MONTH
const ANY = BOOLEAN | NUMBERS | DATES

/** The cells of a text column that are examined to detect whether it was meant to have another type. */
const LOOKED_AT = 1000

/** A cell and its position in the file. */
export interface FoundCell {
  readonly line: number
  readonly cell: string
}

/** Collects the cells of a column to find a type that fits all of them. */
export class ColumnCells {
  #ways = ANY
  #cells = 0
  #typed = 0
  #names = false
  #unit: string | undefined
  #eitherNumber: FoundCell | undefined
  #eitherDate: FoundCell | undefined
  #spaced: FoundCell | undefined
  #isSmall = false
  #hasTime = false
  #point: NumberType | undefined
  #comma: NumberType | undefined
  #nulls = 0
  #null: string | undefined
  #sureNull: string | undefined
  #odd: FoundCell | undefined
  #text: FoundCell | undefined
  #named: FoundCell | undefined
  #offset: (FoundCell & { readonly offset: string }) | undefined
  #otherOffset: (FoundCell & { readonly offset: string }) | undefined

  see(written: string, line: number): void {
    if (written === "" || (this.#ways === 0 && this.#cells > LOOKED_AT)) return
    const cell = written.trim()
    if (cell === "") return
    if (!isDigit(cell.charCodeAt(0)) && isNullWord(cell)) return this.#seeNull(cell)
    this.#cells++
    const ways = this.#waysOf(cell, line)
    if (ways !== 0 || looksTyped(cell)) this.#typed++
    if (ways === 0) this.#text ??= { line, cell }
    if ((this.#ways & ways) === 0) this.#odd ??= { line, cell }
    this.#ways &= ways
  }

  /** The types that the column can be read as, without a setting by the sender. */
  get ways() {
    // Groups of three digits with spaces are numbers if the column also has smaller or fractional numbers; otherwise
    // they are names.
    const ways = this.#spaced && !this.#isSmall ? this.#ways & ~NUMBERS : this.#ways
    return this.#cells === 0 ? 0 : ways
  }

  /** True if another cell fits one of the remaining types. */
  accepts(cell: string): boolean {
    const other = new ColumnCells()
    other.see(cell, 0)
    return (other.#ways & this.ways) !== 0 && (other.#unit ?? "") === (this.#unit ?? "")
  }

  /** The decimal sign of its numbers, if there is only one way to read them. */
  get decimal(): "point" | "comma" | undefined {
    const ways = this.ways & NUMBERS
    return ways === POINT ? "point" : ways === COMMA ? "comma" : undefined
  }

  get dates(): "day-first" | "month-first" | undefined {
    const ways = this.ways & DATES
    return ways === DAY ? "day-first" : ways === MONTH ? "month-first" : undefined
  }

  get facts() {
    const common = { unit: this.#unit ?? "", nulls: this.#nulls, null: this.#null, sureNull: this.#sureNull }
    const numbers = { point: this.#point ?? "integer", comma: this.#comma ?? "integer" } as const
    const doubts = { number: this.#eitherNumber, date: this.#eitherDate, spaced: this.#spaced }
    const isMixed = !this.#names && this.#cells > 0 && this.#typed * 2 >= this.#cells
    const dates = { named: this.#named, offset: this.#offset, otherOffset: this.#otherOffset }
    return {
      ...common,
      ...numbers,
      ...doubts,
      ...dates,
      hasTime: this.#hasTime,
      odd: isMixed ? this.#oddest : undefined,
    }
  }

  /** The cell that prevents a type: text among numbers or dates. Undefined if there is none. */
  get #oddest(): FoundCell | undefined {
    return this.#text ?? this.#odd
  }

  #seeNull(cell: string): void {
    this.#nulls++
    this.#null ??= cell
    if (isSureNullWord(cell)) this.#sureNull ??= cell
  }

  #waysOf(cell: string, line: number): number {
    if (isPlain(cell) && (this.#unit ??= "") === "") {
      if (cell.length < 4) this.#isSmall = true
      this.#point = togetherType(this.#point, "integer")
      this.#comma = togetherType(this.#comma, "integer")
      return NUMBERS
    }
    const number = readNumber(cell)
    if (number) {
      const { body, unit, as, spaced } = number
      if (this.#unit !== undefined && this.#unit !== unit) return 0
      this.#unit = unit
      if (spaced) this.#spaced ??= { line, cell }
      else if (as !== "both" || body.length < 4) this.#isSmall = true
      if (as === "either") this.#eitherNumber ??= { line, cell }
      if (as !== "comma") this.#point = togetherType(this.#point, numberType(toPlainNumber(body, "point")))
      if (as !== "point") this.#comma = togetherType(this.#comma, numberType(toPlainNumber(body, "comma")))
      return as === "point" ? POINT : as === "comma" ? COMMA : NUMBERS
    }
    if (isBoolean(cell)) return BOOLEAN
    const date = readDateCell(cell)
    if (!date) return this.#nameOrText(cell, line)
    if (date.hasTime) {
      this.#hasTime = true
      const offset = offsetOf(cell)
      if (offset !== undefined) this.#offset ??= { line, cell, offset }
      if (offset !== undefined && offset !== this.#offset?.offset) this.#otherOffset ??= { line, cell, offset }
    }
    if (date.as === "either") this.#eitherDate ??= { line, cell }
    return date.as === "day-first" ? DAY : date.as === "month-first" ? MONTH : DATES
  }

  /** Numbers with leading zeros or a plus are names, and so is everything in their column. */
  #nameOrText(cell: string, line: number): number {
    if (!this.#named && isNamedDate(cell)) this.#named = { line, cell }
    if (/^0\d|^\+\d/.test(cell) && !isDateLike(cell) && !isShortDate(cell)) this.#names = true
    return 0
  }
}

const isDigit = (code: number) => code >= 48 && code <= 57
/** A fast check that accepts most cells with numbers. */
const isPlain = (cell: string) => cell.length < 15 && /^-?(?:0|[1-9]\d*)$/.test(cell)
const isBoolean = (cell: string) => cell.length < 6 && /^(?:true|false)$/i.test(cell)

/** True for a cell in a format of amounts or dates that is not supported. */
const looksTyped = (cell: string) =>
  cell.length < 40 && (isShortDate(cell) || isDateLike(cell) || /^\([\d.,' ]+\)$|^[\d.,' ]+-$/.test(cell))
