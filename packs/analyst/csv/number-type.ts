/** Types of numbers. `long`: an integer with more digits than a double has; `exact`: any number with more digits. */
export type NumberType = "integer" | "long" | "decimal" | "exact"

const WIDER: readonly NumberType[] = ["integer", "long", "decimal", "exact"]
const LARGEST = 2n ** 63n - 1n
/** A double represents every decimal number with up to this many digits exactly; a longer one must be compared. */
const DIGITS = 15

/** Returns the type of a number in SQL notation. */
export function numberType(number: string): NumberType {
  if (number.length <= DIGITS && !/[eE]/.test(number)) return number.includes(".") ? "decimal" : "integer"
  return /[.eE]/.test(number) ? (keepsDigits(number) ? "decimal" : "exact") : wholeType(number)
}

/** Returns the type that can store numbers of both types. */
export function togetherType(one: NumberType | undefined, other: NumberType): NumberType {
  if (one === undefined || one === other) return other
  const [a, b] = [WIDER.indexOf(one), WIDER.indexOf(other)]
  const type = WIDER[Math.max(a, b)] as NumberType
  // As a double, the long integer would lose its last digits.
  return type === "decimal" && Math.min(a, b) === 1 ? "exact" : type
}

function wholeType(number: string): NumberType {
  if (number.length <= DIGITS) return "integer"
  if (number.length > 20) return "exact"
  const value = BigInt(number)
  return value <= LARGEST && value >= -LARGEST - 1n ? "long" : "exact"
}

function keepsDigits(number: string): boolean {
  const value = Number(number)
  if (!Number.isFinite(value)) return false
  const [mantissa = ""] = number.split(/e/i)
  const digits = mantissa.replaceAll(/[-.]/g, "").replace(/^0+/, "")
  return digits.length <= DIGITS || String(value) === number
}
