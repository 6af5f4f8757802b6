import type { NewEvent } from "../protocol/events.ts"
import { mendText, toStorableJson } from "../protocol/text.ts"
import { toolEnd } from "./accept.ts"
import type { Call } from "./conversation.ts"
import type { Work } from "./record.ts"
import { parse } from "./schema.ts"
import type { Answer, CallContext, Tool } from "./tool.ts"

const MAX_OUTPUT = 50_000
const MAX_DATA = 1_000_000
const MAX_ERROR = 2_000

export const TOOL_SECONDS = 30

type ToolEnd = Extract<NewEvent, { type: "tool_end" }>

/** A call's tool and its arguments as the tool's schema reads them, or the result that tells the model what is wrong. */
export async function checkCall(work: Work, call: Call): Promise<{ tool: Tool; input: unknown } | { end: ToolEnd }> {
  const { agent, ports } = work
  const error = (text: string) => ({ end: toolEnd(call, { status: "error", text, now: ports.clock.now() }) })
  const tool = agent.tools.find(call.name)
  if (!tool) return error(`There is no tool "${call.name}". The tools are: ${agent.tools.names.join(", ") || "none"}.`)
  if (call.invalidInput !== undefined) {
    return error(`The arguments of ${call.name} were not a JSON object: ${call.invalidInput.slice(0, 200)} Send an object.`)
  }
  const parsed = await parse(tool.input, call.input)
  if ("problem" in parsed) return error(`The arguments of ${call.name} do not fit: ${parsed.problem}. Mend them and call again.`)
  return { tool, input: parsed.value }
}

export function contextFor({ conversation, ports }: Work, call: Call, signal: () => AbortSignal): CallContext {
  return {
    user: conversation.user,
    conversation: conversation.id,
    callId: call.id,
    get signal() {
      return signal()
    },
    now: ports.clock.now(),
    state: conversation.state,
    model: () => ports.models.get(conversation.model),
  }
}

/** The result a tool's own answer becomes, bounded and fit to be stored. */
export function answered(call: Call, tool: Tool, { answer, now }: { answer: Answer; now: number }): ToolEnd {
  if (typeof answer?.text !== "string" || (answer.status !== "ok" && answer.status !== "error")) {
    return toolEnd(call, { status: "error", text: `${tool.name} gave no answer; this is a defect of the tool.`, now })
  }
  return {
    ...toolEnd(call, { status: answer.status, text: bounded(answer.text, tool), now }),
    ...(answer.data === undefined ? {} : { data: boundedData(answer.data) }),
    ...(answer.state === undefined ? {} : { state: JSON.parse(toStorableJson(answer.state)) as Record<string, unknown> }),
  }
}

/** The result a throw becomes: the model learns what happened, the run goes on. */
export function threw(call: Call, error: unknown, now: number): ToolEnd {
  const message = error instanceof Error ? error.message : String(error)
  return toolEnd(call, { status: "error", text: `${call.name} failed: ${mendText(message).slice(0, MAX_ERROR)}`, now })
}

export function bounded(text: string, tool: Tool): string {
  const limit = tool.maxOutput ?? MAX_OUTPUT
  if (text.length <= limit) return mendText(text)
  const notice = `\n[Cut: the first ${limit} of ${text.length} characters. Ask for less, or for a part.]`
  return mendText(text.slice(0, limit)) + notice
}

function boundedData(data: unknown): unknown {
  const json = toStorableJson(data)
  return json.length <= MAX_DATA ? JSON.parse(json) : { truncated: true, characters: json.length }
}
