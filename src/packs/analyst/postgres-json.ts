import { isStorable } from "../../protocol/text.ts"

/** Larger, or deeper, and it stays a text: who looks into every number of megabytes keeps everybody else waiting. */
const MOST_CHARACTERS = 64 * 1024
const MOST_DEPTH = 100

/** JSON as JSON where all that is in it survives, else as the text it is. */
export function toJson(text: string): unknown {
  if (text.length > MOST_CHARACTERS) return text
  const keys = keysOf(text)
  if (keys === undefined) return text
  const value: unknown = JSON.parse(text)
  // What is missing was named twice.
  return keys === countKeys(value) ? value : text
}

const PIECE = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[[\]{}:]/g

/** How many keys a text names; undefined where something in it would not survive, or it goes too deep. */
function keysOf(text: string): number | undefined {
  let [keys, depth] = [0, 0]
  for (const [piece] of text.matchAll(PIECE)) {
    if (piece === ":") keys++
    else if (piece === "]" || piece === "}") depth--
    else if (piece === "[" || piece === "{") {
      if (++depth > MOST_DEPTH) return undefined
    } else if (piece.startsWith('"') ? !isSafe(piece) : !isExact(piece)) return undefined
  }
  return keys
}

/** Half of a pair, or a NUL, is harmless as long as it is written as an escape. */
const isSafe = (piece: string) => !piece.includes("\\u") || isStorable(JSON.parse(piece) as string)

function isExact(source: string): boolean {
  const value = Number(source)
  if (String(value) === source) return true
  const digits = source
    .replace(/[eE].*$/, "")
    .replaceAll(/[^\d]/g, "")
    .replace(/^0+/, "")
  return Number.isFinite(value) && digits.length <= 15
}

/** No deeper than was looked at before. */
function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0
  const inside = Object.values(value)
  const own = Array.isArray(value) ? 0 : inside.length
  return inside.reduce<number>((sum, each) => sum + countKeys(each), own)
}
