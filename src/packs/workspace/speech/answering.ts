import type { Meaning, ClarifyingQuestion } from "./meaning.ts"
import { readNumbers } from "./targets.ts"
import { part, type RequestText, toPlainWords } from "./words.ts"

const YES = new Set([
  "yes",
  "y",
  "yeah",
  "yep",
  "sure",
  "ok",
  "okay",
  "right",
  "correct",
  "exactly",
  "please do",
  "do it",
])
const NO = new Set([
  ...["no", "n", "nope", "neither", "none", "none of them", "never mind", "nevermind", "forget it", "cancel", "stop"],
  ...["nothing", "leave it", "no thanks"],
])
const LEADING = new Set([
  "yes",
  "the",
  "no",
  "i",
  "mean",
  "meant",
  "want",
  "as",
  "a",
  "just",
  "please",
  "it's",
  "its",
  "make",
  "it",
])

/** What an answer to a question comes to; undefined where it is no answer to it. */
export function answering(phrase: RequestText, question: ClarifyingQuestion): Meaning | undefined {
  const said = toPlainWords(phrase)
  const { options, accepts } = question
  if (NO.has(said)) return { says: "All right, I have changed nothing." }
  if (YES.has(said) && options.length === 1) return { calls: options[0]?.calls ?? [] }
  for (let from = 0; from <= Math.min(4, phrase.words.length - 1); from++) {
    if (from > 0 && !LEADING.has(phrase.words[from - 1]?.is ?? "")) break
    const rest = part(phrase, from)
    const found = chosen(rest, options) ?? accepts?.(rest)
    if (found) return found
  }
  return YES.has(said) ? { says: "Which of them? Say its number." } : undefined
}

function chosen(phrase: RequestText, options: ClarifyingQuestion["options"]): Meaning | undefined {
  const said = toPlainWords(phrase)
  const worded = options.filter(({ words = [] }) => words.includes(said))
  if (worded.length === 1) return { calls: worded[0]?.calls ?? [] }
  const numbers = readNumbers(phrase)
  const byNumber = numbers?.map((number) => (number < 0 ? options.at(number) : options[number - 1]))
  if (byNumber && byNumber.every((option) => option !== undefined))
    return { calls: byNumber.flatMap((option) => option?.calls ?? []) }
  const like = options.filter(({ label }) => said.length > 2 && label.toLowerCase().includes(said))
  return like.length === 1 ? { calls: like[0]?.calls ?? [] } : undefined
}
