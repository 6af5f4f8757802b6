import { failure } from "../../../protocol/errors.ts"
import { isStorable } from "../../../protocol/text/text.ts"

/** Larger, or deeper, and it stays a text: who looks into every number of megabytes keeps everybody else waiting. */
const MAX_CHARACTERS = 64 * 1024
const MAX_DEPTH = 100

/**
 * JSON as JSON where all that is in it survives, else as the text it is. A column may be called JSON and hold something else: a cast
 * without a function looks at nothing.
 */
export function toJson(text: string): unknown {
  if (text.length > MAX_CHARACTERS) return text
  const value = parse(text)
  // Only then is it looked into: in what is no JSON an expression would look for the end of a text from each quote anew.
  if (value === undefined) return text
  const keys = keysOf(text)
  // What is missing was named twice.
  return keys !== undefined && keys === countKeys(value) ? value : text
}

/** What the server was asked to say in JSON about itself. Throws `connection_failed` at one that says something else. */
export function toldBy<T>(json: string | null | undefined, nothing: T): T {
  if (json === null || json === undefined) return nothing
  const value = parse(json)
  if (typeof value === "object" && value !== null && Array.isArray(value) === Array.isArray(nothing)) return value as T
  throw failure("connection_failed", { problem: "what answers there is not PostgreSQL, or is broken" })
}

/** Undefined for what is no JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const PIECE = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[[\]{}:]/g

/** How many keys a text names; undefined where something in it would not survive, or it goes too deep. */
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

/** Half of a pair, or a NUL, is harmless as long as it is written as an escape. */
const isSafe = (piece: string) => !piece.includes("\\u") || isStorable(JSON.parse(piece) as string)

/** Written again it would be the same: 1.0 is not 1 to whoever counts its digits. */
const isExact = (source: string) => String(Number(source)) === source

/** No deeper than was looked at before. */
function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0
  const inside = Object.values(value)
  const own = Array.isArray(value) ? 0 : inside.length
  return inside.reduce<number>((sum, each) => sum + countKeys(each), own)
}
