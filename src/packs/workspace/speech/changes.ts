import type { TableName } from "../../../protocol/workspace-tables.ts"
import { readWhen, type When } from "./dates.ts"
import { readPriority } from "./priorities.ts"
import { spokenState, stateAtEnd } from "./states.ts"
import { readTarget, type ChangeTarget } from "./targets.ts"
import { capitalTitle } from "./titles.ts"
import { beginsWith, part, type RequestText, spelled } from "./words.ts"

/** A change of something that is there. */
export interface SpokenChange {
  readonly target: ChangeTarget
  /** What it can be a change of; without, whatever has that name. */
  readonly table?: TableName
  readonly action: "update" | "delete"
  readonly updates: Readonly<Record<string, unknown>>
  /** When, where that is not to be guessed. */
  readonly when?: When
}

type Read = (phrase: RequestText) => SpokenChange | undefined

/** What is to be changed, of what; undefined where it is no change. */
export function readChange(phrase: RequestText): SpokenChange | undefined {
  if (QUESTIONS.has(phrase.words[0]?.is ?? "")) return undefined
  for (const read of READERS) {
    const change = read(phrase)
    if (change) return change
  }
  return undefined
}

/** Who asks whether something is done has not said that it is. */
const QUESTIONS = new Set([
  ...["what", "what's", "whats", "which", "who", "when", "where", "why", "how", "is", "are", "do", "does", "did"],
  ...["has", "have", "will", "if", "was", "were", "whose"],
])

const ofTask = (words: RequestText, updates: Record<string, unknown>, when?: When): SpokenChange | undefined => {
  const target = readTarget(words)
  const table = target?.kind === "named" || target?.kind === "it" ? (target.table ?? "tasks") : "tasks"
  if (!target || (table !== "tasks" && !("name" in updates))) return undefined
  return { target, table: "tasks", action: "update", updates, ...(when ? { when } : {}) }
}

const COMPLETE = [
  ...["complete", "finish", "close", "tick off", "check off", "tick", "i finished", "i have finished", "i've finished"],
  ...["i completed", "i have completed", "i've completed", "i did", "i've done", "i have done", "i'm done with"],
  ...["i am done with", "im done with", "done with", "i just finished", "i just did", "finished", "completed"],
]
const MARK = ["mark", "set", "make", "flag", "move", "change", "turn", "put"]
const REOPEN = ["reopen", "re-open", "uncheck", "untick", "reactivate task"]
const START = ["start working on", "i'm working on", "i am working on", "i started", "start task", "start the task"]

const status: Read = (phrase) => {
  const [complete, reopen, start] = [COMPLETE, REOPEN, START].map((each) => beginsWith(phrase, each))
  const rest = (length: number | undefined) => part(phrase, length ?? 0)
  if (start) return ofTask(rest(start), { status: "in_progress" })
  if (reopen) return ofTask(rest(reopen), { status: "todo" })
  const mark = beginsWith(phrase, MARK)
  const said = mark > 0 ? stateAtEnd(rest(mark)) : undefined
  if (said) return ofTask(said.rest, { status: said.state })
  // `finish the report by friday` may be something to do by then.
  if (complete && !endsWithDate(phrase)) return ofTask(rest(complete), { status: "done" })
  const is = phrase.words.findIndex((word) => word.is === "is" || word.is === "are")
  const state = is > 0 ? spokenState(part(phrase, is + 1)) : undefined
  return state ? ofTask(part(phrase, 0, is), { status: state }) : undefined
}

const endsWithDate = (phrase: RequestText) => phrase.words.some((_, at) => at > 0 && readWhen(part(phrase, at)))

const LEVELS_OF = ["set the priority of", "change the priority of", "set priority of", "set the priority for"]
const MAX = 12

const priority: Read = (phrase) => {
  const whole = beginsWith(phrase, ["prioritise", "prioritize"])
  if (whole) return ofTask(part(phrase, whole), { priority: "high" })
  const of = beginsWith(phrase, LEVELS_OF)
  const verb = of || beginsWith(phrase, [...MARK, "bump"])
  const { words } = phrase
  for (let at = Math.max(verb + 1, words.length - MAX); at < words.length; at++) {
    const level = readPriority(part(phrase, at))
    const links = verb > 0 || ["is", "are"].includes(words[at]?.is ?? "")
    const said = level ?? (links && verb === 0 ? readPriority(part(phrase, at + 1)) : undefined)
    if (said && links && (of > 0 || at < words.length)) return ofTask(part(phrase, verb, at), { priority: said })
  }
  return undefined
}

