/**
 * Where the text of a delta begins: in chat completions and in Anthropic's messages. Inside a text its quotes would have
 * backslashes before them.
 */
const TEXT_BEGINS =
  /"delta": ?\{(?:"role": ?"assistant", ?|"type": ?"(?:text|thinking)_delta", ?|"content": ?null, ?)?"(?:content|reasoning_content|reasoning|text|thinking)": ?"/
/**
 * What may stand behind that text, up to the end of its delta: nothing that says anything. Arguments of a call, or thinking,
 * stand beside an empty text at some servers, and of two alike, such as `000` and `000` of a number, one would be lost.
 */
const SAYS_NO_MORE = /^"(?:, ?"\w+": ?(?:null|""|"assistant"|\[\]))*\}/
const [QUOTE, BACKSLASH] = [34, 92]
const END = Buffer.from("\n\n")
/** Shorter pieces hold hardly two events. */
const WORTH_BYTES = 512

/**
 * Events that follow each other in a piece of a provider's stream and differ in nothing but the text of their delta, as one
 * event with all of that text. To an adapter each event costs 20 to 30 µs, whatever it holds; a provider that is faster than
 * we are then costs us less, not more. Whatever is not such an event stays as it is, to the byte.
 *
 * Looked at as bytes: what is looked for is ASCII, which is no part of any other letter, and a text would be as large again.
 */
export function joinDeltas(piece: Uint8Array): Uint8Array {
  if (piece.length < WORTH_BYTES) return piece
  const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length)
  /** What stays of the piece: where it begins, where it ends, and so on. */
  const kept: number[] = []
  /** Up to where that is known. */
  let done = 0
  for (let at = startOfEvent(bytes); at !== -1;) {
    const first = readDelta(bytes, at)
    let next = first ? first.end : endOfEvent(bytes, at)
    if (next === -1) break
    if (first) {
      for (let textEnd = follow(bytes, next, first); textEnd !== -1; textEnd = follow(bytes, next, first)) {
        if (next === first.end) kept.push(done, first.textEnd)
        kept.push(next + first.textStart - first.start, textEnd)
        next = textEnd + first.end - first.textEnd
      }
      if (next > first.end) {
        kept.push(first.textEnd, first.end)
        done = next
      }
    }
    at = next
  }
  if (done === 0) return piece
  kept.push(done, bytes.length)
  return copyOf(bytes, kept)
}

/** An event: where it starts, where its text does, where that ends, and where the next event starts. */
interface Delta {
  readonly start: number
  readonly textStart: number
  readonly textEnd: number
  readonly end: number
}

/** What comes before the first end of an event may be the rest of one. */
function startOfEvent(bytes: Buffer): number {
  const start = bytes.toString("latin1", 0, 6)
  return start.startsWith("data:") || start === "event:" ? 0 : endOfEvent(bytes, 0)
}

function endOfEvent(bytes: Buffer, from: number): number {
  const end = bytes.indexOf(END, from)
  return end === -1 ? -1 : end + END.length
}

function readDelta(bytes: Buffer, start: number): Delta | undefined {
  const end = endOfEvent(bytes, start)
  if (end === -1) return undefined
  const event = bytes.toString("latin1", start, end)
  const found = TEXT_BEGINS.exec(event)
  if (!found) return undefined
  const textStart = start + found.index + found[0].length
  const textEnd = endOfText(bytes, textStart)
  if (textEnd === -1 || textEnd >= end || !SAYS_NO_MORE.test(event.slice(textEnd - start))) return undefined
  return { start, textStart, textEnd, end }
}

/** Where the text ends of the event at this place, if that is the same but for its text; else -1. */
function follow(bytes: Buffer, at: number, { start, textStart, textEnd, end }: Delta): number {
  if (!isSame(bytes, at, start, textStart)) return -1
  const found = endOfText(bytes, at + textStart - start)
  return found !== -1 && isSame(bytes, found, textEnd, end) ? found : -1
}

/** Whether the bytes at this place are those from `start` to `end`. */
function isSame(bytes: Buffer, at: number, start: number, end: number): boolean {
  if (at + end - start > bytes.length) return false
  for (let each = start; each < end; each++) if (bytes[each] !== bytes[at + each - start]) return false
  return true
}

/** Where a JSON text that began ends; -1 where it does not. */
function endOfText(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at++) {
    if (bytes[at] === QUOTE) return at
    if (bytes[at] === BACKSLASH) at++
  }
  return -1
}

/** In a buffer of its own: what is left of a piece may wait for its turn, and the piece is many times as large. */
function copyOf(bytes: Buffer, kept: readonly number[]): Buffer {
  let size = 0
  for (let at = 0; at < kept.length; at += 2) size += kept[at + 1]! - kept[at]!
  const copy = Buffer.allocUnsafeSlow(size)
  for (let [at, to] = [0, 0]; at < kept.length; at += 2) to += bytes.copy(copy, to, kept[at], kept[at + 1])
  return copy
}
