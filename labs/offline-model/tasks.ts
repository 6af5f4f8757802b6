import { own } from "../../core/shared/text/json.ts"
import { type Arguments, call, type Phrase, phrase } from "./phrase.ts"

const WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
const MONTH =
  "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
const DAY = [
  "(?:the )?day after tomorrow|today|tonight",
  `(?:tomorrow|(?:this |next |coming )?${WEEKDAY})(?: (?:morning|afternoon|evening|night))?`,
  "in (?:\\d{1,3}|an?|one|two|three|four|five|six|ten) (?:minute|hour|day|week|month)s?",
  "(?:the )?end of (?:the |this |next )?(?:week|month|year)",
  `(?:the )?\\d{1,2}(?:st|nd|rd|th)? (?:of )?${MONTH}(?:,? \\d{4})?|${MONTH} \\d{1,2}(?:st|nd|rd|th)?(?:,? \\d{4})?`,
  "\\d{4}-\\d\\d-\\d\\d",
].join("|")
const TIME = "(?:at )?(?:\\d{1,2}:\\d\\d|\\d{1,2}(?::\\d\\d)? ?[ap]m|noon)"
/** A day, a time or both. The tool reads it; here it is only separated from the title. */
const WHEN = `(?:(?:${DAY})(?: ${TIME})?|${TIME}(?: (?:on )?(?:${DAY}))?)`

const LEVELS: Readonly<Record<string, string>> = {
  ...{ high: "high", top: "high", urgent: "high", urgently: "high", asap: "high", important: "high" },
  ...{ medium: "medium", normal: "medium", low: "low" },
}
const LEVEL = "(?:(?:high|top|medium|normal|low)(?:[- ]priority)?|urgent|important)"
const levelOf = (said: string) => own(LEVELS, /^[a-z]+/.exec(said.toLowerCase())?.[0] ?? "")

const STATES: Readonly<Record<string, string>> = {
  ...{ open: "todo", todo: "todo", "to do": "todo", "in progress": "in_progress", started: "in_progress" },
  ...{ done: "done", finished: "done", completed: "done", complete: "done" },
}
const STATE = Object.keys(STATES).join("|")
const stateOf = (said: string) => own(STATES, said.toLowerCase())

/** Phrases that may end a task, in any order. */
const ENDINGS: readonly (readonly [argument: string, ending: RegExp, toValue: (said: string) => unknown])[] = [
  ["priority", /,? (?:with |at |as )?(?:an? )?(?<said>high|top|medium|normal|low) priority$/i, levelOf],
  ["priority", /,? (?:with )?priority (?<said>high|medium|low)$/i, levelOf],
  ["priority", /,? \(?(?<said>urgent|urgently|asap|important)\)?$/i, levelOf],
  ["project_id", /,? (?:in|to|for|under) (?:the |my )?project (?<said>.{1,100})$/i, String],
  ["project_id", /,? (?:in|to|for|under) (?:the |my )(?<said>[^ ]+(?: [^ ]+){0,3}) project$/i, String],
  [
    "due_date",
    new RegExp(`(?<! (?:about|the|of|from|or|and)),? (?:due |by |on |until |before |for )*(?<said>${WHEN})$`, "i"),
    String,
  ],
  // Passed as a date, so that the tool reports an invalid date instead of adding it to the title.
  ["due_date", /,? due (?:on |by )?(?<said>(?:next|this|the) .{1,40}|\d.{0,40})$/i, String],
]

/** Splits a task into its title and the values at its end. A title in quotes may contain anything. */
export function readTask(said: string): Arguments {
  const text = said.trim()
  const quoted = /^["“'](?<title>[^"”']+)["”'](?<rest>.*)$/s.exec(text)?.groups
  let rest = quoted ? (quoted.rest ?? "") : text
  const found: Record<string, unknown> = {}
  for (let before = -1; before !== rest.length;) {
    before = rest.length
    for (const [argument, ending, toValue] of ENDINGS) {
      const match = argument in found ? null : ending.exec(rest)
      if (!match || (match.index === 0 && !quoted)) continue
      found[argument] = toValue(match.groups?.said ?? "")
      rest = rest.slice(0, match.index)
    }
  }
  if (quoted && rest.trim() !== "") return { title: text }
  return { title: capital(quoted?.title ?? rest.trim()), ...found }
}

