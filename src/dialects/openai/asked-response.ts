import { failure } from "../../protocol/errors.ts"
import { isId, type RunId } from "../../protocol/ids.ts"
import type { ResponseRequest } from "../../protocol/openai-responses.ts"
import {
  type AskedAnswer,
  NO_TOOLS,
  passedOver,
  problem,
  readFormat,
  readSpoken,
  refuseFields,
  saidSettings,
  type Spoken,
} from "./asked-answer.ts"

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
  return input.map(({ type, role, content }, index) => {
    const isCall = type?.startsWith("function_call") || type?.startsWith("custom_tool_call")
    if (isCall) throw problem(`input.${index}: ${NO_TOOLS}`)
    if ((type && type !== "message") || !role) throw problem(`input.${index}: "${type ?? ""}" is not taken`)
    return { role, content }
  })
}

const RESPONSE = "resp_"
const RUN = "run_"

/** A response is a run under another name: so its id is known after a restart, to whoever the run belongs to. */
export const toResponseId = (run: RunId): string => RESPONSE + run.slice(RUN.length)

function readGoesOn({ conversation, previous_response_id: previous }: ResponseRequest): GoesOn {
  if (conversation && previous) throw problem("previous_response_id: send this or conversation, not both")
  if (conversation) return { conversation: typeof conversation === "string" ? conversation : conversation.id }
  if (!previous) return {}
  const run = RUN + previous.slice(RESPONSE.length)
  if (!previous.startsWith(RESPONSE) || !isId("run", run)) throw failure("not_found")
  return { after: run }
}
