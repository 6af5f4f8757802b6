import type { ReplySettings } from "../../core/protocol/conversation/reply-settings.ts"
import type { ClientTool } from "../../core/protocol/conversation/tool-calls.ts"
import { type ChatCompletionRequest, JsonSchemaFormat, OpenAiContent } from "../../core/protocol/dialects/openai.ts"
import type { JsonObject } from "../../core/protocol/schema.ts"
import { type ContentFile, readContent, type BroughtOutput, readFunctions, problem } from "./content.ts"
import { z } from "zod"
import { failure } from "../../core/protocol/errors.ts"
import { isId, type RunId, newId } from "../../core/protocol/ids.ts"
import type { ResponseRequest } from "../../core/protocol/dialects/openai-responses.ts"
import type { Context } from "hono"
import {
  type ClientResult,
  type MessageInput,
  toClientContext,
  spokenBy,
  userOf,
  type Env,
} from "../../core/adapter.ts"
import { CLIENT_HISTORY, type ClientContext, MAX_FILES } from "../../core/protocol/conversation/message.ts"

/** What a request asks for, in our words. */
export interface AskedAnswer {
  /** What the person says now; undefined where only results are brought. */
  readonly words: string | undefined
  /** Images and documents that come with the words. */
  readonly files: readonly ContentFile[]
  /** What functions of the caller have answered. */
  readonly outputs: readonly BroughtOutput[]
  /** The functions that it has. */
  readonly functions: readonly ClientTool[]
  /** Rules of the program. Like what is before the words, they are told to the model as words from outside. */
  readonly instructions: readonly string[]
  readonly before: SaidBefore
  readonly settings: ReplySettings
  readonly schema?: JsonObject
  /** Fields that were sent and passed over. */
  readonly ignored: readonly string[]
}

/** What stands before the words, a line for each, never taken for something that was said here. */
export interface SaidBefore {
  /** The field that it stands in. */
  readonly field: string
  readonly lines: readonly string[]
  /** Images and documents of what was said before, the oldest first. */
  readonly files: readonly ContentFile[]
  /** A conversation that goes on does not know it: it is no memory of what was said there. */
  readonly isNew: boolean
}

export interface Spoken {
  readonly role: string
  readonly content?: OpenAiContent | null | undefined
  readonly [more: string]: unknown
}

export function readChat(body: ChatCompletionRequest): AskedAnswer {
  refuseFields(body)
  const { temperature, stop, reasoning_effort: effort, parallel_tool_calls: parallelCalls } = body
  const maxOutputTokens = body.max_completion_tokens ?? body.max_tokens
  const format = readFormat(body.response_format, body.response_format?.json_schema, "response_format.json_schema")
  return {
    ...readSpoken(body.messages, "messages"),
    functions: readFunctions(body.tools, body.tool_choice),
    settings: saidSettings({ temperature, stop, effort, parallelCalls, maxOutputTokens }),
    ...format,
    ignored: passedOver(body),
  }
}

/**
 * The last of what was said are the words; everything before them comes along. Behind the last reply, what functions of the
 * caller have answered is told as that; where nothing is said behind it, it is all there is.
 */
export function readSpoken(
  all: readonly Spoken[],
  field: string,
  { isNew = false } = {},
): Pick<AskedAnswer, "words" | "files" | "outputs" | "instructions" | "before"> {
  const last = all.at(-1)
  const at = `${field}.${all.length - 1}`
  if (last?.role !== "user" && last?.role !== "tool")
    throw problem(`${at}: the last message is what is answered, and has the role user or tool`)
  const replied = all.findLastIndex(({ role }) => role === "assistant")
  const outputs = all.flatMap(({ role, content, tool_call_id: id }, index) =>
    role === "tool" && index > replied
      ? [{ id: String(id), text: readContent({ role, content }, `${field}.${index}`).text }]
      : [],
  )
  const said = last.role === "user" ? readContent(last, at) : undefined
  const before = all
    .slice(0, said ? -1 : undefined)
    .map((spoken, index) => ({ role: spoken.role, ...readLine(spoken, `${field}.${index}`) }))
  const isRule = ({ role }: { role: string }) => role === "system" || role === "developer"
  const lines = before.filter((each) => !isRule(each)).map(({ role, text }) => `${role}: ${text}`)
  return {
    words: said?.text,
    files: said?.files ?? [],
    outputs,
    instructions: before.filter(isRule).map(({ text }) => text),
    before: { field, lines, files: before.flatMap(({ files }) => files), isNew },
  }
}

/** What was said, and which functions were called with it. */
function readLine(spoken: Spoken, field: string): { text: string; files: readonly ContentFile[] } {
  const calls = spoken.tool_calls
  const called = (Array.isArray(calls) ? calls : []).map((call: unknown) => {
    const { name, arguments: given } = (call as { function?: { name?: unknown; arguments?: unknown } }).function ?? {}
    return `[called ${String(name)}(${String(given)})]`
  })
  const { text, files } = readContent(spoken, field)
  const sent = files.map(({ kind }) => `[sent ${kind}]`)
  return { text: [text, ...sent, ...called].filter((part) => part !== "").join(" "), files }
}

