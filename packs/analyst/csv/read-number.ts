/** The decimal sign. */
export type Decimal = "point" | "comma"

/** A cell with a number in one or both of the two notations. */
export interface NumberCell {
  /** The number without its currency. */
  readonly body: string
  /** A currency, or `%`; empty if there is none. */
  readonly unit: string
  /** The possible notations: with `both` they mean the same number, with `either` two different ones. */
  readonly as: Decimal | "both" | "either"
  /** The digits are grouped by spaces only, as in phone numbers. */
  readonly spaced: boolean
}

/** Without leading zeros: `007` and `01234` are names, as are `+49…` and other unusual forms. */
const WHOLE = /^-?(?:0|[1-9]\d*)$/
const POINT = /^-?(?:0|[1-9]\d*)?\.\d+$/
const COMMA = /^-?(?:0|[1-9]\d*)?,\d+$/
const POWER = /^-?(?:0|[1-9]\d*)?(?:\.\d+)?[eE][+-]?\d{1,3}$/
const EITHER = /^-?[1-9]\d{0,2}[.,]\d{3}$/
const COMMA_GROUPS = /^-?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?$/
const POINT_GROUPS = /^-?[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?$/
/** Indian grouping: pairs of digits above the thousands. */
const LAKH_GROUPS = /^-?[1-9]\d?(?:,\d\d)+,\d{3}(?:\.\d+)?$/
const OTHER_GROUPS = /^-?[1-9]\d{0,2}(?:[ \u00a0\u202f'’]\d{3})+(?:[.,]\d+)?$/

/** Undefined if it is not a number. */
export function readNumber(cell: string): NumberCell | undefined {
  const [body, unit] = isDigit(cell.charCodeAt(cell.length - 1)) && startsPlain(cell) ? [cell, ""] : withoutUnit(cell)
  if (WHOLE.test(body)) return { body, unit, as: "both", spaced: false }
  const as = wayOf(body)
  return as && { body, unit, as, spaced: as === "both" && / |\u00a0|\u202f/.test(body) }
}

function wayOf(body: string): NumberCell["as"] | undefined {
  if (EITHER.test(body)) return "either"
  if (POINT.test(body)) return "point"
  if (COMMA.test(body)) return "comma"
  if (COMMA_GROUPS.test(body) || LAKH_GROUPS.test(body)) return "point"
  if (POINT_GROUPS.test(body)) return "comma"
  if (OTHER_GROUPS.test(body)) return body.includes(",") ? "comma" : body.includes(".") ? "point" : "both"
  if (!POWER.test(body) || !/^-?\.?\d/.test(body)) return undefined
  return body.includes(".") ? "point" : "both"
}

/** Converts a number to SQL notation. */
export function toPlainNumber(body: string, decimal: Decimal): string {
  if (decimal === "point") return PLAIN.test(body) ? body : body.replaceAll(/[ \u00a0\u202f'’,]/g, "")
  return body.replaceAll(/[ \u00a0\u202f'’.]/g, "").replace(",", ".")
}

const PLAIN = /^[-\d.]+$/
const isDigit = (code: number) => code >= 48 && code <= 57
const startsPlain = (cell: string) => {
  const code = cell.charCodeAt(cell.startsWith("-") ? 1 : 0)
  return isDigit(code) || code === 46 || code === 44
}

/** Currencies next to amounts, by name and symbol. Other letters are not removed. */
const CURRENCIES = new Set([
  ...["EUR", "USD", "GBP", "CHF", "JPY", "CNY", "SEK", "NOK", "DKK", "ISK", "PLN", "CZK", "HUF", "RON", "BGN", "RUB"],
  ...["UAH", "TRY", "ILS", "INR", "IDR", "BRL", "MXN", "ARS", "CLP", "CAD", "AUD", "NZD", "ZAR", "SGD", "HKD", "KRW"],
  ...["THB", "AED", "SAR", "EGP", "NGN", "KES", "kr", "kr.", "zł", "Kč", "Ft", "lei", "Fr.", "Euro"],
])
const isCurrency = (text: string) => CURRENCIES.has(text) || /^[A-Z]{0,3}\p{Sc}$/u.test(text)
/** Longer cells are not amounts. */
const MAX = 60

/** Text before the first and after the last digit must be a minus, a currency or a percent sign. */
function withoutUnit(cell: string): [body: string, unit: string] {
  const none: [string, string] = [cell, ""]
  if (cell.length > MAX) return none
  const start = cell.search(/\d|[.,]\d/)
  const end = cell.search(/\d\D*$/) + 1
  if (start === -1) return none
  const before = cell
    .slice(0, start)
    .replaceAll(/[ \u00a0\u202f]/g, "")
    .replace("\u2212", "-")
  const sign = before.startsWith("-") || before.endsWith("-") ? "-" : ""
  const first = before.replace("-", "")
  const last = cell.slice(end).replaceAll(/[ \u00a0\u202f]/g, "")
  if ((first !== "" && last !== "") || (first !== "" && !isCurrency(first))) return none
  if (last !== "" && last !== "%" && !isCurrency(last)) return none
  return [`${sign}${cell.slice(start, end)}`, first || last]
}
