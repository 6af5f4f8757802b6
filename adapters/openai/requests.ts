import {
  type ChatCompletionRequest,
  type ClientResult,
  type ClientTool,
  type Env,
  JsonSchemaFormat,
  type MessageInput,
  OpenAiContent,
  type ResponseRequest,
  senderFields,
  toClientContext,
  userOf,
} from "../../core/adapter.ts"
import {
  CLIENT_HISTORY,
  type ClientContext,
  failure,
  isId,
  type JsonObject,
  MAX_FILES,
  newId,
  type ReplySettings,
  type RunId,
} from "../../core/protocol/index.ts"
import { type ContentFile, readContent, type FunctionResult, readFunctions, problem } from "./content.ts"
import { z } from "zod"
import type { Context } from "hono"

/** A request in our terms. */
export interface AnswerRequest {
  /** The newest user message; undefined if the request only contains results. */
  readonly words: string | undefined
  /** Images and documents of that message. */
  readonly files: readonly ContentFile[]
  /** Results of the caller's functions. */
  readonly outputs: readonly FunctionResult[]
  /** The caller's functions. */
  readonly functions: readonly ClientTool[]
  /** The program's instructions. Like the history, they are sent to the model as untrusted context. */
  readonly instructions: readonly string[]
  readonly before: History
  readonly settings: ReplySettings
  readonly schema?: JsonObject
  /** Ignored fields. */
  readonly ignored: readonly string[]
}

/** The messages before the newest, one line each, as untrusted context. */
export interface History {
  /** Their field. */
  readonly field: string
  readonly lines: readonly string[]
  /** Their images and documents, oldest first. */
  readonly files: readonly ContentFile[]
  /** A continued conversation does not know them. */
  readonly isNew: boolean
}

interface ChatTurn {
  readonly role: string
  readonly content?: OpenAiContent | null | undefined
  readonly [more: string]: unknown
}

export function readChat(body: ChatCompletionRequest): AnswerRequest {
  refuseFields(body)
  const { temperature, stop, reasoning_effort: effort, parallel_tool_calls: parallelCalls } = body
  const maxOutputTokens = body.max_completion_tokens ?? body.max_tokens
  const format = readFormat(body.response_format, body.response_format?.json_schema, "response_format.json_schema")
  return {
    ...readTurns(body.messages, "messages"),
    functions: readFunctions(body.tools, body.tool_choice),
    settings: definedSettings({ temperature, stop, effort, parallelCalls, maxOutputTokens }),
    ...format,
    ignored: ignoredFields(body),
  }
}

/**
 * Splits messages: the last one is the message to send, everything before it is history. Tool messages after the last reply
 * are results of the caller's functions.
 */
function readTurns(
  all: readonly ChatTurn[],
  field: string,
  { isNew = false } = {},
): Pick<AnswerRequest, "words" | "files" | "outputs" | "instructions" | "before"> {
  const last = all.at(-1)
  const at = all.length > 0 ? `${field}.${all.length - 1}` : field
  if (last?.role !== "user" && last?.role !== "tool")
    throw problem(`${at}: the last message is what is answered, and has the role user or tool`)
  const replied = all.findLastIndex(({ role }) => role === "assistant")
  const outputs = all.flatMap(({ role, content, tool_call_id: id }, index) =>
    role === "tool" && index > replied
      ? [{ id: String(id), text: readContent({ role, content }, `${field}.${index}`).text }]
      : [],
  )
  const userContent = last.role === "user" ? readContent(last, at) : undefined
  const before = all
    .slice(0, userContent ? -1 : undefined)
    .map((turn, index) => ({ role: turn.role, ...readLine(turn, `${field}.${index}`) }))
  const isRule = ({ role }: { role: string }) => role === "system" || role === "developer"
  const lines = before.filter((each) => !isRule(each)).map(({ role, text }) => `${role}: ${text}`)
  return {
    words: userContent?.text,
    files: userContent?.files ?? [],
    outputs,
    instructions: before.filter(isRule).map(({ text }) => text),
    before: { field, lines, files: before.flatMap(({ files }) => files), isNew },
  }
}

