import { takeDate } from "./dates.ts"
import { plannedCall, type Meaning, inWords as says } from "./meaning.ts"
import { newTasks, type Traits } from "./new-tasks.ts"
import { takeLeadingPriority } from "./priorities.ts"
import { isToDo } from "./splitting.ts"
import { takeProjectFirst, withoutLinks } from "./titles.ts"
import { beginsWith, endsWith, part, type RequestText } from "./words.ts"

const MAKE = ["add", "create", "make", "new", "open", "put", "log", "set up", "write", "make me", "add me", "create me"]
const ONE = ["a", "an", "another", "one", "the", "a new", "another new", "new", "this", "a quick", "one more"]
const MANY = ["two", "three", "four", "five", "2", "3", "4", "5", "some", "these", "the following", "a few", "new"]
const TASK = ["task", "to do", "reminder", "todo", "todo item", "to do item"]
const TASKS = ["tasks", "reminders"]
const NEEDS = [
  ...["i need to", "i have to", "i must", "i should", "i gotta", "i've got to", "i ought to", "remember to"],
  ...["don't let me forget to", "dont let me forget to", "don't forget to", "dont forget to", "i must not forget to"],
  ...["make sure i", "i still need to", "i still have to", "we need to", "we have to"],
]
const ON_MY_LIST = ["to my", "on my", "onto my", "to the", "on the"].flatMap((on) =>
  ["list", "tasks", "task list", "todo list", "to do list", "todo", "task"].map((list) => `${on} ${list}`),
)
/** What is asked for, and is no task: `I need to see my notes`. */
const REQUESTS = new Set([
  ...["see", "know", "show", "list", "find", "search", "delete", "rename", "move", "mark", "undo", "read", "view"],
  ...["change", "update", "complete", "archive", "add", "create", "make", "postpone", "reschedule", "assign", "open"],
])
/** What else can be added: other tools' own words are for these. */
const OTHER_THINGS = new Set([
  ...["project", "note", "memo", "client", "customer", "checkpoint", "milestone", "comment", "file", "folder"],
  ...["directory", "chart", "table", "column", "row", "projects", "notes", "clients", "checkpoints", "comments"],
])

/** Something new to do, however it is said; undefined where it is about something else. */
export function creating(phrase: RequestText): Meaning | undefined {
  return reminder(phrase) ?? named(phrase) ?? needed(phrase) ?? bare(phrase) ?? scheduled(phrase)
}

/** `remind me tomorrow to …` */
function reminder(phrase: RequestText): Meaning | undefined {
  const length = beginsWith(phrase, ["remind me", "set a reminder", "set me a reminder", "give me a reminder"])
  if (length === 0) return undefined
  const rest = part(phrase, length)
  if (rest.words.length === 0) return says("What shall I remind you of, and when?")
  const about = beginsWith(rest, ["to", "about", "of", "that", "for", "that i have to", "that i need to"])
  if (about > 0) return newTasks(part(rest, about)) ?? says("What shall I remind you of?")
  // What stands before `to` is when: `remind me on friday to call`.
  const to = rest.words.findIndex(({ is }) => is === "to" || is === "about")
  const early = to > 0 ? takeDate({ ...part(rest, 0, to), words: [...part(rest, 0, to).words] }) : undefined
  if (early && (early.rest.words.length > 0 || early.doubt)) return undefined
  if (early?.when) return newTasks(part(rest, to + 1), { when: early.when })
  return newTasks(rest)
}

