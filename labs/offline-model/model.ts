import type {
  HistoryMessage,
  Model,
  ModelRequest,
  ReplyPart,
  ReplySettings,
  ToolDeclaration,
} from "../../core/index.ts"
import { analystPhrases } from "./analyst.ts"
import {
  LIST_PROJECTS,
  mayNameProject,
  type Meaning,
  repeatSuperseded,
  resolveIt,
  resolveName,
  resolveProject,
  resultsIn,
} from "./changes.ts"
import { filePhrases } from "./files.ts"
import { type Arguments, call, type Phrase, type PlannedCall } from "./phrase.ts"
import { CANNOT_READ_FILES, greeting, notUnderstood, type OfferedTool, retold, topicOf } from "./replies.ts"
import { researchPhrases } from "./research.ts"
import { lacksTitle, soundsLikeTask } from "./tasks.ts"
import { workspacePhrases } from "./workspace.ts"

const NOTHING = { inputTokens: 0, outputTokens: 0 }
/** Longer messages are no plain requests, and no pattern may search a book. */
const MAX_REQUEST = 1000
const CHUNKS = 4
/** The tool that shows the rest of an agent's tools. */
const MORE_TOOLS = "more_tools"
/** `@stock.csv` names an attached file, not a path. */
const NAMES_FILE = /(?:^|\s)@["\S]/

const PHRASES: readonly Phrase[] = [...workspacePhrases, ...analystPhrases, ...filePhrases, ...researchPhrases]

/** Requests that no tool serves, and what to do instead. */
const REPLIES: readonly (readonly [request: RegExp | ((request: string) => boolean), tool: string, reply: string])[] = [
  [
    /^what (?:did|have) (?:i|you) (?:do|done|change|changed)\b.{0,40}$/i,
    "create_task",
    "I cannot list changes, but you can see them on the page under History.",
  ],
  [
    /^(?:undo|revert)\b.{0,40}$|^take (?:that|it) back$/i,
    "create_task",
    "I cannot undo a change, but you can: on the page under History, in the terminal with /undo, or over HTTP with POST /api/agent/audit/{id}/undo.",
  ],
  [
    /^(?:delete|remove|clear|mark|complete|archive|move|postpone) (?:all|everything|every|my (?:whole|tasks|notes|projects))\b/i,
    "create_task",
    "I change one thing at a time. List what you mean, for example with `list my tasks`, and then name it.",
  ],
  [lacksTitle, "create_task", "What shall the task be called? Say it like: add a task Buy milk."],
  [
    /^(?:add|create|new|make)(?: me)? (?:\d+|two|three|four|five|some|several|these|the following)(?: new)? tasks\b/i,
    "create_task",
    "I create one task at a time. Say it like: add a task Buy milk.",
  ],
  [
    /^(?:add|create|new|make|write|take)(?: me)?(?: an?)?(?: new)? note(?: (?:called|named|titled|about|on) [^:]+)?$/i,
    "create_note",
    "What shall the note say? Say it like: create a note called Deployment: push on Friday.",
  ],
  [
    /^(?:add|create|make|start|new)\b.{0,20} project .*\b(?:and|with) .*\btasks?\b/i,
    "create_task",
    "Ask for the project first, and for its tasks when it is there.",
  ],
  [
    /^(?:add|create|remind) .*\b(?:every (?:day|week|month|year|\w+day)|daily|weekly|monthly)$/i,
    "create_task",
    "I cannot make tasks that repeat. Ask for one with a single date.",
  ],
]

/**
 * The model of a machine without a provider. It matches plain requests against a table of phrases, calls the tool, and
 * repeats its answer. To everything else it says what it is and what it understands. `offered` are the tools with the
 * example requests of their packs.
 */
export function offlineModel(offered: readonly OfferedTool[] = []): Model {
  return {
    name: "offline",
    provider: "offline",
    contextTokens: 1_000_000,
    price: { input: 0, output: 0 },
    decides: false,
    async *stream(request, signal) {
      const names = Object.keys(request.settings ?? {}) as (keyof ReplySettings)[]
      if (names.length > 0)
        yield { type: "left_out", settings: names.map((name) => ({ name, because: "it is a table of phrases" })) }
      for (const part of reply(request, offered)) {
        signal.throwIfAborted()
        yield part
      }
    },
  }
}

function reply(request: ModelRequest, offered: readonly OfferedTool[]): ReplyPart[] {
  const { history, toolChoice } = request
  const at = history.findLastIndex((turn) => turn.role === "user" && !turn.isNote)
  const turn = history[at]
  const text = turn?.role === "user" ? turn.text : ""
  const said = text.length > MAX_REQUEST ? "" : plainRequest(text)
  const has = (name: string) => request.tools.some((tool) => tool.name === name)
  const hasMore = toolChoice === "auto" && has(MORE_TOOLS)
  const before = history.slice(0, Math.max(at, 0))
  const meaning = understand(said, request, hasMore)

  const results = resultsIn(history.slice(at + 1)).filter(({ name }) => name !== MORE_TOOLS)
  if (results.length > 0) {
    const planned = meaning.length === 1 ? meaning[0] : undefined
    const resolve = (each: PlannedCall) => resolveProject(each, results, said) ?? resolveName(each, results, said)
    const next = toolChoice === "auto" && planned ? resolve(planned) : undefined
    return next && canMake(next, has)
      ? toParts(next)
      : inWords(retold(lastResults(history), text.slice(0, MAX_REQUEST)))
  }
  const files = turn?.role === "user" ? turn.files : undefined
  if (files && NAMES_FILE.test(said)) return inWords(CANNOT_READ_FILES)
  const topic = topicOf(text)
  if (topic === "thanks") return inWords(greeting(topic, [], history))
  const isMeant = (of: RegExp | ((request: string) => boolean)) => (typeof of === "function" ? of(said) : of.test(said))
  const fixed = REPLIES.find(([of, tool]) => isMeant(of) && (has(tool) || hasMore))
  if (fixed) return inWords(fixed[2])
  const again = repeatSuperseded(said, before)
  if (again && toolChoice === "auto" && canMake(again, has)) return toParts(again)

  const calls = topic ? [] : meaning
  if (hasMore && (calls.length === 0 || !calls.every(({ name }) => has(name)))) return calling([call(MORE_TOOLS)])
  const usable = offered.filter(({ name, examples }) => has(name) && examples.length > 0)
  if (topic) return inWords(greeting(topic, usable, history))
  if (calls.length === 0) return inWords(files ? CANNOT_READ_FILES : lost(said, usable, history))
  if (toolChoice === "none") {
    const names = calls.map(({ name }) => name).join(" and ")
    return inWords(`I would call ${names} for that, but no more tools may be used now.`)
  }
  const [planned] = calls
  if (calls.length === 1 && planned && mayNameProject(planned, said)) {
    if (has(LIST_PROJECTS.name)) return calling([LIST_PROJECTS])
    if (hasMore) return calling([call(MORE_TOOLS)])
  }
  const meant = calls.length === 1 && planned ? resolveIt(planned, before, said) : undefined
  return toParts(meant ?? { calls })
}

function lost(said: string, usable: readonly OfferedTool[], history: ModelRequest["history"]): string {
  const isTask = soundsLikeTask(said) && usable.some(({ name }) => name === "create_task")
  if (!isTask) return notUnderstood(usable, history, said)
  return `That sounds like something to do. I add it if you say so.\n\n- \`add a task ${said.replaceAll("`", "'")}\``
}

const canMake = (meaning: Meaning, has: (name: string) => boolean) =>
  "says" in meaning || meaning.calls.every(({ name }) => has(name))

const toParts = (meaning: Meaning) => ("says" in meaning ? inWords(meaning.says) : calling(meaning.calls))

const calling = (calls: readonly PlannedCall[]): ReplyPart[] => [
  ...calls.map(({ name, input }): ReplyPart => ({ type: "call", name, input: JSON.stringify(input) })),
  { type: "finish", finish: "calls", usage: NOTHING },
]

function inWords(text: string): ReplyPart[] {
  const size = Math.max(1, Math.ceil(text.length / CHUNKS))
  // With `u`, no surrogate pair is split.
  const chunks = text.match(new RegExp(`[^]{1,${size}}`, "gu")) ?? []
  const deltas = chunks.map((chunk): ReplyPart => ({ type: "text", text: chunk }))
  return [...deltas, { type: "finish", finish: "stop", usage: NOTHING }]
}

function lastResults(history: ModelRequest["history"]) {
  const isReal = (turn: HistoryMessage) => turn.role === "tool" && turn.results.some(({ name }) => name !== MORE_TOOLS)
  const last = history.findLast(isReal)
  return last?.role === "tool" ? last : { role: "tool" as const, results: [] }
}

/** A question mark ends a question. After anything else it may belong to a title. */
const QUESTION = /^(?:(?:hi|hey|hello)[,!]? )?(?:can|could|would|will|what|which|who|when|where|how|do|is|are|any)\b/i
const withoutMark = (text: string) => (QUESTION.test(text) ? text.replace(/(?<![\s?])[\s?]+$/, "") : text)

/** The request without courtesy around it. */
const plainRequest = (text: string) =>
  withoutMark(text.trim())
    .replace(
      /^(?:(?:please|pls|hi|hey|hello|ok|okay|can you|could you|would you|will you|i want to|i'd like to|let's|just|now)[,!]? ){1,4}/i,
      "",
    )
    .replace(/,? (?:please|pls|thanks|thank you|for me)(?=[.!?]*$)/i, "")

/** One request, or two with an `and` between them if each is understood and the whole is not. */
function understand(said: string, request: ModelRequest, hasMore: boolean): readonly PlannedCall[] {
  const whole = understandOne(said, request, hasMore)
  if (whole) return whole
  const parts = said.split(/,? and (?:then )?/i)
  const [first, second] = parts.length === 2 ? parts.map((part) => understandOne(part, request, hasMore)) : []
  return first && second ? [...first, ...second] : []
}

function understandOne(said: string, { tools }: ModelRequest, hasMore: boolean): readonly PlannedCall[] | undefined {
  if (said === "") return undefined
  const has = (name: string) => tools.some((tool) => tool.name === name)
  // People end a request with a full stop or without it, and mean the same.
  const forms = new Set([said.replace(/(?<![.!])[.!]+$/, ""), said.replace(/(?<![.!?])[.!?]+$/, ""), said])
  for (const form of forms) {
    for (const phrase of PHRASES) {
      const calls = phrase(form)
      // A tool that is not shown may serve this request better than those that are.
      if (calls && (hasMore || calls.every(({ name }) => has(name)))) return calls
    }
  }
  // A name says which tool is meant only if all of them are shown.
  return hasMore ? undefined : callByName(said, tools)
}

/** `greet Ada`, `lend Dune to Grace`: any tool by its name or its verb, with its arguments in order or by name. */
function callByName(said: string, tools: readonly ToolDeclaration[]): readonly PlannedCall[] | undefined {
  const lower = `${said.replaceAll("_", " ").toLowerCase()} `
  const [verb = ""] = lower.split(" ", 1)
  const named = tools.find(({ name }) => lower.startsWith(`${name.replaceAll("_", " ")} `))
  const ofVerb = tools.filter(({ name }) => name.split("_", 1)[0] === verb)
  const tool = named ?? (ofVerb.length === 1 ? ofVerb[0] : undefined)
  if (!tool || tool.name === MORE_TOOLS) return undefined
  const input = readArguments(
    said.slice(named ? named.name.length : verb.length).trim(),
    tool.inputSchema as ObjectSchema,
  )
  return input && [call(tool.name, input)]
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, { readonly type?: unknown }>>
  readonly required?: readonly string[]
}

/** `Dune to Grace` for the properties `title` and `to`; undefined if one that is required is missing. */
function readArguments(text: string, { properties = {}, required = [] }: ObjectSchema): Arguments | undefined {
  const names = Object.keys(properties)
  const byName = new RegExp(`(?:^|,? )(${names.map((name) => RegExp.escape(name)).join("|")}):? `, "i")
  const [first = "", ...pairs] = names.length > 0 ? text.split(byName) : [text]
  const said = new Map<string, string>()
  const opening = required[0] ?? names[0]
  if (first !== "") {
    if (opening === undefined) return undefined
    said.set(opening, first)
  }
  for (let at = 0; at < pairs.length; at += 2) said.set((pairs[at] ?? "").toLowerCase(), pairs[at + 1] ?? "")
  if (required.some((name) => !said.has(name))) return undefined
  const values = [...said].map(([name, value]) => {
    const type = properties[name]?.type
    if (type === "string") return [name, value] as const
    const isNumber = (type === "number" || type === "integer") && Number.isFinite(Number(value))
    return isNumber ? ([name, Number(value)] as const) : undefined
  })
  return values.every((value) => value !== undefined) ? Object.fromEntries(values) : undefined
}
