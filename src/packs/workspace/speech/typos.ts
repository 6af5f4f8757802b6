import type { RequestText, Word } from "./words.ts"

const SHORTEST = 4

/** A word that is a letter off one of these is taken for it. No days: Frida is not Friday. */
const KNOWN = [
  ...["create", "delete", "remove", "remind", "rename", "complete", "finish", "reschedule", "postpone", "assign"],
  ...["show", "list", "search", "archive", "tasks", "task", "project", "projects", "notes", "clients", "overdue"],
  ...["urgent", "priority", "called", "milestones", "checkpoints"],
]
/** What differs by a letter from one of them and is a word all the same. */
const OTHERS = new Set([
  ...["shop", "shot", "slow", "snow", "stow", "how", "last", "lost", "mask", "ask", "asks", "tank", "tanks", "talk"],
  ...[
    "talks",
    "note",
    "client",
    "votes",
    "nodes",
    "crate",
    "starch",
    "remand",
    "caller",
    "calls",
    "removed",
    "removes",
    "deleted",
  ],
  ...["renamed", "reminds", "finished", "completed", "created", "creates", "lists", "shows", "assigned", "listen"],
  ...["archived", "notest", "desk", "disk", "risk", "dusk", "masks", "taks", "completes", "toady", "shown", "gist"],
  ...["mist", "fist", "list's", "minder", "cost", "host", "post", "lift", "lisa", "show's", "chow", "relate"],
])
const SPELLINGS: Readonly<Record<string, string>> = {
  ...{ taks: "tasks", tsk: "task", tsks: "tasks", tasl: "task", todya: "today", tdy: "today", toady: "today" },
  ...{ tmrw: "tomorrow", tmr: "tomorrow", tomorow: "tomorrow", tommorow: "tomorrow", tommorrow: "tomorrow" },
  ...{ tomorro: "tomorrow", "2morrow": "tomorrow", wensday: "wednesday", wendsday: "wednesday", thrusday: "thursday" },
  ...{ remnd: "remind", creat: "create", delte: "delete", shwo: "show", lsit: "list", proyect: "project" },
  ...{ prority: "priority", priorty: "priority", todos: "tasks", todo: "todo", "to-dos": "tasks", "to-do": "task" },
}

/** The same words, with those that are plainly mistyped put right. A name keeps its spelling: only `is` is mended. */
export function mended(phrase: RequestText): RequestText {
  return { ...phrase, words: phrase.words.map(mendedWord) }
}

function mendedWord(word: Word): Word {
  const is = spellings.get(word.is) ?? (OTHERS.has(word.is) ? undefined : nearest(word.is))
  return is === undefined ? word : { ...word, is }
}

const spellings = new Map(Object.entries(SPELLINGS))
const known = new Set(KNOWN)

function nearest(word: string): string | undefined {
  if (word.length < SHORTEST || word.length > 14 || known.has(word) || !/^[a-z]+$/.test(word)) return undefined
  const found = KNOWN.filter((each) => each.length > SHORTEST && isOneOff(word, each))
  return found.length === 1 ? found[0] : undefined
}

/** One letter too many, too few, wrong, or two that have changed places. */
export function isOneOff(said: string, meant: string): boolean {
  if (said === meant || Math.abs(said.length - meant.length) > 1 || said[0] !== meant[0]) return false
  let at = 0
  while (at < said.length && said[at] === meant[at]) at++
  const [ours, theirs] = [said.slice(at), meant.slice(at)]
  const swapped = ours.length > 1 && ours[0] === theirs[1] && ours[1] === theirs[0]
  return (
    ours.slice(1) === theirs.slice(1) ||
    ours.slice(1) === theirs ||
    ours === theirs.slice(1) ||
    (swapped && ours.slice(2) === theirs.slice(2))
  )
}