/** Capitalizes the first letter, except of names such as iPhone, and addresses. */
export function capital(text: string): string {
  const [first = ""] = text.split(" ", 1)
  return /[A-Z./@:\d]/.test(first.slice(1)) ? text : text.slice(0, 1).toUpperCase() + text.slice(1)
}

/** The first words of things to do. */
const VERB =
  "(?:book|bring|buy|call|cancel|clean|cook|email|feed|finish|fix|get|invite|meet|order|pack|pay|phone|pick up|plan|prepare|read|" +
  "renew|repair|reply|return|send|sign|submit|tidy|visit|wash|water|write)"
const NOUN = "(?:task|to-?do|reminder)"
const NEW = "(?:add|create|make|new|set|open)(?: me)?(?: an?| another| the)?(?: new)?"

/** Requests such as `add bread to my tasks`. `add a task to …` is read before. */
const creating: readonly Phrase[] = [
  newTask(
    `${NEW}(?: (?<level>${LEVEL}))? ${NOUN}(?: for (?<when>${WHEN}))?(?:: ?| called | named | titled | to | - | )(?<task>.+)`,
  ),
  newTask(`${NOUN}: (?<task>.+)`),
  newTask("(?:add|put) (?<task>.+) (?:to|on) my (?:tasks|task list|list|to-?do list)"),
  newTask("put an?(?: new)? task (?:called |named )?(?<task>.+ (?:in|into|to|under) .+)"),
  newTask("add (?!an? |the )(?<task>.+ (?:to|in|under) (?:the |my )?(?:project .+|.+ project))"),
  newTask(`remind me (?:(?:on )?(?<when>${WHEN}) )?(?:to|about|of) (?<task>.+)`),
  newTask(
    "(?:i (?:need|have|gotta|should)(?: to)?|i must|remember to|do(?:n't| not|nt) (?:let me )?forget to) (?!see |know |show |list |find )(?<task>.+)",
  ),
  newTask(`add:? (?<task>${VERB} .+)`),
  newTask(`schedule (?<task>.+ ${WHEN})`),
]

function newTask(source: string): Phrase {
  const pattern = new RegExp(`^(?:${source})$`, "isu")
  return (request) => {
    const { task, level = "", when } = pattern.exec(request)?.groups ?? {}
    if (task === undefined) return undefined
    const priority = levelOf(level)
    const input: Arguments = {
      ...readTask(task),
      ...(priority ? { priority } : {}),
      ...(when ? { due_date: when } : {}),
    }
    return isTitle(input.title) ? [call("create_task", input)] : undefined
  }
}

/** False for words that remain of a request without a title: `set a task for 29 February 2027`. */
const isTitle = (title: unknown) => !/^(?:for|on|by|due|to|in|at|until|before|with|\d{4})?$/i.test(String(title).trim())

/** True if a request for a task has no title: `add a task`, `set a task for tomorrow`. */
export function lacksTitle(request: string): boolean {
  const said = new RegExp(`^${NEW} ${NOUN}(?: (?<rest>.+))?$`, "isu").exec(request.replace(/[.!?]+$/, ""))
  return said !== null && creating.every((phrase) => phrase(request) === undefined)
}

/** True if a request only sounds like something to do. */
export const soundsLikeTask = (request: string): boolean => new RegExp(`^${VERB} (?!me ).{2,100}$`, "i").test(request)

