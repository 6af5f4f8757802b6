import type { Source } from "../../../core/pack.ts"
import { codeIn } from "./code.ts"

/** Shorter answers are a yes, a no or a greeting. */
const LEAST_WORDS = 25
/** The same in characters, for scripts without spaces. */
const LEAST_UNSPACED = 60
/** Up to this many words shared with the passages, apart from those of the question, count as chance. */
const MAX_BY_CHANCE = 3
/** Shorter words occur in any text. */
const LEAST_LETTERS = 5
const MAX_READ = 20_000
/** The limit for all passages together: their beginnings show what they are about. */
const MAX_READ_OF_ALL = 500_000
/** An answer without evidence says so at its beginning or its end. */
const [BEGINNING, END] = [400, 200]

const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu
/** Phrases for "nothing found", "not enough" or "no answer", in the supported languages. */
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
 * True if an answer without any marker repeats or discusses the passages that its run found. It is not necessarily
 * wrong, so this is false in doubt: for a short answer, one that finds nothing, a question, or another subject.
 */
export function citesNothing(text: string, found: readonly Source[], userText: string): boolean {
  if (found.length === 0) return false
  const prose = withoutCode(text).slice(0, MAX_READ).trim()
  if (!isLong(prose) || /[?？]["'”’»)*_\s]{0,10}$/.test(prose.slice(-20))) return false
  if (saysNothing(prose.slice(0, BEGINNING)) || saysNothing(prose.slice(-END))) return false
  const asked = wordsOf(userText)
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

/** Long words in lower case; in scripts without spaces, every three adjacent characters. */
function wordsOf(text: string): Set<string> {
  const small = text.toLowerCase()
  const words = new Set<string>()
  for (const [word] of small.replaceAll(UNSPACED, " ").matchAll(/\p{L}+/gu))
    if (word.length >= LEAST_LETTERS) words.add(word)
  for (const [run] of small.matchAll(UNSPACED))
    for (let at = 0; at + 3 <= run.length; at++) words.add(run.slice(at, at + 3))
  return words
}
