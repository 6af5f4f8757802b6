/**
 * Decides whether text is attributed to an author. That makes a quote of text without a source, or without quotation
 * marks.
 */

/** Shorter text in quotation marks is a name, a title or irony. */
const LEAST_WORDS = 6
/** The same in characters, for scripts without spaces. */
const LEAST_UNSPACED = 10
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/gu
/** How many characters before and after a quote are searched for its author. */
export const BEFORE = 80
const BEHIND = 60

/** An attribution: a verb of saying, or a possible author. */
export const ATTRIBUTION =
  /(?<![\p{L}])(?:says?|said|states?|stated|writes?|wrote|concludes?|concluded|reports?|reported|notes?|noted|argues?|argued|claims?|claimed|puts it|according to|(?:the )?authors?|paper|study|document|passage|sagt|sagen|schreib(?:t|en)|heißt es|laut|zufolge|berichtet|selon|écri(?:t|vent)|affirme|indique|según|dice|afirma|señala|escribe)(?![\p{L}])/iu

/**
 * A verb of saying directly before the text, with at most one word between. "Note that" is advice, and "the report" a
 * thing.
 */
const VERB =
  /(?<![\p{L}])(?:says?|said|writes?|wrote|states|stated|concludes?|concluded|reports|reported|notes|noted|argues?|argued|claims|claimed|puts? it|(?:authors?|researchers|they|who|we|i) (?:state|report|note|claim)|sagt|sagen|schreib(?:t|en)|heißt es|berichtet|berichten|écri(?:t|vent)|affirme|indique|dice|dicen|afirman?|señala|escriben?)(?:\s(?:that|this|clearly|dass|que))?[\s,:("“„«*_—–-]*$/iu
/** The name after one of these words is the author of the text, however far apart they are in the sentence. */
const ACCORDING =
  /(?<![\p{L}])(?:according to|in (?:their|its|his|her|the authors['’]) (?:own )?words|laut|selon|según)(?![\p{L}])/iu
const COMMA = /,\s?$/
/** Before a block quote the sentence may also end: "They say so in their own words." */
const SAYS_SO =
  /(?<![\p{L}])(?:says?|said|writes?|wrote|puts?|states?|concludes?)(?:\s(?:it|so|this|that|as|much|way|clearly|plainly|themselves|in|their|its|own|words|follows|the|following)){1,5}\.$/iu
const QUOTES =
  /(?<![\p{L}])(?:quotes?|quoted|quotation|excerpt|abstract|original|verbatim|wörtlich|zitat|citation|cita)(?![\p{L}])/iu
const COLON = /:[\s*_]*$/
const SENTENCE_END = /(?<!\bal)[.!?。！？]["'”’)\]]*\s/gu
/** `…, the authors write`: an attribution after the text. */
const SAID_BEHIND =
  /^[\s,—–-]*(?:[\p{L}.]+\s){0,3}(?:says?|said|writes?|wrote|concludes?|concluded|argues?|argued|claimed|according to|schreib(?:t|en)|sagt|sagen|écri(?:t|vent)|escriben?)(?![\p{L}])/iu

/**
 * True if the text between these positions is attributed to an author. Stricter than `ATTRIBUTION`, because it may not be a
 * quote at all.
 */
export function isAttributed(words: string, start: number, end: number): boolean {
  return (
    leadsToWords(words.slice(Math.max(0, start - BEFORE), start)) || SAID_BEHIND.test(words.slice(end, end + BEHIND))
  )
}

/** The same for a block quote, from the text before it. */
export function leadsToBlock(before: string): boolean {
  const sentence = lastSentence(before.trimEnd())
  return leadsToWords(sentence) || SAYS_SO.test(sentence) || (COLON.test(sentence) && QUOTES.test(sentence))
}

/** True if the sentence up to here announces a quote. */
export function leadsToWords(before: string): boolean {
  const sentence = lastSentence(before)
  if (VERB.test(sentence) || (COMMA.test(sentence) && ACCORDING.test(sentence))) return true
  return COLON.test(sentence) && ATTRIBUTION.test(sentence)
}

function lastSentence(before: string): string {
  const end = [...before.matchAll(SENTENCE_END)].at(-1)
  return end ? before.slice(end.index + end[0].length) : before
}

/** True if it is long enough for a sentence and not a title, which has capitals. */
export function isSentence(quote: string): boolean {
  const text = quote.slice(0, 2000)
  if ((text.match(UNSPACED)?.length ?? 0) >= LEAST_UNSPACED) return true
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? []
  return words.length >= LEAST_WORDS && words.filter((word) => /^\p{Lu}/u.test(word)).length * 2 < words.length
}
