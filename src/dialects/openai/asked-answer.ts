import type { ReplySettings } from "../../protocol/conversation/reply-settings.ts"
import type { ClientTool } from "../../protocol/conversation/client-tools.ts"
import { type ChatCompletionRequest, JsonSchemaFormat, type OpenAiContent } from "../../protocol/dialects/openai.ts"
import type { JsonObject } from "../../protocol/schema.ts"
import { type BroughtOutput, readFunctions } from "./functions.ts"
import { problem } from "./problem.ts"

/** What a request asks for, in our words. */
export interface AskedAnswer {
  /** What the person says now; undefined where only results are brought. */
  readonly words: string | undefined
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
): Pick<AskedAnswer, "words" | "outputs" | "instructions" | "before"> {
  const last = all.at(-1)
  const at = `${field}.${all.length - 1}`
  if (last?.role !== "user" && last?.role !== "tool")
    throw problem(`${at}: the last message is what is answered, and has the role user or tool`)
  const replied = all.findLastIndex(({ role }) => role === "assistant")
  const outputs = all.flatMap(({ role, content, tool_call_id: id }, index) =>
    role === "tool" && index > replied ? [{ id: String(id), text: textOf(content, `${field}.${index}`) }] : [],
  )
  const words = last.role === "user" ? textOf(last.content, at) : undefined
  const before = all.slice(0, words === undefined ? undefined : -1).map((spoken, index) => ({
    ...{ role: spoken.role, text: lineOf(spoken, `${field}.${index}`) },
  }))
  const isRule = ({ role }: { role: string }) => role === "system" || role === "developer"
  const lines = before.filter((each) => !isRule(each)).map(({ role, text }) => `${role}: ${text}`)
  return {
    words,
    outputs,
    instructions: before.filter(isRule).map(({ text }) => text),
    before: { field, lines, isNew },
  }
}

/** What was said, and which functions were called with it. */
function lineOf({ content, tool_calls: calls }: Spoken, field: string): string {
  const called = (Array.isArray(calls) ? calls : []).map((call: unknown) => {
    const { name, arguments: given } = (call as { function?: { name?: unknown; arguments?: unknown } }).function ?? {}
    return `[called ${String(name)}(${String(given)})]`
  })
  return [textOf(content, field), ...called].filter((part) => part !== "").join(" ")
}

const TEXT_PARTS = new Set(["text", "input_text", "output_text"])

function textOf(content: Spoken["content"], field: string): string {
  if (typeof content === "string") return content
  const parts = (content ?? []).map(({ type, text }, index) => {
    if (TEXT_PARTS.has(type) && text !== undefined) return text
    throw problem(`${field}.content.${index}: "${type}" is not taken; upload files with POST /api/files`)
  })
  return parts.join("\n")
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
  ...{ logprobs: { why: "they are not told" }, top_logprobs: { why: "they are not told", nothing: ["0"] } },
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
