import { own } from "../../../protocol/own.ts"
import { calling, type Meaning } from "./meaning.ts"
import { periodOf } from "./periods.ts"
import { withoutNothing } from "./new-tasks.ts"
import { beginsWith, longestSaying, part, type RequestText, spelled } from "./words.ts"

const LOOK = [
  ...["list", "show", "show me", "give me", "what are", "what", "which", "display", "see", "view", "get", "get me"],
  ...["tell me", "how many", "do i have", "do i have any", "have i", "are there", "are there any", "is there", "any"],
  ...["what about", "let me see", "list all", "find", "find me", "look up", "count", "what's on", "whats on", "print"],
  ...["what is on", "search", "search for", "what kind of", "tell me about", "have i got", "have i got any", "check"],
  ...["do we have", "do we have any", "summarise", "summarize", "give me a list of", "show me a list of", "sum up"],
]
const STATES: Readonly<Record<string, string>> = {
  ...{ open: "todo", todo: "todo", "not started": "todo", unfinished: "todo", "to do": "todo", undone: "todo" },
  ...{ "in progress": "in_progress", started: "in_progress", ongoing: "in_progress", running: "in_progress" },
  ...{ done: "done", finished: "done", completed: "done", complete: "done", closed: "done" },
}
const LEVELS: Readonly<Record<string, string>> = {
  ...{ urgent: "high", important: "high", "high priority": "high", "high-priority": "high", critical: "high" },
  ...{ "low priority": "low", "low-priority": "low", "medium priority": "medium" },
}
const ORDERS: Readonly<Record<string, string>> = {
  ...{ "due date": "due_date", date: "due_date", deadline: "due_date", priority: "priority", title: "title" },
  ...{ name: "title", urgency: "priority" },
}
/** What says nothing about which tasks are meant. */
const FILLERS = [
  ...[
    "all",
    "all of",
    "my",
    "the",
    "of my",
    "of the",
    "me",
    "any",
    "please",
    "that are",
    "which are",
    "who are",
    "are",
  ],
  ...["do i have", "have i got", "have i", "are there", "i have", "there are", "is there", "left", "still", "to do"],
  ...["currently", "at the moment", "right now", "that i have", "we have", "do we have", "is", "i've got", "is left"],
  ...["a list of", "of", "on my list", "on the list", "with", "set to", "marked as", "marked", "to be done", "for me"],
  ...["every", "each", "full", "complete list of", "overview of", "here", "in my workspace", "in total", "exist", "as"],
  ...["have", "got", "remaining", "remain", "am i", "i"],
]
const TASKS = ["tasks", "task", "things to do", "items", "reminders", "task list", "todo list", "to do list"]

interface Wanted {
  status?: string | undefined
  priority?: string | undefined
  due?: string | undefined
  project_id?: string
  search?: string
  order_by?: string | undefined
}

const OTHERS: Readonly<Record<string, string>> = {
  projects: "list_projects",
  notes: "list_notes",
  clients: "list_clients",
}

/** Projects, notes or clients that are asked for, all of them. */
export function listingOthers(phrase: RequestText): Meaning | undefined {
  const verb = beginsWith(phrase, LOOK)
  let [tool, all]: [string | undefined, boolean] = [undefined, false]
  for (let at = verb; at < phrase.words.length;) {
    const said = phrase.words[at]?.is ?? ""
    const noun = own(OTHERS, said)
    const length = noun ? 1 : longestSaying(phrase, at, FILLERS)
    if (length === 0 || (noun && tool)) return undefined
    all ||= said === "all"
    tool = noun ?? tool
    at += length
  }
  if (verb === 0 || !tool) return undefined
  return calling(all && tool === "list_projects" ? "list_all_projects" : tool)
}

