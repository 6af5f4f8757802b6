/** The number of 03/04/2025 that is the day. */
export type DayOrder = "day-first" | "month-first"

/** A cell with a day, and perhaps a time. */
export interface DateCell {
  /** The possible orders: with `both` they mean the same day, with `either` two different ones. */
  readonly as: DayOrder | "both" | "either"
  readonly hasTime: boolean
}

const ISO = /^(\d{4})-(\d\d)-(\d\d)$/
const ISO_TIME = /^(\d{4}-\d\d-\d\d)[T ]([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?$/
const YEAR_FIRST = /^(\d{4})([/.])(\d{1,2})\2(\d{1,2})$/
const YEAR_LAST = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})$/
const TIME = /^(\d{1,2}):([0-5]\d)(:[0-5]\d(?:[.,]\d{1,9})?)?(?: ?([AaPp])\.?[Mm]\.?)?$/
/** `3 Mar 2024`, `3-March-2024`, `Mar 3, 2024`: unambiguous, because the month has a name. */
const DAY_NAMED = /^(\d{1,2})[ -]([A-Za-z]{3,9})\.?,?[ -](\d{4})(?:,? (\S.*))?$/
const NAMED_DAY = /^([A-Za-z]{3,9})\.? (\d{1,2}),? (\d{4})(?:,? (\S.*))?$/
const MONTHS = "january february march april may june july august september october november december".split(" ")
/** Longer cells are not dates. */
const MAX = 40

/** Undefined if it is not a date. */
export function readDateCell(cell: string): DateCell | undefined {
  if (cell.length > MAX) return undefined
  if (isIso(cell)) return { as: "both", hasTime: false }
  const [, isoDay] = ISO_TIME.exec(cell) ?? []
  if (isoDay !== undefined) return isIso(isoDay) ? { as: "both", hasTime: true } : undefined
  const named = namedDay(cell)
  if (named) {
    const { day, time } = named
    return isIso(day) && (time === undefined || toTime(time)) ? { as: "both", hasTime: time !== undefined } : undefined
  }
  const [day, time] = parted(cell)
  if (time !== undefined && toTime(time) === undefined) return undefined
  const as = wayOf(day)
  return as && { as, hasTime: time !== undefined }
}

/** Converts to the form of ISO 8601 that SQLite reads. */
export function toIsoDate(cell: string, order: DayOrder): string {
  // The cell was recognized as a date before, so this check is enough.
  if (cell.charCodeAt(4) === 45 && cell.charCodeAt(7) === 45) return cell.length === DAY ? cell : readable(cell)
  const named = namedDay(cell)
  const [day, time] = named ? [named.day, named.time] : parted(cell)
  const iso = named?.day ?? dayOf(day, order) ?? day
  return time === undefined ? iso : `${iso} ${toTime(time) ?? time}`
}

const DAY = "2025-12-31".length

/** SQLite does not read a comma before the fraction or an offset without a colon, although ISO 8601 allows both. */
const readable = (cell: string) => cell.replace(",", ".").replace(/([+-]\d\d)(\d\d)$/, "$1:$2")

/** True for a date with a two-digit year, whose century is unknown. */
export const isShortDate = (cell: string) => /^\d{1,2}([./-])\d{1,2}\1\d{2}$/.test(cell)
/** True for the form of a date, also if that day does not exist. */
export const isDateLike = (cell: string) => ISO.test(cell) || YEAR_LAST.test(cell) || YEAR_FIRST.test(cell)

/** True for an unsupported date with a month's name: in another language, such as `3. März 2024`, or without a day. */
export function isNamedDate(cell: string): boolean {
  if (cell.length > MAX) return false
  const [, month] = /^(\p{L}{3,9})\.?[ -]\d{4}$/u.exec(cell) ?? []
  return month ? monthOf(month) !== undefined : /^\d{1,2}[. -]{1,2}(?:de )?\p{L}{3,10}\.?(?: de)?[ -]\d{4}$/u.test(cell)
}

/** From 1; by its English name, or its first letters. */
function monthOf(name: string): number | undefined {
  const written = name.toLowerCase()
  // Only "Sept" is abbreviated to four letters.
  const at = MONTHS.findIndex((month) => month === written || month.slice(0, written === "sept" ? 4 : 3) === written)
  return at < 0 ? undefined : at + 1
}

/** The offset from UTC as written; `none` if it has none. Undefined without a time. */
export function offsetOf(cell: string): string | undefined {
  if (!ISO_TIME.test(cell)) return undefined
  return /(?:Z|[+-]\d\d:?\d\d)$/.exec(cell.slice(DAY))?.[0].replace(/^([+-]\d\d)(\d\d)$/, "$1:$2") ?? "none"
}

function namedDay(cell: string): { readonly day: string; readonly time: string | undefined } | undefined {
  const [, first, second, year, time] = DAY_NAMED.exec(cell) ?? NAMED_DAY.exec(cell) ?? []
  if (first === undefined || second === undefined) return undefined
  const [name, day] = /^\d/.test(first) ? [second, first] : [first, second]
  const month = monthOf(name)
  return month === undefined
    ? undefined
    : { day: `${year}-${String(month).padStart(2, "0")}-${day.padStart(2, "0")}`, time }
}

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
  // Dates with points are day first.
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