/** `add an urgent task …`, `new task: …`, `task: …`, `add three tasks: a, b and c` */
function named(phrase: RequestText): Meaning | undefined {
  const verb = beginsWith(phrase, MAKE)
  const rest = part(phrase, verb)
  if (verb === 0) {
    const noun = beginsWith(rest, TASK)
    return noun > 0 && rest.words[noun - 1]?.stop === ":" ? newTasks(part(rest, noun)) : undefined
  }
  const many = part(rest, beginsWith(rest, MANY))
  const nouns = beginsWith(many, TASKS)
  if (nouns > 0) return newTasks(withoutLinks(part(many, nouns)), {}, true) ?? WHAT
  const single = part(rest, beginsWith(rest, ONE))
  const { rest: after, priority } = takeLeadingPriority(single, [...TASK])
  const noun = beginsWith(after, TASK)
  if (noun === 0) return undefined
  const body = part(after, noun)
  const traits: Traits = { priority }
  return inFront(body, traits) ?? newTasks(withoutEnding(withoutLinks(body)), traits) ?? WHAT
}

const WHAT = says("What shall the task be called?")

/** `add a task for tomorrow: call Ada`, `add a task in project Website: …` */
function inFront(body: RequestText, traits: Traits): Meaning | undefined {
  const colon = body.words.findIndex(({ stop }) => stop === ":")
  if (colon < 0 || colon === body.words.length - 1) return undefined
  const { rest: dated, project } = takeProjectFirst(part(body, 0, colon + 1))
  const { rest, when, doubt } = takeDate(dated)
  if (rest.words.length > 0 || doubt || !(when ?? project)) return undefined
  return newTasks(part(body, colon + 1), { ...traits, when, project })
}

const withoutEnding = (phrase: RequestText) => part(phrase, 0, phrase.words.length - endsWith(phrase, ON_MY_LIST))

/** `I need to renew my passport`: also without `add`, unless it asks for something that can be done here. */
function needed(phrase: RequestText): Meaning | undefined {
  const early = takeDate(phrase)
  const length = beginsWith(phrase, NEEDS)
  if (length > 0) {
    const body = part(phrase, length)
    return REQUESTS.has(body.words[0]?.is ?? "") ? undefined : newTasks(body)
  }
  if (!early.when || early.doubt || early.rest.words[0]?.at === phrase.words[0]?.at) return undefined
  const late = beginsWith(early.rest, [...NEEDS, "remind me to"])
  return late > 0 ? newTasks(part(early.rest, late), { when: early.when }) : undefined
}

/** `add buy milk`, `put eggs on my list`. What is neither something to do nor on a list may be anything: it is asked. */
function bare(phrase: RequestText): Meaning | undefined {
  const verb = beginsWith(phrase, [
    "add",
    "put",
    "note down to",
    "add to my list",
    "add to my tasks",
    "add to my todo list",
  ])
  if (verb === 0) return undefined
  const rest = part(phrase, verb)
  const ending = endsWith(rest, ON_MY_LIST)
  const body = part(rest, beginsWith(rest, ["to"]), rest.words.length - ending)
  if (body.words.length === 0) return says("What shall I add?")
  const onList = ending > 0 || verb > 1
  if (onList) return newTasks(body)
  if (phrase.words[0]?.is !== "add") return undefined
  if (isToDo(body)) return newTasks(body)
  const first = part(body, beginsWith(body, ONE)).words[0]?.is ?? ""
  if (OTHER_THINGS.has(first)) return undefined
  const task = newTasks(body)
  if (!task || !("calls" in task)) return task
  const name = String(task.calls[0]?.input.title)
  return {
    asks: `What shall I add "${name}" as?`,
    options: [
      { label: `a task`, calls: task.calls, words: ["task", "a task", "yes", "as a task", "to do"] },
      {
        label: `a project`,
        calls: [plannedCall("create_project", { name })],
        words: ["project", "a project", "as a project"],
      },
    ],
  }
}

/** `schedule the review for friday` */
function scheduled(phrase: RequestText): Meaning | undefined {
  const verb = beginsWith(phrase, ["schedule", "plan", "plan to"])
  if (verb === 0) return undefined
  const { when } = takeDate(phrase)
  return when ? newTasks(part(phrase, phrase.words[verb]?.is === "to" ? verb + 1 : verb)) : undefined
}
