import { toUnit } from "./unit.ts"

export interface WindowLimits {
  /** The embedder's limit, in its tokens. */
  readonly tokens: number
  /** The maximum windows per text; of a longer text, windows are spread evenly. */
  readonly most: number
}

/**
 * Splits a text into parts that an embedder accepts, because it silently ignores the rest. The parts have similar
 * lengths and are cut between words if possible.
 */
export function textWindows(text: string, { tokens, most }: WindowLimits): string[] {
  const pieces = piecesOf(within(text, { tokens, most }), tokens)
  const total = pieces.reduce((sum, { cost }) => sum + cost, 0)
  const aim = total / Math.max(1, Math.ceil(total / tokens))
  const windows: string[] = []
  let words: string[] = []
  let cost = 0
  for (const piece of pieces) {
    if (words.length > 0 && (cost + piece.cost > tokens || cost >= aim)) {
      windows.push(words.join(" "))
      words = []
      cost = 0
    }
    words.push(piece.text)
    cost += piece.cost
  }
  if (words.length > 0) windows.push(words.join(" "))
  return spread(windows, most)
}

/** The most characters per token that are expected. A longer text need not be counted completely. */
const LONGEST_TOKEN = 6

/** Parts that are spread over a text that is longer than all windows; the rest costs nothing. */
function within(text: string, { tokens, most }: WindowLimits): string {
  const part = tokens * LONGEST_TOKEN
  if (text.length <= 2 * most * part) return text
  const step = (text.length - part) / (most - 1)
  return Array.from({ length: most }, (_, i) => {
    const start = Math.round(i * step)
    return text.slice(start, start + part)
  }).join(" ")
}

interface Piece {
  readonly text: string
  readonly cost: number
}

function piecesOf(text: string, tokens: number): Piece[] {
  // Unpaired surrogates and NUL mean nothing to an embedder, and some reject them.
  const words = text.toWellFormed().replaceAll("\0", " ").match(/\S+/g) ?? []
  return words.flatMap((word) => {
    const cost = costOf(word)
    if (cost <= tokens) return [{ text: word, cost }]
    // Chinese has no spaces, nor has text that is not a language.
    const characters = [...word]
    const parts = Math.ceil(characters.length / tokens)
    return Array.from({ length: parts }, (_, i) => characters.slice(i * tokens, (i + 1) * tokens).join("")).map(
      (part) => ({ text: part, cost: costOf(part) }),
    )
  })
}

/**
 * An upper estimate of a word's tokens: one per five letters, two digits or one of anything else. By hand, because a
 * regular expression takes ten times as long.
 */
function costOf(word: string): number {
  let [cost, letters, digits] = [0, 0, 0]
  for (let at = 0; at < word.length; at++) {
    const unit = word.charCodeAt(at)
    const isDigit = unit >= 48 && unit <= 57
    const isLetter = (unit >= 65 && unit <= 90) || (unit >= 97 && unit <= 122)
    // The second half of a surrogate pair.
    const isHalf = unit >= 0xdc00 && unit <= 0xdfff
    if (isLetter ? letters % 5 === 0 : isDigit ? digits % 2 === 0 : !isHalf) cost++
    letters = isLetter ? letters + 1 : 0
    digits = isDigit ? digits + 1 : 0
  }
  return cost
}

function spread(windows: string[], most: number): string[] {
  if (windows.length <= most) return windows
  return Array.from({ length: most }, (_, i) => windows[Math.round((i * (windows.length - 1)) / (most - 1))]!)
}

type EmbedWindows = (windows: readonly string[]) => Promise<readonly ArrayLike<number>[]>

/**
 * One normalized vector per text: the mean of its windows. A text without words gets a vector of zeros, which is
 * similar to nothing.
 */
export async function embedPooled(
  texts: readonly string[],
  { limits, dimensions }: { limits: WindowLimits; dimensions: number },
  embedWindows: EmbedWindows,
): Promise<Float32Array[]> {
  const windows = texts.map((text) => textWindows(text, limits))
  const all = windows.flat()
  const vectors = all.length === 0 ? [] : await embedWindows(all)
  let next = 0
  return windows.map(({ length }) => {
    const sum = new Float32Array(dimensions)
    for (const vector of vectors.slice(next, (next += length))) {
      for (let i = 0; i < dimensions; i++) sum[i]! += vector[i]!
    }
    return toUnit(sum)
  })
}
