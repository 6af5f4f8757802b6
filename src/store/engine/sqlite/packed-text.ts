/** Longer text is what a tool or a person has said, in which keys are few. */
const MAX_LENGTH = 2000
/** Everything below it is no letter of JSON. */
const SPACE = 32
/** Stands before digits that are those of a proposal and of its call. */
const PAIR = SPACE - 1
const PAIR_LETTER = String.fromCharCode(PAIR)
const [PROPOSAL, CALL] = ['"id":"prop_', '","callId":"call_']
const DIGITS = 20

/**
 * JSON that is written again and again with the same keys: each of these phrases is one letter in the file. JSON has no letters
 * below the space (they are escaped in it), so what is packed cannot be taken for anything else, and comes back to the letter.
 * Each is looked for once, in their order: nothing else is as fast for so little text, and it is written with every event.
 *
 * The letter is the place in the list, which the schema repeats in the view `event` and files in use rely on: nothing is ever
 * changed, moved or taken out. Keys by which statements look for rows are in none of them, but for `inputTokens`.
 */
export class Phrases {
  readonly #phrases: readonly string[]
  readonly #letters: readonly string[]
  readonly #beginnings: number
  readonly #pairs: boolean

  /** What is packed is told by its first letter: only text that begins with one of the `beginnings` is. */
  constructor(beginnings: readonly string[], phrases: readonly string[], { pairs = false } = {}) {
    this.#phrases = [...beginnings, ...phrases]
    this.#letters = this.#phrases.map((_, index) => String.fromCharCode(index + 1))
    this.#beginnings = beginnings.length
    this.#pairs = pairs
  }

  pack(json: string): string {
    if (json.length > MAX_LENGTH) return json
    const phrases = this.#phrases
    let index = 0
    while (index < this.#beginnings && !json.startsWith(phrases[index] as string)) index++
    if (index === this.#beginnings) return json
    let packed = this.#letters[index] as string
    let from = (phrases[index] as string).length
    if (this.#pairs) {
      const digits = pairAt(json, from)
      if (digits !== undefined) {
        packed += PAIR_LETTER + digits
        from += PROPOSAL.length + CALL.length + 2 * DIGITS + 1
      }
    }
    for (index = this.#beginnings; index < phrases.length; index++) {
      const phrase = phrases[index] as string
      const at = json.indexOf(phrase, from)
      if (at < 0) continue
      packed += json.slice(from, at) + (this.#letters[index] as string)
      from = at + phrase.length
    }
    return packed + json.slice(from)
  }

  /** What `pack` was given; text that was never packed stays as it is. */
  unpack(text: string): string {
    const begins = text.charCodeAt(0)
    if (!(begins < SPACE)) return text
    const phrases = this.#phrases
    let json = phrases[begins - 1] as string
    let from = 1
    if (text.charCodeAt(1) === PAIR) {
      from = 2 + DIGITS
      const digits = text.slice(2, from)
      json += `${PROPOSAL}${digits}${CALL}${digits}"`
    }
    for (let index = this.#beginnings; index < phrases.length; index++) {
      const at = text.indexOf(this.#letters[index] as string, from)
      if (at < 0) continue
      json += text.slice(from, at) + (phrases[index] as string)
      from = at + 1
    }
    return json + text.slice(from)
  }

  /** The letter of a phrase, as SQL. */
  sqlLetter(phrase: string): string {
    return `char(${this.#phrases.indexOf(phrase) + 1})`
  }

  /** `unpack` of a column that holds something packed, as SQL: for whoever looks into the file without us. */
  sqlUnpacked(column: string): string {
    const whole = this.#pairs ? sqlPair(column) : column
    const replaced = (sql: string, phrase: string) => `replace(${sql}, ${this.sqlLetter(phrase)}, '${phrase}')`
    return this.#phrases.reduce(replaced, whole)
  }
}

/** The digits of a proposal and its call, where they are the same and stand here. */
function pairAt(json: string, from: number): string | undefined {
  if (!json.startsWith(PROPOSAL, from)) return undefined
  const begin = from + PROPOSAL.length
  const digits = json.slice(begin, begin + DIGITS)
  return json.startsWith(`${CALL}${digits}"`, begin + DIGITS) ? digits : undefined
}

export const sqlIsPacked = (column: string): string => `unicode(${column}) < ${SPACE}`

function sqlPair(column: string): string {
  const digits = `substr(${column}, 3, ${DIGITS})`
  const pair = `'${PROPOSAL}' || ${digits} || '${CALL}' || ${digits} || '"'`
  return `CASE unicode(substr(${column}, 2, 1)) WHEN ${PAIR} THEN substr(${column}, 1, 1) || ${pair} || substr(${column}, ${3 + DIGITS}) ELSE ${column} END`
}
