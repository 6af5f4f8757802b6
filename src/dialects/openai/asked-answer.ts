import { CLIENT_HISTORY } from "../../protocol/conversation/brought.ts"
import type { ReplySettings } from "../../protocol/conversation/reply-settings.ts"
import { failure } from "../../protocol/errors.ts"
import { type ChatCompletionRequest, JsonSchemaFormat, type OpenAiContent } from "../../protocol/openai.ts"
import type { JsonObject } from "../../protocol/schema.ts"

/** What a request asks for, in our words. */
export interface AskedAnswer {
  /** What the person says now. */
  readonly words: string
  /** What the program sends along: it is told to the model as words from outside, never as something that was said here. */
  readonly context: readonly (readonly [name: string, value: unknown])[]
  readonly settings: ReplySettings
  readonly schema?: JsonObject
  /** Fields that were sent and passed over. */
  readonly ignored: readonly string[]
}

export interface Spoken {
  readonly role: string
  readonly content?: OpenAiContent | null | undefined
}

export function readChat(body: ChatCompletionRequest): AskedAnswer {
  refuseFields(body)
  const { temperature, stop, reasoning_effort: effort, parallel_tool_calls: parallelCalls } = body
  const maxOutputTokens = body.max_completion_tokens ?? body.max_tokens
  const format = readFormat(body.response_format, body.response_format?.json_schema, "response_format.json_schema")
  return {
    ...readSpoken(body.messages, "messages"),
    settings: saidSettings({ temperature, stop, effort, parallelCalls, maxOutputTokens }),
    ...format,
    ignored: passedOver(body),
  }
}

/** The last of what was said are the words; everything before them comes along. */
export function readSpoken(all: readonly Spoken[], field: string): Pick<AskedAnswer, "words" | "context"> {
  const last = all.at(-1)
  const at = `${field}.${all.length - 1}`
  if (last?.role !== "user") throw problem(`${at}: the last message is what is answered, and has the role user`)
  const words = textOf(last.content, at)
  const before = all.slice(0, -1).map(({ role, content }, index) => {
    if (role === "tool" || role === "function") throw problem(`${field}.${index}: ${NO_TOOLS}`)
    return { role, content: textOf(content, `${field}.${index}`) }
  })
  const isRule = ({ role }: Spoken) => role === "system" || role === "developer"
  const rules = before.filter(isRule).map(({ content }) => content)
  const history = before.filter((each) => !isRule(each))
  return {
    words,
    context: [...(rules.length > 0 ? [["instructions", rules] as const] : []), [CLIENT_HISTORY, history]],
  }
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

export const NO_TOOLS =
  "functions of the client are not called here. An agent has its own tools; to add some, see docs/packs.md"

/** What each of these asks for is not done, so that an answer without it would not be what was asked for. */
const REFUSED: Readonly<Record<string, string>> = {
  ...{ tools: NO_TOOLS, tool_choice: NO_TOOLS, functions: NO_TOOLS, function_call: NO_TOOLS },
  ...{ n: "there is one answer", logprobs: "they are not told", top_logprobs: "they are not told" },
  ...{ audio: "answers are text", modalities: "answers are text", prediction: "it is not taken" },
  ...{ web_search_options: "ask the agent pawl/research", background: "an answer is waited for, or streamed" },
  prompt: "there are no stored prompts; say what is to be done",
}

/** The values with which they ask for nothing. */
const NOTHING = new Set(["null", "[]", "false", "0", "1", '"none"', '"auto"', '["text"]'])

export function refuseFields(body: Readonly<Record<string, unknown>>): void {
  for (const [name, why] of Object.entries(REFUSED)) {
    const value = body[name]
    if (value === undefined || NOTHING.has(JSON.stringify(value))) continue
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

const problem = (text: string) => failure("bad_request", { problem: `${text}.` })
