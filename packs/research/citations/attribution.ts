/** Whether words are given to somebody: what makes a quote of a stretch without a source, or without quotation marks. */

/** Words in quotation marks with fewer words are a name, a title or irony. */
const LEAST_WORDS = 6
/** In scripts that put no spaces between words, so many characters. */
const LEAST_UNSPACED = 10
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/gu
/** How many characters before and behind a quote are searched for who said it. */
export const BEFORE = 80
const BEHIND = 60

/** Somebody is said to have said it, or is named who may have. */
export const SAYS =
  /(?<![\p{L}])(?:says?|said|states?|stated|writes?|wrote|concludes?|concluded|reports?|reported|notes?|noted|argues?|argued|claims?|claimed|puts it|according to|(?:the )?authors?|paper|study|document|passage|sagt|sagen|schreib(?:t|en)|heißt es|laut|zufolge|berichtet|selon|écri(?:t|vent)|affirme|indique|según|dice|afirma|señala|escribe)(?![\p{L}])/iu

/** A verb of saying right before a stretch, with one word between at most. "Note that" is an advice, and "the report" a thing. */
const VERB =
  /(?<![\p{L}])(?:says?|said|writes?|wrote|states|stated|concludes?|concluded|reports|reported|notes|noted|argues?|argued|claims|claimed|puts? it|(?:authors?|researchers|they|who|we|i) (?:state|report|note|claim)|sagt|sagen|schreib(?:t|en)|heißt es|berichtet|berichten|écri(?:t|vent)|affirme|indique|dice|dicen|afirman?|señala|escriben?)(?:\s(?:that|this|clearly|dass|que))?[\s,:("“„«*_—–-]*$/iu
/** The name after one of these words is who said what follows, however far the quote is from it in the sentence. */
const ACCORDING =
  /(?<![\p{L}])(?:according to|in (?:their|its|his|her|the authors['’]) (?:own )?words|laut|selon|según)(?![\p{L}])/iu
const COMMA = /,\s?$/
/** Before a block, which is a quote of somebody anyway, a sentence may also end: "They say so in their own words." */
const SAYS_SO =
  /(?<![\p{L}])(?:says?|said|writes?|wrote|puts?|states?|concludes?)(?:\s(?:it|so|this|that|as|much|way|clearly|plainly|themselves|in|their|its|own|words|follows|the|following)){1,5}\.$/iu
const QUOTES =
  /(?<![\p{L}])(?:quotes?|quoted|quotation|excerpt|abstract|original|verbatim|wörtlich|zitat|citation|cita)(?![\p{L}])/iu
const COLON = /:[\s*_]*$/
const SENTENCE_END = /(?<!\bal)[.!?。！？]["'”’)\]]*\s/gu
/** `…, the authors write`: who has said what stands before. */
const SAID_BEHIND =
  /^[\s,—–-]*(?:[\p{L}.]+\s){0,3}(?:says?|said|writes?|wrote|concludes?|concluded|argues?|argued|claimed|according to|schreib(?:t|en)|sagt|sagen|écri(?:t|vent)|escriben?)(?![\p{L}])/iu

/** Whether the stretch between these two places is said to be somebody's words. Stricter than `SAYS`: it need be no quote at all. */
export function isSaid(words: string, start: number, end: number): boolean {
  return (
    leadsToWords(words.slice(Math.max(0, start - BEFORE), start)) || SAID_BEHIND.test(words.slice(end, end + BEHIND))
  )
}

/** The same for a block, of what stands before it. */
export function leadsToBlock(before: string): boolean {
  const sentence = lastSentence(before.trimEnd())
  return leadsToWords(sentence) || SAYS_SO.test(sentence) || (COLON.test(sentence) && QUOTES.test(sentence))
}

/** Whether a sentence that goes on up to here says that somebody's words follow. */
export function leadsToWords(before: string): boolean {
  const sentence = lastSentence(before)
  if (VERB.test(sentence) || (COMMA.test(sentence) && ACCORDING.test(sentence))) return true
  return COLON.test(sentence) && SAYS.test(sentence)
}

function lastSentence(before: string): string {
  const end = [...before.matchAll(SENTENCE_END)].at(-1)
  return end ? before.slice(end.index + end[0].length) : before
}

/** Whether it is long enough for somebody's words, and no title, which has capitals. */
export function isSentence(quote: string): boolean {
  const text = quote.slice(0, 2000)
  if ((text.match(UNSPACED)?.length ?? 0) >= LEAST_UNSPACED) return true
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? []
  return words.length >= LEAST_WORDS && words.filter((word) => /^\p{Lu}/u.test(word)).length * 2 < words.length
}