const MOVE = [
  ...["move", "postpone", "push", "push back", "reschedule", "shift", "delay", "defer", "put off", "change", "set"],
  ...["bring forward", "make", "set the due date of", "change the due date of", "reset"],
  ...[
    "move the due date of",
    "set the deadline of",
    "change the deadline of",
    "move the deadline of",
    "set due date of",
  ],
  ...["set the due date for", "change the due date for", "set the due date on", "set the deadline for"],
]
const UNTIL = new Set(["to", "until", "till", "for", "on", "by", "due", "back", "is", "be", "from"])

const due: Read = (phrase) => {
  const clear = beginsWith(phrase, ["remove the due date of", "remove the due date from", "clear the due date of"])
  if (clear) return ofTask(part(phrase, clear), { due_date: "none" })
  const verb = beginsWith(phrase, MOVE)
  const { words } = phrase
  for (let at = verb + 1; at < words.length; at++) {
    const when = readWhen(part(phrase, at)) ?? (words[at]?.is === "to" ? readWhen(part(phrase, at + 1)) : undefined)
    if (!when) continue
    let to = at
    while (to > verb + 1 && UNTIL.has(words[to - 1]?.is ?? "")) to--
    const links = verb > 0 || words.slice(to, at + 1).some(({ is }) => is === "is")
    return links ? ofTask(part(phrase, verb, to), { due_date: when.words }, when) : undefined
  }
  return undefined
}

const project: Read = (phrase) => {
  const verb = beginsWith(phrase, ["move", "put"])
  const to = phrase.words.findLastIndex(({ is }) => is === "to" || is === "into" || is === "in" || is === "under")
  if (verb === 0 || to <= verb) return undefined
  const rest = part(phrase, to + 1)
  const first = beginsWith(rest, ["the project", "my project", "project", "the", "my"])
  const last = rest.words.at(-1)?.is === "project" ? rest.words.length - 1 : rest.words.length
  const name = spelled(part(rest, first, last))
  const isNamed =
    first > 0 || last < rest.words.length || phrase.words[to]?.is === "to" || phrase.words[to]?.is === "into"
  return name !== "" && isNamed ? ofTask(part(phrase, verb, to), { project_id: name }) : undefined
}

const assign: Read = (phrase) => {
  const verb = beginsWith(phrase, ["assign", "delegate", "give"])
  const to = phrase.words.findLastIndex(({ is }) => is === "to")
  if (verb === 0 || to <= verb) return undefined
  const names = spelled(part(phrase, to + 1)).split(/,| and /)
  const assignees = names.map((name) => capitalTitle(name.trim())).filter(Boolean)
  return assignees.length > 0 ? ofTask(part(phrase, verb, to), { assignees }) : undefined
}

const DELETE = ["delete", "remove", "drop", "trash", "erase", "get rid of", "scrap", "throw away", "del"]

const remove: Read = (phrase) => {
  const verb = beginsWith(phrase, DELETE)
  const target = verb > 0 ? readTarget(part(phrase, verb)) : undefined
  if (!target || phrase.words[verb]?.is === "comment" || phrase.words[verb + 1]?.is === "comment") return undefined
  const table = "table" in target ? target.table : undefined
  return { target, action: "delete", updates: {}, ...(table ? { table } : {}) }
}

const archive: Read = (phrase) => {
  const [archived, active] = [["archive"], ["unarchive", "reactivate"]].map((each) => beginsWith(phrase, each))
  const target = archived || active ? readTarget(part(phrase, archived || active || 0)) : undefined
  if (!target || ("table" in target && target.table !== undefined && target.table !== "projects")) return undefined
  return { target, table: "projects", action: "update", updates: { status: archived ? "archived" : "active" } }
}

const READERS: readonly Read[] = [status, priority, due, project, assign, archive, remove]
