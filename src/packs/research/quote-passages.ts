/** Passages alone: a list of references in a document has entries such as `[12] Smith` too. */
const ENTRY = /^\[(?<id>psg_\w+)\] (?<title>[^\n]*)\n/gm
const MARKS = /["“”„‟«»「」『』[]/
const MOST_QUOTED = 5
const MOST_CHARACTERS = 320

/**
 * What the offline model makes of passages: a quote of each with its citation, and the plain word that it does no more
 * than quote. What it quotes stands there letter by letter, so that the check of citations has nothing to flag.
 */
export function quotePassages(text: string): string {
  const entries = [...text.matchAll(ENTRY)]
  const quotes = entries.flatMap((entry, index) => {
    const { id = "", title = "" } = entry.groups ?? {}
    const end = entries[index + 1]?.index ?? text.length
    const quote = firstWords(text.slice(entry.index + entry[0].length, end))
    return quote === "" ? [] : [`- “${quote}” [${id}] (${plainTitle(title)})`]
  })
  if (quotes.length === 0) return text
  const shown = quotes.slice(0, MOST_QUOTED)
  const left = quotes.length - shown.length
  const more = left > 0 ? `\n\nAnd ${left} more; their passages stand above.` : ""
  return `${INTRODUCTION}\n\n${shown.join("\n")}${more}`
}

const INTRODUCTION =
  "I am the offline model and only quote; I do not judge or sum up. These passages seem to fit what you asked:"

/** Whole sentences from the beginning, as many as fit, and none with marks that would end the quote or cite something else. */
function firstWords(passage: string): string {
  const body = passage.replace(/^(?:\s*#{1,6} [^\n]*\n)+/, "")
  const plain = body.trim().split(MARKS)[0] ?? ""
  const words = plain.replaceAll(/\s+/g, " ").trim()
  if (words.length <= MOST_CHARACTERS) return words
  const cut = words.slice(0, MOST_CHARACTERS)
  const sentence = cut.lastIndexOf(". ")
  const word = cut.lastIndexOf(" ")
  return cut.slice(0, sentence > 80 ? sentence + 1 : word > 0 ? word : cut.length).toWellFormed()
}

/** Without what would make a quote or a marker of it: it stands beside ours. */
const plainTitle = (title: string) => title.replaceAll(/["“”„‟«»「」『』‘‚[\]]/g, "")