/** A message as a line, with the functions that it called. */
function readLine(turn: ChatTurn, field: string): { text: string; files: readonly ContentFile[] } {
  const calls = turn.tool_calls
  const called = (Array.isArray(calls) ? calls : []).map((call: unknown) => {
    const { name, arguments: args } = (call as { function?: { name?: unknown; arguments?: unknown } }).function ?? {}
    return `[called ${String(name)}(${String(args)})]`
  })
  const { text, files } = readContent(turn, field)
  const sent = files.map(({ kind }) => `[sent ${kind}]`)
  return { text: [text, ...sent, ...called].filter((part) => part !== "").join(" "), files }
}

/** The schema that an answer must fit; a bare `json_object` is any object. */
function readFormat(
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

/** Features that are not supported: an answer without them would be wrong. */
const REFUSED: Readonly<Record<string, { readonly why: string; readonly nothing?: readonly string[] }>> = {
  functions: { why: OLD_FUNCTIONS },
  function_call: { why: OLD_FUNCTIONS, nothing: ['"none"', '"auto"'] },
  n: { why: "there is one answer", nothing: ["1"] },
  ...{ logprobs: { why: "they are not available" }, top_logprobs: { why: "they are not available", nothing: ["0"] } },
  ...{ audio: { why: "answers are text" }, modalities: { why: "answers are text", nothing: ['["text"]'] } },
  ...{ prediction: { why: "it is not taken" }, web_search_options: { why: "ask the agent pawl/research" } },
  prompt: { why: "there are no stored prompts; say what is to be done" },
}

/** Refuses these fields unless their value requests nothing. */
function refuseFields(body: Readonly<Record<string, unknown>>): void {
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

const ignoredFields = (body: object): string[] =>
  PASSED_OVER.filter((name) => Object.hasOwn(body, name) && body[name as keyof typeof body] !== null)

/** The settings with a value. */
const definedSettings = (settings: { readonly [Name in keyof ReplySettings]: ReplySettings[Name] | null }) =>
  Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== null && value !== undefined),
  ) as ReplySettings

/** The target of a request: a conversation, or the conversation of a run, after that run. */
interface Continuation {
  readonly conversation?: string
  readonly after?: RunId
}

export function readResponse(body: ResponseRequest): AnswerRequest & Continuation {
  refuseFields(body)
  // The caller expects that nothing is stored, but everything is.
  if (body.store === false) throw problem(`store: ${KEPT}`)
  const { temperature, parallel_tool_calls: parallelCalls, max_output_tokens: maxOutputTokens } = body
  const format = body.text?.format
  return {
    // A response's input is not sent again, so all of it is new to a continued conversation.
    ...readTurns([...rulesOf(body), ...toTurns(body.input)], "input", { isNew: true }),
    functions: readFunctions(body.tools, body.tool_choice),
    settings: definedSettings({ temperature, parallelCalls, maxOutputTokens, effort: body.reasoning?.effort }),
    ...readFormat(format, format, "text.format"),
    ignored: [...ignoredFields(body).filter((name) => name !== "store"), ...ignoredNestedFields(body)],
    ...readContinuation(body),
  }
}

const ignoredNestedFields = ({ text, reasoning }: ResponseRequest): string[] => [
  ...(text?.verbosity ? ["text.verbosity"] : []),
  ...(reasoning?.summary ? ["reasoning.summary"] : []),
]

const KEPT =
  "messages are stored in a conversation until you delete it (DELETE /api/conversations/{id}); omit it, or set it to true"

const rulesOf = ({ instructions }: ResponseRequest): ChatTurn[] =>
  instructions ? [{ role: "developer", content: instructions }] : []

