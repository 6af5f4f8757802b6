import type { PlannedCall } from "../../../agent/definition/phrases.ts"
import { type Dated, readWhen, takeDate, type When } from "./dates.ts"
import { plannedCall, type Meaning, type Option } from "./meaning.ts"
import { type Priority, takePriority } from "./priorities.ts"
import { split } from "./splitting.ts"
import { takeProject, toTitle } from "./titles.ts"
import { part, type RequestText, SOMETHING, spelled } from "./words.ts"

/** What is said of a task beside its title. */
export interface Traits {
  readonly when?: When | undefined
  readonly doubt?: Dated["doubt"] | undefined
  readonly priority?: Priority | undefined
  readonly project?: string | undefined
}

interface Draft extends Traits {
  readonly title: string
}

/** Tasks out of what follows `add a task`; `known`: what was said before it. `list`: there are several, it was said. */
export function newTasks(body: RequestText, known: Traits = {}, list = false): Meaning | undefined {
  const { parts, sure } = list ? { parts: listed(body), sure: true } : split(body)
  const one = draftOf(body, known)
  if (!one) return undefined
  if (parts.length === 1) return proposed([one])
  const drafts = parts.flatMap((each) => draftOf(each, known) ?? [])
  if (drafts.length < parts.length) return proposed([one])
  const loose = looseEnding(drafts)
  if (sure && !loose) return proposed(drafts)
  const problem = [one, ...drafts].find(isDoubtful)
  if (problem) return doubtOf(problem)
  const several = loose ? [spreadOver(drafts), drafts] : [drafts]
  return {
    asks: "I am not sure whether that is one task or several. Which do you mean?",
    options: [
      ...several.map((each, index): Option => {
        const words = index === 0 ? ["several", "separate", "separately", "two", "both", "split", "two tasks"] : []
        return { label: each.map(inWords).join(" and "), calls: each.map(toCall), words }
      }),
      {
        label: inWords(one),
        calls: [toCall(one)],
        words: ["one", "one task", "together", "just one", "a single task"],
      },
    ],
  }
}

/** One task's title with what its end says about it, in whatever order. */
function draftOf(body: RequestText, known: Traits): Draft | undefined {
  const quoted = body.words[0]?.is === "" ? part(body, 0, 1) : undefined
  let rest = quoted ? { ...body, words: [SOMETHING, ...body.words.slice(1)] } : body
  let traits = known
  for (let ending = 0; ending < MAX_ENDINGS; ending++) {
    const before = rest.words.length
    const { rest: first, priority } = takePriority(rest)
    const { rest: second, when, doubt } = takeDate(first)
    const { rest: third, project } = takeProject(second)
    rest = third
    traits = {
      priority: traits.priority ?? priority,
      project: traits.project ?? project,
      when: traits.when ?? when,
      doubt: traits.doubt ?? (traits.when && when ? "two" : doubt),
    }
    if (rest.words.length === before || doubt) break
  }
  if (quoted && rest.words.length > 1) return undefined
  const title = toTitle(quoted ?? rest)
  return title === "" ? undefined : { ...traits, title }
}

/** A date, a priority and a project, each of which may be said twice. */
const MAX_ENDINGS = 6

function listed(body: RequestText): RequestText[] {
  const parts: RequestText[] = []
  let from = 0
  body.words.forEach((word, at) => {
    const joins = word.is === "and"
    if (!joins && word.stop !== "," && word.stop !== ";" && at < body.words.length - 1) return
    const to = joins ? at : at + 1
    if (to > from) parts.push(part(body, from, to))
    from = at + 1
  })
  return parts
}

/** `buy milk and call mum tomorrow`: whether the milk is for tomorrow, too, nobody has said. */
function looseEnding(drafts: readonly Draft[]): boolean {
  const [last, others] = [drafts.at(-1), drafts.slice(0, -1)]
  const said = ({ when, project, priority }: Draft) => [when?.words, project, priority].some(Boolean)
  return last !== undefined && said(last) && others.every((each) => !said(each))
}

function spreadOver(drafts: readonly Draft[]): Draft[] {
  const { title: _, ...traits } = drafts.at(-1) as Draft
  return drafts.map(({ title }) => ({ ...traits, title }))
}

function proposed(drafts: readonly Draft[]): Meaning {
  const problem = drafts.find(isDoubtful)
  if (!problem) return { calls: drafts.map(toCall) }
  return drafts.length === 1 ? doubtOf(problem) : { ...doubtOf(problem), options: [] }
}

const isDoubtful = ({ when, doubt }: Draft) => doubt !== undefined || when?.wide === true || Boolean(when?.readings)

/** The question about a date that is not to be guessed. */
function doubtOf(draft: Draft): Extract<Meaning, { asks: string }> {
  const { title, when, doubt } = draft
  const on = (words: string) => toCall({ ...draft, when: { words }, doubt: undefined })
  const accepts = (answer: RequestText): Meaning | undefined => {
    const said = readWhen(answer)
    return said && !said.wide && !said.readings ? { calls: [on(said.words)] } : undefined
  }
  if (doubt === "repeated")
    return { asks: `I cannot make tasks that repeat. For which day shall I propose "${title}" once?`, options: [] }
  if (doubt === "figures")
    return { asks: `Which day is that? Figures such as 10/11 are two days; say it like 10 November.`, options: [] }
  if (doubt === "two")
    return { asks: `You name more than one time for "${title}". When is it due?`, options: [], accepts }
  if (when?.wide) return { asks: `Which day, ${when.words}, shall "${title}" be due?`, options: [], accepts }
  const options = (when?.readings ?? []).map((words) => ({ label: words, calls: [on(words)], words: halfOf(words) }))
  return { asks: `When shall "${title}" be due?`, options, accepts }
}

const halfOf = (words: string) =>
  /at 1[2-9]:/.test(` at ${words}`) ? ["pm", "afternoon", "evening"] : ["am", "morning"]

export function toCall({ title, when, priority, project }: Draft): PlannedCall {
  const said = { priority, due_date: when?.words, project_id: project }
  return plannedCall("create_task", { title, ...withoutNothing(said) })
}

export const withoutNothing = (all: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))

function inWords({ title, when, project, priority }: Draft): string {
  const traits = [priority && `${priority} priority`, when && `due ${when.words}`, project && `in project ${project}`]
  const said = traits.filter(Boolean).join(", ")
  return `a task "${title}"${said ? ` (${said})` : ""}`
}

/** One task as it would be proposed, for whoever has found its words by a pattern; undefined where there is doubt. */
export function oneTask(body: RequestText): Record<string, unknown> {
  const draft = draftOf(body, {})
  return draft && !isDoubtful(draft) ? { ...toCall(draft).input } : { title: toTitle(body) || spelled(body) }
}
