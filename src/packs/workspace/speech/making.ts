import type { CallResult } from "../../../agent/model.ts"
import { calling, type Meaning, inWords } from "./meaning.ts"
import { rowsIn } from "./mentioned.ts"
import { newTasks, withoutNothing } from "./new-tasks.ts"
import { takeProjectFirst, toTitle, withoutLinks } from "./titles.ts"
import { beginsWith, longestSaying, part, type RequestText, spelled } from "./words.ts"

const MAKE = ["add", "create", "make", "new", "start", "set up", "open", "begin", "add me", "create me", "make me"]
const ONE = ["a", "an", "another", "the", "a new", "another new", "new", "one more"]
const WITH_TASKS = [
  ...[
    "and a task",
    "with a task",
    "and add a task",
    "and create a task",
    "and put a task",
    "with the task",
    "and the task",
  ],
  ...[
    "with tasks",
    "with the tasks",
    "and tasks",
    "and the tasks",
    "with two tasks",
    "with three tasks",
    "and add tasks",
  ],
  ...["and two tasks", "and three tasks", "and another task", "with one task", "and add the task", "and add the tasks"],
]
const IN_IT = ["in it", "to it", "inside it", "in there", "for it", "into it", "in that project", "to that project"]

/** A new project, and the tasks that are said with it: these come when it is there. */
export function makingProject(phrase: RequestText, since: readonly CallResult[]): Meaning | undefined {
  const verb = beginsWith(phrase, MAKE)
  const after = part(phrase, verb + beginsWith(part(phrase, verb), ONE))
  if (verb === 0 || after.words[0]?.is !== "project") return undefined
  const body = withoutLinks(part(after, 1))
  if (body.words.length === 0) return inWords("What shall the project be called?")
  const at = body.words.findIndex((_, index) => index > 0 && longestSaying(body, index, WITH_TASKS) > 0)
  if (at < 0 && since.length > 0) return undefined
  const { rest, client } = takeClient(at < 0 ? body : part(body, 0, at))
  const name = toTitle(rest)
  if (at < 0) return name === "" ? undefined : calling("create_project", withoutNothing({ name, client_id: client }))
  const length = longestSaying(body, at, WITH_TASKS)
  const tasks = withoutIt(withoutLinks(part(body, at + length)))
  const many = body.words[at + length - 1]?.is === "tasks"
  const made = since.find((result) => result.name === "create_project")
  if (!made) {
    const asks = newTasks(tasks, {}, many)
    return asks && "calls" in asks ? calling("create_project", withoutNothing({ name, client_id: client })) : asks
  }
  const [project] = made.status === "ok" ? rowsIn(made) : []
  if (!project || since.some((result) => result.name === "create_task")) return undefined
  return newTasks(tasks, { project: project.id }, many)
}

function withoutIt(phrase: RequestText): RequestText {
  const from = phrase.words.findIndex((_, at) => IN_IT.some((said) => longestSaying(phrase, at, [said]) > 0))
  const length = from < 0 ? 0 : longestSaying(phrase, from, IN_IT)
  return from > 0 && from + length === phrase.words.length ? part(phrase, 0, from) : phrase
}

function takeClient(phrase: RequestText): { rest: RequestText; client?: string } {
  const at = phrase.words.findIndex((_, index) => index > 0 && longestSaying(phrase, index, FOR_CLIENT) > 0)
  if (at < 0) return { rest: phrase }
  return { rest: part(phrase, 0, at), client: spelled(part(phrase, at + longestSaying(phrase, at, FOR_CLIENT))) }
}

const FOR_CLIENT = ["for client", "for the client", "for my client", "for customer"]

const NOTE = ["note", "memo"]
const TAKE = ["add", "create", "make", "new", "take", "write", "write me", "make me", "save", "leave", "jot down"]
const PLAIN_NOTE = [
  ...["note that", "note down that", "note down", "write down that", "write down", "jot down that", "jot down"],
  ...["remember that", "make a note that", "take a note that", "make a note of", "save a note that", "add a note that"],
  ...["make a note", "take a note", "save a note"],
]
/** A title out of a text that has none. */
const TITLE_WORDS = 7

/** A note out of what was said: its title is what stands before a colon, or its own first words. */
export function makingNote(phrase: RequestText): Meaning | undefined {
  const plain = beginsWith(phrase, PLAIN_NOTE)
  const verb = beginsWith(phrase, TAKE)
  const after = part(phrase, verb + beginsWith(part(phrase, verb), ONE))
  const isNote = NOTE.includes(after.words[0]?.is ?? "")
  const alone = verb === 0 && isNote && after.words[0]?.stop === ":"
  if (plain === 0 && !alone && !(verb > 0 && isNote)) return undefined
  const { rest, project } = plain > 0 ? inFront(part(phrase, plain)) : inFront(part(after, 1))
  const body = withoutLinks(rest)
  if (body.words.length === 0) return inWords("What shall the note say?")
  const colon = body.words.findIndex(({ stop }) => stop === ":")
  const isTitled = colon >= 0 && colon < TITLE_WORDS + 3 && colon < body.words.length - 1 && !alone
  if (isTitled) return note(toTitle(part(body, 0, colon + 1)), textFrom(body, colon + 1), project)
  // `create a note called Ideas` says no text, and none is made up.
  const isText = after.words[0]?.stop === ":"
  if (verb > 0 && plain === 0 && colon < 0 && !isText && !/^(?:that|saying|says)$/.test(rest.words[0]?.is ?? ""))
    return inWords(`What shall the note say? Say it like: create a note called ${toTitle(body)}: its text.`)
  return note(toTitle(part(body, 0, TITLE_WORDS)), textFrom(body, 0), project)
}

function inFront(phrase: RequestText): { rest: RequestText; project?: string } {
  const colon = phrase.words.findIndex(({ stop }) => stop === ":")
  if (colon < 1) return { rest: phrase }
  const { rest, project } = takeProjectFirst(part(phrase, 0, colon + 1))
  if (!project) return { rest: phrase }
  return { rest: { ...phrase, words: [...rest.words, ...phrase.words.slice(colon + 1)] }, project }
}

const note = (title: string, content: string, project: string | undefined): Meaning =>
  calling("create_note", withoutNothing({ title, content, project_id: project }))

const textFrom = ({ text, words }: RequestText, from: number) => text.slice(words[from]?.at ?? 0).trim()
