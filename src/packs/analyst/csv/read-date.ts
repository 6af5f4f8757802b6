/** Which number of 03/04/2025 is the day. */
export type DayOrder = "day-first" | "month-first"

/** A cell that is a day, or one with a time. */
export interface DateCell {
  /** How it may be meant: `both` are the same day, `either` are two different ones. */
  readonly as: DayOrder | "both" | "either"
  readonly hasTime: boolean
}

const ISO = /^(\d{4})-(\d\d)-(\d\d)$/
const ISO_TIME = /^(\d{4}-\d\d-\d\d)[T ]([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?$/
const YEAR_FIRST = /^(\d{4})([/.])(\d{1,2})\2(\d{1,2})$/
const YEAR_LAST = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})$/
const TIME = /^(\d{1,2}):([0-5]\d)(:[0-5]\d(?:[.,]\d{1,9})?)?(?: ?([AaPp])\.?[Mm]\.?)?$/
/** Longer cells are no dates. */
const MAX = 40

/** Undefined for what is no date. */
export function readDateCell(cell: string): DateCell | undefined {
  if (cell.length > MAX) return undefined
  if (isIso(cell)) return { as: "both", hasTime: false }
  const [, isoDay] = ISO_TIME.exec(cell) ?? []
  if (isoDay !== undefined) return isIso(isoDay) ? { as: "both", hasTime: true } : undefined
  const [day, time] = parted(cell)
  if (time !== undefined && toTime(time) === undefined) return undefined
  const as = wayOf(day)
  return as && { as, hasTime: time !== undefined }
}

/** As ISO 8601 writes it, in the way that SQLite reads. */
export function toIsoDate(cell: string, order: DayOrder): string {
  // It was read as a date before, and so is one.
  if (cell.charCodeAt(4) === 45 && cell.charCodeAt(7) === 45) return cell.length === DAY ? cell : readable(cell)
  const [day, time] = parted(cell)
  const iso = dayOf(day, order) ?? day
  return time === undefined ? iso : `${iso} ${toTime(time) ?? time}`
}

const DAY = "2025-12-31".length

/** A comma before the fraction and an offset without its colon are ISO 8601, but to SQLite they are no time: `strftime` would be NULL. */
const readable = (cell: string) => cell.replace(",", ".").replace(/([+-]\d\d)(\d\d)$/, "$1:$2")

/** Whether it is written as a date is, with a year of two digits: nobody says of which century. */
export const isShortDate = (cell: string) => /^\d{1,2}([./-])\d{1,2}\1\d{2}$/.test(cell)
/** A date as it is written, which may be one that there is not. */
export const isDateLike = (cell: string) => ISO.test(cell) || YEAR_LAST.test(cell) || YEAR_FIRST.test(cell)

function wayOf(day: string): DateCell["as"] | undefined {
  const [first, second] = [dayOf(day, "day-first"), dayOf(day, "month-first")]
  if (first === undefined) return second === undefined ? undefined : "month-first"
  if (second === undefined) return "day-first"
  return first === second ? "both" : "either"
}

function dayOf(day: string, order: DayOrder): string | undefined {
  const yearFirst = YEAR_FIRST.exec(day)
  if (yearFirst) return isoOf(yearFirst[1], yearFirst[3], yearFirst[4])
  const [, one, sign, two, year] = YEAR_LAST.exec(day) ?? []
  // Whoever writes points writes the day first.
  if (sign === "." && order === "month-first") return undefined
  return order === "day-first" ? isoOf(year, two, one) : isoOf(year, one, two)
}

function isoOf(year = "", month = "", day = ""): string | undefined {
  const iso = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`
  return isIso(iso) ? iso : undefined
}

function parted(cell: string): [day: string, time?: string] {
  const at = cell.search(/[T ]/)
  return at === -1 ? [cell] : [cell.slice(0, at).replace(/,$/, ""), cell.slice(at + 1).trim()]
}

function toTime(time: string): string | undefined {
  const [, hour = "", minute = "", seconds = "", half] = TIME.exec(time) ?? []
  const number = Number(hour)
  if (hour === "" || number > (half ? 12 : 23) || (half && number === 0)) return undefined
  const late = half?.toLowerCase() === "p" ? 12 : 0
  const shown = half ? (number % 12) + late : number
  return `${String(shown).padStart(2, "0")}:${minute}${seconds.replace(",", ".")}`
}

function isIso(cell: string): boolean {
  const [, year, month, day] = ISO.exec(cell) ?? []
  if (year === undefined) return false
  const date = new Date(Date.UTC(2000, Number(month) - 1, Number(day)))
  date.setUTCFullYear(Number(year))
  return Number(month) >= 1 && date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day)
}