function toTurns(input: ResponseRequest["input"]): ChatTurn[] {
  if (typeof input === "string") return [{ role: "user", content: input }]
  return input.flatMap(({ type, role, content, ...item }, index): ChatTurn | [] => {
    if (type === "compaction") return []
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

/** A response id is a run id with another prefix, so it survives restarts. */
export const toResponseId = (run: RunId, part = 0): string =>
  RESPONSE + run.slice(RUN.length) + (part > 0 ? `_${part}` : "")

function readContinuation({ input, conversation, previous_response_id: previous }: ResponseRequest): Continuation {
  if (conversation && previous) throw problem("previous_response_id: send this or conversation, not both")
  const [compaction, ...others] = typeof input === "string" ? [] : input.filter(({ type }) => type === "compaction")
  if (compaction) {
    if (conversation || previous || others.length > 0)
      throw problem("input: a compaction continues its conversation; send one, without conversation")
    return { conversation: String(compaction.encrypted_content).slice(0, 100) }
  }
  if (conversation) return { conversation: typeof conversation === "string" ? conversation : conversation.id }
  return previous ? { after: readResponseId(previous).run } : {}
}

/** A response's run and part: a run that waited for the caller's results consists of several responses. */
interface NamedResponse {
  readonly run: RunId
  /** The position of the result that it continues with; 0 for the first of its run. */
  readonly part: number
}

/** Throws `not_found` for an invalid id. */
export function readResponseId(id: string): NamedResponse {
  const [, name = "", part = "0"] = /^resp_(\w+?)(?:_([1-9]\d{0,14}))?$/.exec(id) ?? []
  const run = RUN + name
  if (!isId("run", run)) throw failure("not_found")
  return { run, part: Number(part) }
}

/** The limit of a run with the program's functions, where each reply that calls one counts. */
const MAX_ITERATIONS = 20

/** Most characters of client context, in total and per entry. */
const ROOM = { all: 64_000, one: 48_000 }

interface UserMessage {
  readonly message: MessageInput
  readonly files: readonly ContentFile[]
  /** Ignored fields. */
  readonly ignored: readonly string[]
}

/**
 * The message with its context. A program cannot approve: every write asks, whatever the mode and grants of the
 * conversation.
 */
export function toMessageInput(
  c: Context<Env>,
  request: AnswerRequest,
  { goesOn, results }: { readonly goesOn: boolean; readonly results: readonly ClientResult[] },
): UserMessage {
  const { words = "", before, settings, schema, functions } = request
  const isKnown = goesOn && !before.isNew
  // A chat resends its history, and its newest files are shown; a continued conversation has its own.
  const room = Math.max(0, MAX_FILES - request.files.length)
  const earlier = isKnown || room === 0 ? [] : before.files.slice(-room)
  const isLeftOut = !isKnown && earlier.length < before.files.length
  const remembersItself = isKnown && before.lines.length > 0
  const context = toContext(request, goesOn)
  const message: MessageInput = {
    ...{ type: "message", id: newId("msg", userOf(c)), text: words, when: "reject" },
    ...senderFields(c.get("caller")),
    asks: true,
    ...(Object.keys(settings).length > 0 ? { settings } : {}),
    ...(schema ? { schema } : {}),
    ...(functions.length > 0 ? { clientTools: functions, maxIterations: MAX_ITERATIONS } : {}),
    ...(results.length > 0 ? { results: { type: "client_results", results, by: userOf(c) } as const } : {}),
    ...(context.length > 0 ? { brought: context } : {}),
  }
  const ignored = [
    ...(remembersItself ? [before.field] : []),
    ...(isLeftOut ? [`${before.field}.files`] : []),
    ...request.ignored,
  ]
  return { message, files: [...earlier, ...request.files], ignored }
}

/** Instructions and new messages are included completely or refused; of the history the newest part is included. */
function toContext({ instructions, before }: AnswerRequest, goesOn: boolean): ClientContext[] {
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