/** The schema that an answer has to fit; a bare `json_object` is any object. */
export function readFormat(
  format: { readonly type: string } | null | undefined,
  described: unknown,
  field: string,
): { schema?: JsonObject } {
  if (!format || format.type === "text") return {}
  if (format.type === "json_object") return { schema: { type: "object" } }
  const { data } = JsonSchemaFormat.safeParse(described)
  if (!data) throw problem(`${field}: a JSON schema is missing`)
  return { schema: data.schema }
}

const OLD_FUNCTIONS = "it is the older way to say tools; send these"

const NONE = ["null", "[]", "false"]

/** What each of these asks for is not done, so that an answer without it would not be what was asked for. */
const REFUSED: Readonly<Record<string, { readonly why: string; readonly nothing?: readonly string[] }>> = {
  functions: { why: OLD_FUNCTIONS },
  function_call: { why: OLD_FUNCTIONS, nothing: ['"none"', '"auto"'] },
  n: { why: "there is one answer", nothing: ["1"] },
  ...{ logprobs: { why: "they are not available" }, top_logprobs: { why: "they are not available", nothing: ["0"] } },
  ...{ audio: { why: "answers are text" }, modalities: { why: "answers are text", nothing: ['["text"]'] } },
  ...{ prediction: { why: "it is not taken" }, web_search_options: { why: "ask the agent pawl/research" } },
  background: { why: "an answer is waited for, or streamed" },
  prompt: { why: "there are no stored prompts; say what is to be done" },
}

/** Refuses each of them, unless its value asks for nothing. */
export function refuseFields(body: Readonly<Record<string, unknown>>): void {
  for (const [name, { why, nothing = [] }] of Object.entries(REFUSED)) {
    const value = body[name]
    if (value === undefined || [...NONE, ...nothing].includes(JSON.stringify(value))) continue
    throw problem(`${name}: ${why}`)
  }
}

const PASSED_OVER = [
  ...["user", "metadata", "safety_identifier", "service_tier", "prompt_cache_key", "prompt_cache_retention"],
  ...["verbosity", "top_p", "seed", "logit_bias", "frequency_penalty", "presence_penalty", "store"],
  ...["include", "truncation", "max_tool_calls"],
]

export const passedOver = (body: object): string[] =>
  PASSED_OVER.filter((name) => Object.hasOwn(body, name) && body[name as keyof typeof body] !== null)

/** Those that say something. */
export const saidSettings = (settings: { readonly [Name in keyof ReplySettings]: ReplySettings[Name] | null }) =>
  Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== null && value !== undefined),
  ) as ReplySettings

/** What a request goes on with: a conversation by its id, or the one of a run, after that run. */
export interface GoesOn {
  readonly conversation?: string
  readonly after?: RunId
}

export function readResponse(body: ResponseRequest): AskedAnswer & GoesOn {
  refuseFields(body)
  // Whoever says so expects that nothing is kept, and everything is.
  if (body.store === false) throw problem(`store: ${KEPT}`)
  const { temperature, parallel_tool_calls: parallelCalls, max_output_tokens: maxOutputTokens } = body
  const format = body.text?.format
  return {
    // What an earlier response was given is not sent again, so that all of it is new to a conversation that goes on.
    ...readSpoken([...rulesOf(body), ...toSpoken(body.input)], "input", { isNew: true }),
    functions: readFunctions(body.tools, body.tool_choice),
    settings: saidSettings({ temperature, parallelCalls, maxOutputTokens, effort: body.reasoning?.effort }),
    ...readFormat(format, format, "text.format"),
    ignored: [...passedOver(body).filter((name) => name !== "store"), ...passedOverInside(body)],
    ...readGoesOn(body),
  }
}

const passedOverInside = ({ text, reasoning }: ResponseRequest): string[] => [
  ...(text?.verbosity ? ["text.verbosity"] : []),
  ...(reasoning?.summary ? ["reasoning.summary"] : []),
]

const KEPT =
  "messages are stored in a conversation until you delete it (DELETE /api/conversations/{id}); omit it, or set it to true"

const rulesOf = ({ instructions }: ResponseRequest): Spoken[] =>
  instructions ? [{ role: "developer", content: instructions }] : []

