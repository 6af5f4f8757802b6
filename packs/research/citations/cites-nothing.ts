import type { Source } from "../../../core/protocol/conversation/stages.ts"
import { codeIn } from "./code.ts"

/** Shorter answers are a yes, a no or a greeting. */
const LEAST_WORDS = 25
/** In scripts that put no spaces between words, so many characters. */
const LEAST_UNSPACED = 60
/** Up to this many words shared with the passages, beyond those of the question, count as chance. */
const MAX_BY_CHANCE = 3
/** Shorter words are in any text. */
const LEAST_LETTERS = 5
const MAX_READ = 20_000
/** Of all passages together: the beginning of them says what they are about. */
const MAX_READ_OF_ALL = 500_000
/** Where an answer says that there is none: at its beginning, or at its end. */
const [BEGINNING, END] = [400, 200]

const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu
/** That nothing was found, that it is not enough, or that nothing is said to this, in the languages that we judge. */
const NOTHING = [
  /(?<!\p{L})(?:(?:i|we) (?:could|can|did|do|have)(?: not|n['’]t|not) (?:\p{L}+ ){0,2}(?:find|found|locate|answer|help|assist|provide|tell|comply))/iu,
  /(?<!\p{L})(?:(?:documents?|passages?|sources?|collections?|results?|papers?|they) (?:do|does|did)(?: not|n['’]t) (?:\p{L}+ ){0,2}(?:mention|say|contain|cover|address|discuss|answer|tell))/iu,
  /(?<!\p{L})(?:(?:i|we|search(?:es)?) (?:have )?(?:found|finds?) (?:nothing|no )|nothing (?:was found|about (?:this|that))|no (?:\p{L}+ ){0,2}(?:passages?|sources?|documents?|results?|information) )/iu,
  /(?<!\p{L})(?:not enough|insufficient|unable to|not able to|i['’]m sorry|i am sorry|i won['’]t)/iu,
  /(?<!\p{L})(?:nichts (?:gefunden|dazu|darüber)|nicht (?:gefunden|genug|beantworten|helfen)|kein(?:e|en)? (?:\p{L}+ ){0,2}(?:angaben?|informationen|treffer|quellen?|passagen?|dokumente?|antwort)|tut mir leid)/iu,
  /(?<!\p{L})(?:rien trouvé|pas (?:trouvé|assez|suffisamment)|aucune? (?:\p{L}+ ){0,1}(?:information|source|document|passage|réponse|résultat)|je ne peux pas|désolée?)/iu,
  /(?<!\p{L})(?:no (?:he encontrado|encontré|hay suficiente|se encontr|puedo)|nada sobre|ning[uú]na? (?:\p{L}+ ){0,1}(?:información|fuente|documento|pasaje|resultado)|lo siento)/iu,
]

/**
 * Whether an answer without a single marker says what the passages of its own turn say, or speaks of the same things, and
 * names none of them. Told, not believed to be wrong; so it is said only where little speaks against it: not of a short
 * answer, of one that says that there is nothing, that asks back, or that speaks of something else.
 */
export function citesNothing(text: string, found: readonly Source[], said: string): boolean {
  if (found.length === 0) return false
  const prose = withoutCode(text).slice(0, MAX_READ).trim()
  if (!isLong(prose) || /[?？]["'”’»)*_\s]{0,10}$/.test(prose.slice(-20))) return false
  if (saysNothing(prose.slice(0, BEGINNING)) || saysNothing(prose.slice(-END))) return false
  const asked = wordsOf(said)
  const passages = wordsOf(beginningsOf(found))
  let common = 0
  for (const word of wordsOf(prose)) if (passages.has(word) && !asked.has(word)) common++
  return common > MAX_BY_CHANCE
}

function beginningsOf(found: readonly Source[]): string {
  let text = ""
  for (const { title, passage } of found) {
    if (text.length > MAX_READ_OF_ALL) break
    text += `${title}\n${passage.slice(0, MAX_READ)}\n`
  }
  return text
}

const saysNothing = (text: string) => NOTHING.some((words) => words.test(text))

function withoutCode(text: string): string {
  let prose = ""
  let from = 0
  for (const { start, end } of codeIn(text)) {
    prose += `${text.slice(from, start)} `
    from = end
  }
  return prose + text.slice(from)
}

function isLong(prose: string): boolean {
  const unspaced = (prose.match(UNSPACED) ?? []).reduce((sum, { length }) => sum + length, 0)
  return unspaced >= LEAST_UNSPACED || (prose.match(/[\p{L}\p{N}]+/gu)?.length ?? 0) >= LEAST_WORDS
}

/** Long words, in small letters; where words have no spaces, every three signs that stand side by side. */
function wordsOf(text: string): Set<string> {
  const small = text.toLowerCase()
  const words = new Set<string>()
  for (const [word] of small.replaceAll(UNSPACED, " ").matchAll(/\p{L}+/gu))
    if (word.length >= LEAST_LETTERS) words.add(word)
  for (const [run] of small.matchAll(UNSPACED))
    for (let at = 0; at + 3 <= run.length; at++) words.add(run.slice(at, at + 3))
  return words
}
