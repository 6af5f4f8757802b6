import type { HistoryMessage } from "../../../agent/model.ts"
import type { Interpretation, Interpreter } from "../../../agent/definition/phrases.ts"
import { answering } from "./answering.ts"
import { asking } from "./asking.ts"
import { cannot } from "./cannot.ts"
import { type SpokenChange, readChange } from "./changes.ts"
import { creating } from "./creating.ts"
import { following } from "./following.ts"
import { makingNote, makingProject } from "./making.ts"
import { toQuestionWords, type Meaning, type ClarifyingQuestion } from "./meaning.ts"
import { mentionedIn, resultsIn } from "./mentioned.ts"
import { withoutKindWords } from "./polite.ts"
import { readRenamings } from "./renaming.ts"
import { resolveName, resolvePointing } from "./resolving.ts"
import { mended } from "./typos.ts"
import { type RequestText, readWords } from "./words.ts"
import { isDoubtful, whenOf } from "./when-questions.ts"

type History = readonly HistoryMessage[]

/** Longer texts are no plain requests. */
const MAX_REQUEST = 1000
/** Questions that may follow one another before the first answer is forgotten. */
const MAX_DEPTH = 3

/**
 * What plain English comes to in a workspace: who to ask first, and what for. It holds no state: what was asked, found and
 * agreed to is in the history, and the same history always means the same.
 */
export const interpretWorkspace: Interpreter["interpret"] = (history): Interpretation | undefined => {
  const meaning = meaningOf(history, MAX_DEPTH)
  if (!meaning) return undefined
  if ("asks" in meaning) return { says: toQuestionWords(meaning) }
  return meaning
}

function meaningOf(history: History, depth: number): Meaning | undefined {
  const at = history.findLastIndex((turn) => turn.role === "user" && !turn.isNote)
  const turn = history[at]
  if (turn?.role !== "user" || turn.text.length > MAX_REQUEST) return undefined
  const before = history.slice(0, at)
  const since = resultsIn(history.slice(at + 1))
  const whole = mended(readWords(turn.text))
  const phrase = withoutKindWords(whole)
  if (phrase.words.length === 0) return undefined
  const question = depth > 0 ? questionBefore(before, depth) : undefined
  const answered = question && (answering(whole, question) ?? answering(phrase, question))
  if (answered) return since.length === 0 ? answered : undefined
  // What comes to nothing but calls comes to nothing more once they are made.
  const first = cannot(phrase) ?? makingNote(phrase) ?? asking(phrase)
  if (first) return since.length === 0 ? first : undefined
  const project = makingProject(phrase, since)
  if (project) return project
  const made = creating(phrase)
  if (made) return since.length === 0 ? made : undefined
  const changed = changing(phrase, { before, since })
  if (changed || since.length > 0) return changed
  const mentioned = mentionedIn(before)
  return following(whole, mentioned) ?? following(phrase, mentioned)
}

/** The question that the last reply put, found by asking again what it answered. */
function questionBefore(before: History, depth: number): ClarifyingQuestion | undefined {
  const last = before.at(-1)
  if (last?.role !== "assistant") return undefined
  const text = last.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")
  const meaning = meaningOf(before.slice(0, -1), depth - 1)
  return meaning && "asks" in meaning && toQuestionWords(meaning) === text ? meaning : undefined
}

interface Said {
  readonly before: History
  readonly since: ReturnType<typeof resultsIn>
}

function changing(phrase: RequestText, said: Said): Meaning | undefined {
  const renamings = readRenamings(phrase)
  if (renamings.length > 1) return whichName(renamings, said)
  const change = renamings[0] ?? readChange(phrase)
  return change && resolve(change, said)
}

function resolve(change: SpokenChange, { before, since }: Said): Meaning | undefined {
  const isNamed = change.target.kind === "named"
  if (isDoubtful(change)) {
    // Which one is found out before when is asked: the answer has to be enough.
    if (isNamed && since.length === 0) return resolveName(change, since, "by looking")
    return whenOf(change, (sure) =>
      isNamed ? resolveName(sure, since, "by looking") : resolvePointing(sure, mentionedIn(before)),
    )
  }
  if (isNamed) return resolveName(change, since)
  return since.length === 0 ? resolvePointing(change, mentionedIn(before)) : undefined
}

/** `rename Go to gym to Swim`: what has that name now is not to be guessed. */
function whichName(changes: readonly SpokenChange[], said: Said): Meaning | undefined {
  if (said.since.length > 0) return undefined
  const options = changes.flatMap((change) => {
    const { target, updates } = change
    return target.kind === "named" ? [{ label: `"${target.name}" becomes "${String(updates.name)}"`, calls: [] }] : []
  })
  const labels = options.map(({ label }) => `- ${label}`).join("\n")
  return {
    says: `I see more than one way to read that:\n\n${labels}\n\nSay it with the names in quotes: rename "A" to "B".`,
  }
}