function toSpoken(input: ResponseRequest["input"]): Spoken[] {
  if (typeof input === "string") return [{ role: "user", content: input }]
  return input.map(({ type, role, content, ...item }, index) => {
    if (type === "function_call") {
      const call = { function: { name: item.name, arguments: item.arguments } }
      return { role: "assistant", content: "", tool_calls: [call] }
    }
    if (type === "function_call_output") {
      const { data } = FunctionOutput.safeParse(item)
      if (!data) throw problem(`input.${index}: call_id and output, as text, are missing`)
      return { role: "tool", content: data.output, tool_call_id: data.call_id }
    }
    if ((type && type !== "message") || !role) throw problem(`input.${index}: "${type ?? ""}" is not taken`)
    return { role, content }
  })
}

const FunctionOutput = z.looseObject({ call_id: z.string().max(200), output: OpenAiContent })

const RESPONSE = "resp_"
const RUN = "run_"

/** A response is a run under another name: so its id is known after a restart, to whoever the run belongs to. */
export const toResponseId = (run: RunId, part = 0): string =>
  RESPONSE + run.slice(RUN.length) + (part > 0 ? `_${part}` : "")

function readGoesOn({ conversation, previous_response_id: previous }: ResponseRequest): GoesOn {
  if (conversation && previous) throw problem("previous_response_id: send this or conversation, not both")
  if (conversation) return { conversation: typeof conversation === "string" ? conversation : conversation.id }
  return previous ? { after: readResponseId(previous).run } : {}
}

/** A response's run, and where it goes on there: one that waited for results of the caller's is several responses. */
export interface NamedResponse {
  readonly run: RunId
  /** The row of the result that it goes on with; 0 for the first of its run. */
  readonly part: number
}

/** Throws `not_found` for what names none. */
export function readResponseId(id: string): NamedResponse {
  const [, name = "", part = "0"] = /^resp_(\w+?)(?:_([1-9]\d{0,14}))?$/.exec(id) ?? []
  const run = RUN + name
  if (!isId("run", run)) throw failure("not_found")
  return { run, part: Number(part) }
}

/** Of a run that calls functions of its program: who declares some wants them called, and each reply that does counts. */
const MAX_ITERATIONS = 20

/** Characters that come along with the words, in all and for one thing. */
const ROOM = { all: 64_000, one: 48_000 }

interface SaidMessage {
  readonly message: MessageInput
  readonly files: readonly ContentFile[]
  /** Fields that were sent and passed over. */
  readonly ignored: readonly string[]
}

/**
 * The words of a request with what comes along. A program is no place where a person agrees: it asks about every write,
 * whatever the mode and the grants of its conversation are.
 */
export function toAskedMessage(
  c: Context<Env>,
  asked: AskedAnswer,
  { goesOn, results }: { readonly goesOn: boolean; readonly results: readonly ClientResult[] },
): SaidMessage {
  const { words = "", before, settings, schema, functions } = asked
  const isKnown = goesOn && !before.isNew
  // Of a chat that is sent again with each request the newest are shown; what a conversation knows is shown there.
  const room = Math.max(0, MAX_FILES - asked.files.length)
  const earlier = isKnown || room === 0 ? [] : before.files.slice(-room)
  const isLeftOut = !isKnown && earlier.length < before.files.length
  const remembersItself = isKnown && before.lines.length > 0
  const brought = toBrought(asked, goesOn)
  const message: MessageInput = {
    ...{ type: "message", id: newId("msg", userOf(c)), text: words, when: "reject" },
    ...spokenBy(c.get("caller")),
    asks: true,
    ...(Object.keys(settings).length > 0 ? { settings } : {}),
    ...(schema ? { schema } : {}),
    ...(functions.length > 0 ? { clientTools: functions, maxIterations: MAX_ITERATIONS } : {}),
    ...(results.length > 0 ? { results: { type: "client_results", results, by: userOf(c) } as const } : {}),
    ...(brought.length > 0 ? { brought } : {}),
  }
  const ignored = [
    ...(remembersItself ? [before.field] : []),
    ...(isLeftOut ? [`${before.field}.files`] : []),
    ...asked.ignored,
  ]
  return { message, files: [...earlier, ...asked.files], ignored }
}

/** Rules, and what is said for the first time, are told whole or refused; of what a client remembers the newest is told. */
function toBrought({ instructions, before }: AskedAnswer, goesOn: boolean): ClientContext[] {
  const whole: [name: string, lines: readonly string[]][] = [["instructions", instructions]]
  if (goesOn && before.isNew) whole.push([before.field, before.lines])
  let left = ROOM.all
  for (const [name, lines] of whole) {
    const length = lines.reduce((sum, line) => sum + line.length + 1, 0)
    if (length > Math.min(left, ROOM.one))
      throw failure("bad_request", { problem: tooLong(name, Math.min(left, ROOM.one)) })
    left -= length
  }
  const history = goesOn ? [] : toClientContext([[CLIENT_HISTORY, before.lines]], { all: left, one: ROOM.one })
  return [...history, ...toClientContext(whole, ROOM)]
}

const tooLong = (name: string, most: number): string =>
  `${name}: longer than the ${most} characters that fit with the last message.`