/** Tasks that are asked for: which, in which state, of which project. Every word must have been understood. */
export function listingTasks(phrase: RequestText): Meaning | undefined {
  const verb = beginsWith(phrase, LOOK)
  if (verb === 0 && !isBareList(phrase)) return undefined
  const wanted: Wanted = {}
  let named = false
  for (let at = verb; at < phrase.words.length;) {
    const noun = longestSaying(phrase, at, TASKS)
    const next = noun > 0 ? at + noun : readTrait(phrase, at, wanted)
    if (next === undefined) return undefined
    named ||= noun > 0
    at = next
  }
  if (!named && wanted.due === undefined) return undefined
  if (wanted.due === "today" && Object.keys(wanted).length === 1) return calling("list_tasks_due_today")
  return calling("list_tasks", withoutNothing({ ...wanted }))
}

/** `my tasks`, `open tasks`: nothing else begins so. */
const isBareList = (phrase: RequestText) =>
  phrase.words.length <= 6 && ["my", "all", "open", "overdue", "tasks", "urgent"].includes(phrase.words[0]?.is ?? "")

/** Where the trait that begins at a word ends; undefined where the word means nothing here. */
function readTrait(phrase: RequestText, at: number, wanted: Wanted): number | undefined {
  const state = longestOf(phrase, at, STATES)
  if (state) return set(wanted, "status", state.means) ? at + state.length : undefined
  const level = longestOf(phrase, at, LEVELS)
  if (level) return set(wanted, "priority", level.means) ? at + level.length : undefined
  const period = periodOf(phrase, at)
  if (period) return set(wanted, "due", period.means) ? period.end : undefined
  return readRest(phrase, at, wanted) ?? filler(phrase, at)
}

const filler = (phrase: RequestText, at: number) => {
  const length = longestSaying(phrase, at, FILLERS)
  return length > 0 ? at + length : undefined
}

const ABOUT = [
  "about",
  "mentioning",
  "containing",
  "that mention",
  "with the word",
  "with the words",
  "regarding",
  "on",
]
const SORTED = ["sorted by", "ordered by", "by", "order by", "sort by"]
const INSIDE = ["in", "of", "for", "from", "under", "inside"]

/** What is said at the end: a project, words to look for, an order. */
function readRest(phrase: RequestText, at: number, wanted: Wanted): number | undefined {
  const { words } = phrase
  const sorted = longestSaying(phrase, at, SORTED)
  const order = sorted > 0 ? longestOf(phrase, at + sorted, ORDERS) : undefined
  if (order) return set(wanted, "order_by", order.means) ? at + sorted + order.length : undefined
  const about = longestSaying(phrase, at, ABOUT)
  if (about > 0 && at + about < words.length) {
    wanted.search = spelled(part(phrase, at + about)).replace(/\?$/, "")
    return words.length
  }
  const project = projectAt(phrase, at)
  if (project === undefined) return undefined
  wanted.project_id = project
  return words.length
}

/** `in project Website`, `in the Website project`, `for Website`, to the end. */
export function projectAt(phrase: RequestText, at: number): string | undefined {
  const inside = longestSaying(phrase, at, INSIDE)
  if (inside === 0) return undefined
  const from =
    at + inside + longestSaying(phrase, at + inside, ["the", "my", "our", "the project", "my project", "project"])
  const last = phrase.words.at(-1)?.is === "project" ? phrase.words.length - 1 : phrase.words.length
  const name = spelled(part(phrase, from, last)).replace(/\?$/, "")
  // `which of my tasks`: what is counted is no project.
  const isTasks = longestSaying(phrase, from, TASKS) > 0
  return name === "" || last - from > 5 || isTasks ? undefined : name
}

function set<Key extends keyof Wanted>(wanted: Wanted, key: Key, value: Wanted[Key]): boolean {
  if (wanted[key] !== undefined && wanted[key] !== value) return false
  wanted[key] = value
  return true
}

function longestOf(phrase: RequestText, at: number, table: Readonly<Record<string, string>>) {
  const length = longestSaying(phrase, at, Object.keys(table))
  const said = phrase.words.slice(at, at + length).map(({ is }) => is)
  const means = length > 0 ? own(table, said.join(" ")) : undefined
  return means === undefined ? undefined : { length, means }
}
