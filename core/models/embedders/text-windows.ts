export interface WindowLimits {
  /** What an embedder reads at a time, in its tokens. */
  readonly tokens: number
  /** At most this many windows of one text are embedded; of a longer text, windows spread evenly over all of it. */
  readonly most: number
}

/**
 * A text in parts that an embedder can read whole: what goes beyond its limit it would pass over in silence. They are
 * about equally long, so that none is a mere remainder, and are cut between words wherever there are any.
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

/** No token is much longer, with the space behind it: more of a text would be counted only to be left out. */
const LONGEST_TOKEN = 6

/** Of a text that is longer than all windows, parts that are spread over all of it: what is left out costs nothing. */
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
  // Half of a pair and a NUL mean nothing to an embedder, and some refuse them.
  const words = text.toWellFormed().replaceAll("\0", " ").match(/\S+/g) ?? []
  return words.flatMap((word) => {
    const cost = costOf(word)
    if (cost <= tokens) return [{ text: word, cost }]
    // Chinese has no spaces, and what is no language has none either.
    const characters = [...word]
    const parts = Math.ceil(characters.length / tokens)
    return Array.from({ length: parts }, (_, i) => characters.slice(i * tokens, (i + 1) * tokens).join("")).map(
      (part) => ({ text: part, cost: costOf(part) }),
    )
  })
}

/**
 * How many tokens a word takes, rather too many than too few: five letters, two digits or one of anything else each.
 * By hand: an expression takes ten times as long, for every character of every text.
 */
function costOf(word: string): number {
  let [cost, letters, digits] = [0, 0, 0]
  for (let at = 0; at < word.length; at++) {
    const unit = word.charCodeAt(at)
    const isDigit = unit >= 48 && unit <= 57
    const isLetter = (unit >= 65 && unit <= 90) || (unit >= 97 && unit <= 122)
    // The second half of a pair belongs to the first.
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
