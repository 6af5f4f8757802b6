/** One word of a request, or one text in quotes, with its place in it. */
export interface Word {
  /** As it was written, without quotes around it. */
  readonly text: string
  /** In small letters and without punctuation at its end; empty for a text in quotes, which is never part of a request. */
  readonly is: string
  readonly at: number
  readonly end: number
  /** A comma, colon or semicolon after it. */
  readonly stop: string
}

/** What a request is made of. Names keep their spelling: they are cut out of `text`, never put together again. */
export interface RequestText {
  readonly text: string
  readonly words: readonly Word[]
}

const CLOSING = new Map(Object.entries({ '"': '"', "“": "”", "„": "“", "«": "»" }))

/** The words of a request, one step a character. */
export function readWords(text: string): RequestText {
  const words: Word[] = []
  for (let at = 0; at < text.length;) {
    if (isSpace(text[at])) {
      at++
      continue
    }
    const closing = CLOSING.get(text[at] ?? "")
    const close = closing ? text.indexOf(closing, at + 1) : text[at] === "'" ? closingTick(text, at + 1) : -1
    const end = close > 0 ? endOfWord(text, close + 1) : endOfWord(text, at)
    words.push(close > 0 ? quoted(text, { at, close, end }) : plain(text.slice(at, end), at))
    at = end
  }
  return { text, words }
}

/** The tick that ends what one began: not that of `don't`. */
function closingTick(text: string, from: number): number {
  for (let at = text.indexOf("'", from); at >= 0; at = text.indexOf("'", at + 1))
    if (at > from && !/[\p{L}\p{N}]/u.test(text[at + 1] ?? "")) return at
  return -1
}

function endOfWord(text: string, from: number): number {
  let end = from
  while (end < text.length && !isSpace(text[end])) end++
  return end
}

function quoted(text: string, { at, close, end }: { at: number; close: number; end: number }): Word {
  const stop = STOPS.has(text[close + 1] ?? "") ? (text[close + 1] as string) : ""
  return { text: text.slice(at + 1, close), is: "", at, end, stop }
}

function plain(text: string, at: number): Word {
  let length = text.length
  let stop = ""
  while (length > 0 && ENDS.has(text[length - 1] as string)) {
    if (STOPS.has(text[length - 1] as string)) stop = text[length - 1] as string
    length--
  }
  const is = text.slice(0, length).toLowerCase().replaceAll("’", "'")
  return { text, is, at, end: at + text.length, stop }
}

const STOPS = new Set([",", ":", ";"])
const ENDS = new Set([",", ":", ";", ".", "!", "?", "…"])
const isSpace = (character: string | undefined) => character !== undefined && character.trim() === ""

/** Stands for a name in quotes, so that what follows it is read as what follows any name. */
export const SOMETHING: Word = { text: "", is: "", at: 0, end: 0, stop: "" }

/** Some of a phrase's words, in the same text. */
export const part = ({ text, words }: RequestText, from: number, to = words.length): RequestText => ({
  text,
  words: words.slice(from, to),
})

/** The phrase as it was written, without the marks at its end; of a text in quotes what stands between them. */
export function spelled({ text, words }: RequestText): string {
  const [first, last] = [words[0], words.at(-1)]
  if (!first || !last) return ""
  if (words.length === 1 && first.is === "") return first.text
  let end = last.end
  while (end > first.at && (SPELLED_ENDS.has(text[end - 1] as string) || isSpace(text[end - 1]))) end--
  return text.slice(first.at, end)
}

/** A question mark may belong to a name; what joins sentences does not. */
const SPELLED_ENDS = new Set([",", ":", ";", ".", "!"])

/** Whether words stand at a place of the phrase. */
export const standsAt = ({ words }: RequestText, at: number, said: string): boolean =>
  said.split(" ").every((word, index) => words[at + index]?.is === word)

/** The first of these that the phrase begins with, or ends with: how many words it has. 0: none. */
export const beginsWith = (phrase: RequestText, sayings: readonly string[]): number =>
  longest(sayings.filter((said) => standsAt(phrase, 0, said)))

export const endsWith = (phrase: RequestText, sayings: readonly string[]): number =>
  longest(
    sayings.filter((said) => {
      const from = phrase.words.length - said.split(" ").length
      return from >= 0 && standsAt(phrase, from, said)
    }),
  )

/** How many words the longest of these has that stands at a place of the phrase; 0: none does. */
export const longestSaying = (phrase: RequestText, at: number, sayings: readonly string[]): number =>
  longest(sayings.filter((said) => standsAt(phrase, at, said)))

const longest = (sayings: readonly string[]) => Math.max(0, ...sayings.map((said) => said.split(" ").length))

/** All words in small letters with one space between them: what whole sayings are looked up by. */
export const toPlainWords = ({ words }: RequestText): string =>
  words.map(({ is, text }) => is || text.toLowerCase()).join(" ")