const BY: Readonly<Record<string, string>> = {
  date: "due_date",
  deadline: "due_date",
  "due date": "due_date",
  name: "title",
}
/** Filters of a list of tasks. Each one is removed from the request once it is read. */
const FILTERS: readonly (readonly [pattern: RegExp, toInput: (said: string) => Arguments])[] = [
  [/ (?:in|of|for|from) (?:the |my )?project (?<said>.{1,100}) $/i, (said) => ({ project_id: said })],
  [/ (?:in|of|for|from) (?:the |my )?(?<said>[^ ]+(?: [^ ]+){0,3}) project $/i, (said) => ({ project_id: said })],
  [/ (?:about|mentioning|containing) (?<said>.+) $/i, (said) => ({ search: said })],
  [
    / (?:sorted |ordered )?by (?<said>due date|date|deadline|priority|title|name) /i,
    (said) => ({ order_by: own(BY, said.toLowerCase()) ?? said }),
  ],
  [/ (?:without|with no|have no|that have no)(?: an?)? (?:due date|deadline) /i, () => ({ due: "none" })],
  [
    / (?:due )?(?<said>overdue|late|today|tomorrow|this week|next week|this month|upcoming) /i,
    (said) => ({ due: /^late$/i.test(said) ? "overdue" : said }),
  ],
  [/ (?:urgent|important|high[- ]priority) /i, () => ({ priority: "high" })],
  [/ (?<said>low|medium)[- ]priority /i, (said) => ({ priority: said })],
  [/ (?:in progress|started) /i, () => ({ status: "in_progress" })],
  [/ (?:done|finished|completed) /i, () => ({ status: "done" })],
  [/ todo /i, () => ({ status: "todo" })],
  [/ (?:open|unfinished|left(?: to do)?) /i, () => ({ status: "open" })],
]
const FILLER =
  /^(?:show|list|give|find|get|see|view|display|count|search|tell|me|my|the|a|an|all|any|of|is|are|that|there|which|what|what's|whats|how|many|do|i|have|got|to|still|due|on|plate|anything|everything|for|with|in|tasks?|todos|to-dos|list)$/

/** A request for tasks. Each of its words must be understood, so that a filter is never dropped in silence. */
const listing: Phrase = (request) => {
  let rest = ` ${request.replace(/\?$/, "").replaceAll(/\s+/g, " ").trim()} `
  const isList = / (?:tasks?|todos|to-dos) /i.test(rest)
  let input: Record<string, unknown> = {}
  for (const [pattern, toInput] of FILTERS) {
    const match = pattern.exec(rest)
    const found = match && toInput((match.groups?.said ?? "").replace(/^["“](.+)["”]$/, "$1"))
    if (!found || Object.keys(found).some((key) => key in input) || ("search" in found && !isList)) continue
    input = { ...input, ...found }
    rest = `${rest.slice(0, match.index)} ${rest.slice(match.index + match[0].length)} `
  }
  const words = rest.toLowerCase().split(" ").filter(Boolean)
  if (words.some((word) => !FILLER.test(word)) || (!isList && Object.keys(input).length === 0)) return undefined
  for (const key of ["due", "order_by", "priority"]) if (key in input) input[key] = String(input[key]).toLowerCase()
  if (input.due === "today" && Object.keys(input).length === 1) return [call("list_tasks_due_today")]
  return [call("list_tasks", input)]
}

const OPEN_BY_DATE = { status: "open", order_by: "due_date" }
const looking: readonly Phrase[] = [
  phrase(
    "list_tasks",
    "(?:what(?:'s| is| should i (?:do|work on))?(?: my)?(?: the)? next(?: task)?|(?:my )?next task|what now)",
    () => OPEN_BY_DATE,
  ),
  phrase(
    "list_tasks",
    "when is (?<when>.+) due|is (?<done>.+) done|what(?:'s| is) the status of (?:the |my )?(?<status>.+)|show(?: me)?(?: the| my)? task (?<task>.+)",
    (group) => ({ search: group("when") || group("done") || group("status") || group("task") }),
  ),
  phrase(
    "list_tasks",
    "what(?:'s| is) (?:the |my )?most (?:important|urgent)(?: task| thing)?|which task is (?:the )?most (?:important|urgent)",
    () => ({ priority: "high" }),
  ),
  phrase("list_tasks", "(?:give me a summary of|summari[sz]e) (?:all )?(?:my |the )?tasks", () => ({
    order_by: "due_date",
  })),
  phrase("list_tasks", "what (?:do i have|do i have to do|is left|is left to do|is open)", () => ({ status: "open" })),
  phrase("list_tasks_due_today", "what do i have to do today"),
  (request) =>
    /^(?:give me an |show me an )?overview$|^(?:summari[sz]e|show me) everything$/i.test(request)
      ? [call("list_projects"), call("list_tasks", { order_by: "due_date" })]
      : undefined,
  (request) =>
    /^(?:(?:summari[sz]e|plan) my day|what does my day look like)$/i.test(request)
      ? [call("list_tasks_due_today"), call("list_tasks", { due: "overdue" })]
      : undefined,
  (request) =>
    /^(?:help me )?(?:plan|summari[sz]e) my week$/i.test(request)
      ? [call("list_tasks", { due: "this week" }), call("list_tasks", { due: "overdue" })]
      : undefined,
]

const TASK = "(?: the| my)?(?: task)?:? (?<task>.+?)(?: task)?"
const change = (source: string, changes: (group: (name: string) => string) => Arguments): Phrase =>
  phrase("update_task", source, (group) => ({ task_id: group("task"), ...changes(group) }))
const done = () => ({ status: "done" })
const level = (group: (name: string) => string) => ({ priority: levelOf(group("level")) })

const changing: readonly Phrase[] = [
  change(`(?:set|change|raise|lower)(?: the)? priority of${TASK} to (?<level>${LEVEL})`, level),
  change("(?!what |which )(?:the |my )?(?<task>.+?) is (?<level>urgent|important)", level),
  change(`(?:mark|set)${TASK} (?:as |to )?(?<state>${STATE})`, (group) => ({ status: stateOf(group("state")) })),
  change(`(?:complete|finish|tick off|check off)${TASK}`, done),
  change(`i(?:'ve| have)? (?:just )?(?:finished|completed|did)${TASK}`, done),
  change("(?!what |which )(?:the |my )?(?<task>.+?) is (?:done|finished|completed)", done),
  change(`(?:start|begin)(?: work(?:ing)? on)?${TASK}`, () => ({ status: "in_progress" })),
  change(`reopen${TASK}`, () => ({ status: "todo" })),
  change(`(?:make|mark|set)${TASK} (?:to |as )?(?<level>${LEVEL})`, level),
  change(`(?:set|change|move)(?: the)? (?:due date|deadline) of${TASK} to (?<due>.+)`, (group) => ({
    due_date: group("due"),
  })),
  change(`(?:postpone|reschedule|push|delay|snooze)${TASK} (?:to|until|till|for) (?<due>.+)`, (group) => ({
    due_date: group("due"),
  })),
  change(
    `(?:move|shift)(?! the (?:checkpoint|milestone))(?! (?:checkpoint|milestone))${TASK} (?:to|until) (?<due>${WHEN})`,
    (group) => ({
      due_date: group("due"),
    }),
  ),
  change(`(?:move|put)${TASK} (?:in|into|to)(?: the| my)? project (?<project>.+)`, (group) => ({
    project_id: group("project"),
  })),
  change(`(?:move|put)${TASK} (?:in|into|to)(?: the| my)? (?<project>.+) project`, (group) => ({
    project_id: group("project"),
  })),
  change(`(?:move|put)${TASK} (?:in|into|to) (?<state>${STATE})`, (group) => ({ status: stateOf(group("state")) })),
  change(`(?:move|put)${TASK} (?:in|into|to)(?: the| my)? (?<project>.+)`, (group) => ({
    project_id: group("project"),
  })),
  change(`(?:assign|give|delegate)${TASK} to (?<who>.+)`, (group) => ({
    assignees: group("who")
      .split(/,| and /)
      .map((name) => capital(name.trim()))
      .filter(Boolean),
  })),
]

const COMMENTED = "(?: the| my)?(?: task)?"
const comments: readonly Phrase[] = [
  phrase(
    "list_task_comments",
    `(?:list|show|read)(?: me)?(?: all)?(?: the)? comments (?:on|of|for|about)${COMMENTED} (?<task>.+)`,
    (group) => ({ task_id: group("task") }),
  ),
  phrase(
    "add_task_comment",
    `(?:add a comment to|add comment to|comment on)${COMMENTED} (?<task>[^:]+): ?(?<content>.+)`,
    (group) => ({ task_id: group("task"), author: "me", content: group("content") }),
  ),
  phrase("delete_task_comment", "(?:delete|remove)(?: the)? comment (?<comment>.+)", (group) => ({
    comment_id: group("comment"),
  })),
]

/** After `listing`, which knows the days and states that may follow `in` or `for`. */
const ofProject: readonly Phrase[] = [
  phrase(
    "list_tasks",
    "(?:(?:what|which|show|list)(?: me)?(?: all)?(?: of)?(?: the| my)? )?tasks (?:are |do i have |there are )?(?:in|under|of) (?:the |my )?(?<project>.+)",
    (group) => ({ project_id: group("project") }),
  ),
]

/** Plain requests about tasks and their comments. */
export const taskPhrases: readonly Phrase[] = [
  ...[...looking, listing, ...ofProject],
  ...[...comments, ...creating, ...changing],
]
