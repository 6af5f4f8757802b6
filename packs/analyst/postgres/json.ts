import { failure, isStorable, type JsonLimits, tryReadJson } from "../../../core/pack.ts"

/** Longer or deeper JSON stays text: parsing megabytes would block the process. */
const MAX_CHARACTERS = 64 * 1024
const MAX_DEPTH = 100

/**
 * Parses JSON if its value can be written back unchanged; otherwise returns the text. A column of type JSON may contain
 * other text, because a cast without a function is not validated.
 */
export function toJson(text: string): unknown {
  if (text.length > MAX_CHARACTERS) return text
  const value = parse(text)
  // Only valid JSON is searched: on other text the pattern would search for the end of a string from each quotation
  // mark.
  if (value === undefined) return text
  const keys = keysOf(text)
  // Missing keys were duplicates.
  return keys !== undefined && keys === countKeys(value) ? value : text
}

/** Parses JSON that the server returned about its schema. Throws `connection_failed` if it is not JSON. */
export function readServerJson<T>(json: string | null | undefined, nothing: T): T {
  if (json === null || json === undefined) return nothing
  const value = parse(json)
  if (typeof value === "object" && value !== null && Array.isArray(value) === Array.isArray(nothing)) return value as T
  throw failure("connection_failed", { problem: "what answers there is not PostgreSQL, or is broken" })
}

/** Limits for JSON in results and in descriptions of tables. */
const ANSWERED: JsonLimits = { characters: 64 * 1024 * 1024, values: 1_000_000, names: 1_000_000, depth: 10_000 }

/** Undefined if it is not JSON. */
function parse(text: string): unknown {
  return tryReadJson(text, ANSWERED)
}

const PIECE = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[[\]{}:]/g

/** The number of keys in a text; undefined if a value would change when parsed, or if it is nested too deep. */
function keysOf(text: string): number | undefined {
  let [keys, depth] = [0, 0]
  for (const [piece] of text.matchAll(PIECE)) {
    if (piece === ":") keys++
    else if (piece === "]" || piece === "}") depth--
    else if (piece === "[" || piece === "{") {
      if (++depth > MAX_DEPTH) return undefined
    } else if (piece.startsWith('"') ? !isSafe(piece) : !isExact(piece)) return undefined
  }
  return keys
}

/** Escapes must not contain half of a surrogate pair or a NUL. */
const isSafe = (piece: string) => !piece.includes("\\u") || isStorable(JSON.parse(piece) as string)

/** True if the number is unchanged when written again: 1.0 would lose a digit. */
const isExact = (source: string) => String(Number(source)) === source

/** Recursive: `keysOf` has limited the depth. */
function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0
  const inside = Object.values(value)
  const own = Array.isArray(value) ? 0 : inside.length
  return inside.reduce<number>((sum, each) => sum + countKeys(each), own)
}
