import { z } from "zod"
import { failure } from "../../protocol/errors.ts"
import { isId, type RunId } from "../../protocol/ids.ts"
import { OpenAiContent } from "../../protocol/dialects/openai.ts"
import type { ResponseRequest } from "../../protocol/dialects/openai-responses.ts"
import {
  type AskedAnswer,
  passedOver,
  readFormat,
  readSpoken,
  refuseFields,
  saidSettings,
  type Spoken,
} from "./asked-answer.ts"
import { readFunctions } from "./functions.ts"
import { problem } from "./problem.ts"
import { lazily } from "../../protocol/lazily.ts"

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
  "all that is said is kept in a conversation until you delete it (DELETE /api/conversations/{id}); leave it out, or say true"

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

const FunctionOutput = lazily(() => z.looseObject({ call_id: z.string().max(200), output: OpenAiContent }))

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
