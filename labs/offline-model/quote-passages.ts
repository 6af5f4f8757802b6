/** Matches passages only: references in a document have entries such as `[12] Smith`, too. */
const ENTRY = /(?<![^\n])\[(?<marker>psg_\w+|\d+(?=\] \(psg_\w))\](?: \(psg_\w+\))? (?<title>[^\n]*)\n/gm
const MARKS = /["“”„‟«»「」『』[]/
const MAX_QUOTED = 5
const MAX_CHARACTERS = 320
const STEM = 5

/**
 * The offline model's answer from passages: the best matching sentences of each one, with its citation, and the remark
 * that it only quotes. Quotes are exact, so that the check of citations has nothing to flag.
 */
export function quotePassages(text: string, asked = ""): string {
  const entries = [...text.matchAll(ENTRY)]
  const passages = entries.map((entry, index) => {
    const { marker = "", title = "" } = entry.groups ?? {}
    const end = entries[index + 1]?.index ?? text.length
    return { marker, title, quotable: quotableOf(text.slice(entry.index + entry[0].length, end)) }
  })
  const weigh = weightsOf(
    asked,
    passages.flatMap(({ quotable }) => quotable.map(({ sentence }) => sentence)),
  )
  const quotes = passages.flatMap(({ marker, title, quotable }) => {
    const quote = best(quotable, weigh)
    return quote === "" ? [] : [`- “${quote}” [${marker}] (${plainTitle(title)})`]
  })
  if (NOTHING.test(text)) return "No passage matches. Try other words, or add documents in the Library."
  if (quotes.length === 0) return text
  const shown = quotes.slice(0, MAX_QUOTED)
  const left = quotes.length - shown.length
  const more = left > 0 ? `\n\nAnd ${left} more; their passages are in the search above.` : ""
  return `${INTRODUCTION}\n\n${shown.join("\n")}${more}`
}

const NOTHING = /^No passage matches\. Try other words, fewer conditions, or web_search and arxiv_search\.$/

const INTRODUCTION = "I am the offline model, so I only quote. These passages seem to match your question:"

interface Quotable {
  readonly sentence: string
  /** The sentence and those after it that fit. */
  readonly quote: string
}

/** The texts of a passage that may be quoted. None has marks that would end the quote or cite something else. */
function quotableOf(passage: string): readonly Quotable[] {
  const parts = passage.replace(/^(?:\s*#{1,6} [^\n]*\n)+/, "").split(MARKS)
  const starts = parts.flatMap((part, at) => {
    const words = part.replaceAll(/\s+/g, " ").trim()
    const all = Array.from(toSentences(words), ({ segment, index }) => ({
      sentence: segment,
      quote: fitting(words.slice(index)),
    }))
    return at === 0 ? all : all.slice(1) // the text after a mark starts within a sentence
  })
  return starts.filter(({ quote }) => quote !== "")
}

/** Created on first use, because that takes longer than loading this file. */
let sentences: Intl.Segmenter | undefined
const toSentences = (words: string) =>
  (sentences ??= new Intl.Segmenter(undefined, { granularity: "sentence" })).segment(words)

function fitting(words: string): string {
  if (words.length <= MAX_CHARACTERS) return words
  const cut = words.slice(0, MAX_CHARACTERS)
  const sentence = cut.lastIndexOf(". ")
  const word = cut.lastIndexOf(" ")
  return cut.slice(0, sentence > 80 ? sentence + 1 : word > 0 ? word : cut.length).toWellFormed()
}

/** The quote that starts with the best matching sentence. */
function best(quotable: readonly Quotable[], weigh: (text: string) => number): string {
  let [chosen, most] = ["", -1]
  for (const { sentence, quote } of quotable) {
    const weight = weigh(sentence)
    if (weight > most) [chosen, most] = [quote, weight]
  }
  return chosen
}

/**
 * Returns a function that rates how well a text matches the request. Words that occur in many texts, such as "the",
 * count less.
 */
function weightsOf(asked: string, texts: readonly string[]): (text: string) => number {
  const known = texts.map(stems)
  const weights = [...stems(asked)].map((stem) => {
    const having = known.filter((of) => of.has(stem)).length
    return [stem, having === 0 ? 0 : 1 / having] as const
  })
  return (text) => {
    const own = stems(text)
    return weights.reduce((sum, [stem, weight]) => sum + (own.has(stem) ? weight : 0), 0)
  }
}

/** The first letters of words, so that "expires" and "expired" are equal. */
const stems = (text: string) =>
  new Set(Array.from(text.toLowerCase().matchAll(/[\p{L}\p{N}]{3,}/gu), ([word]) => word.slice(0, STEM)))

/** Removes quotation marks and brackets: a title appears next to our own quotes and markers. */
const plainTitle = (title: string) => title.replaceAll(/["“”„‟«»「」『』‘‚[\]]/g, "")
