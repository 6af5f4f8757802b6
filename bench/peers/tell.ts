import type { ServerResponse } from "node:http"
import type { OfferedTool, Wire } from "./read-request.ts"

const CALL = "call_of_the_story"

/** Sends a text reply, streamed or whole as the client requests. */
export function tellText(response: ServerResponse, wire: Wire, body: { stream?: unknown }, text: string): void {
  if (body.stream !== true) return whole(response, wire, text)
  const stream = open(response)
  if (wire === "completions") {
    stream(chunk({ role: "assistant", content: text }), chunk({}, "stop"), "[DONE]")
  } else if (wire === "messages") {
    stream(...messageStart(), ...textBlock(text), { type: "content_block_stop", index: 0 }, ...messageEnd("end_turn"))
  } else {
    const item = { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text }] }
    stream(...responseStart(), { type: "response.output_item.done", output_index: 0, item }, responseEnd([item]))
  }
  response.end()
}

/** Sends a call of the client's tool for commands. */
export function tellCall(
  response: ServerResponse,
  wire: Wire,
  body: { stream?: unknown },
  { tools, command }: { readonly tools: readonly OfferedTool[]; readonly command: string },
): void {
  const tool = tools.find(({ name }) =>
    /^(bash|run_shell_command|exec_command|shell|shell_command|run_command)$/i.test(name),
  )
  if (!tool) return tellText(response, wire, body, "There is no tool for commands.")
  const input = JSON.stringify(inputOf(tool, command))
  const stream = open(response)
  if (wire === "completions") {
    const call = { index: 0, id: CALL, type: "function", function: { name: tool.name, arguments: input } }
    stream(chunk({ role: "assistant", tool_calls: [call] }), chunk({}, "tool_calls"), "[DONE]")
  } else if (wire === "messages") {
    const block = { type: "tool_use", id: CALL, name: tool.name, input: {} }
    stream(
      ...messageStart(),
      { type: "content_block_start", index: 0, content_block: block },
      { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: input } },
      { type: "content_block_stop", index: 0 },
      ...messageEnd("tool_use"),
    )
  } else {
    const item = { type: "function_call", id: "fc_1", call_id: CALL, name: tool.name, arguments: input }
    stream(...responseStart(), { type: "response.output_item.done", output_index: 0, item }, responseEnd([item]))
  }
  response.end()
}

/** Sends the start of a reply, and never ends it. */
export function tellHalf(response: ServerResponse, wire: Wire, text: string): void {
  const stream = open(response)
  if (wire === "completions") stream(chunk({ role: "assistant", content: text }))
  else if (wire === "messages") stream(...messageStart(), ...textBlock(text))
  else {
    const item = { type: "message", id: "msg_1", role: "assistant", content: [] }
    stream(...responseStart(), { type: "response.output_item.added", output_index: 0, item })
    stream({ type: "response.output_text.delta", item_id: "msg_1", output_index: 0, content_index: 0, delta: text })
  }
}

/** The tool's other required arguments, with the simplest value of each type. */
function inputOf({ schema }: OfferedTool, command: string): Record<string, unknown> {
  const properties = schema.properties ?? {}
  const name = "cmd" in properties ? "cmd" : "command"
  const input: Record<string, unknown> = {
    [name]: properties[name]?.type === "array" ? ["bash", "-c", command] : command,
  }
  for (const key of schema.required ?? []) {
    input[key] ??= properties[key]?.type === "boolean" ? false : properties[key]?.type === "number" ? 60_000 : "a step"
  }
  return input
}

type Sent = string | ({ readonly type?: string } & Readonly<Record<string, unknown>>)

function open(response: ServerResponse): (...frames: Sent[]) => void {
  response.writeHead(200, { "content-type": "text/event-stream" })
  return (...frames) => {
    for (const frame of frames) {
      if (typeof frame !== "string" && frame.type) response.write(`event: ${frame.type}\n`)
      response.write(`data: ${typeof frame === "string" ? frame : JSON.stringify(frame)}\n\n`)
    }
  }
}

function whole(response: ServerResponse, wire: Wire, text: string): void {
  const bodies = {
    completions: {
      ...head,
      object: "chat.completion",
      choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: text } }],
      usage,
    },
    messages: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [{ type: "text", text }],
      stop_reason: "end_turn",
      usage: tokens,
    },
    responses: {
      id: "resp_1",
      object: "response",
      status: "completed",
      output: [{ type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text }] }],
      usage: tokens,
    },
  }
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(bodies[wire]))
}

const head = { id: "chat_1", created: 1, model: "m" }
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
const tokens = { input_tokens: 10, output_tokens: 5, total_tokens: 15 }

const chunk = (delta: object, finish: string | null = null): Sent => ({
  ...head,
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...(finish ? { usage } : {}),
})

const messageStart = (): Sent[] => [
  {
    type: "message_start",
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [],
      stop_reason: null,
      usage: tokens,
    },
  },
]
const textBlock = (text: string): Sent[] => [
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
]
const messageEnd = (reason: string): Sent[] => [
  { type: "message_delta", delta: { stop_reason: reason }, usage: tokens },
  { type: "message_stop" },
]
const responseStart = (): Sent[] => [{ type: "response.created", response: { id: "resp_1" } }]
const responseEnd = (output: object[]): Sent => ({
  type: "response.completed",
  response: { id: "resp_1", object: "response", status: "completed", output, usage: tokens },
})
