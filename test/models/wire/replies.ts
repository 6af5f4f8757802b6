import { converseEvent } from "../../../core/models/providers/stream/event-frames.fixture.ts"
import { sse } from "../../../core/models/providers/server.fixture.ts"
import { sealOf, thoughtOf } from "./refuse.ts"

/** The reply of a model, in any format. */
export interface ReplyContent {
  readonly model: string
  /** Numbers the thoughts, so that no two are the same. */
  readonly number: number
  readonly thinks: boolean
  readonly words: string
  /** Arguments as the model wrote them, JSON or not. */
  readonly calls: readonly (readonly [name: string, input: string])[]
  readonly finish: "stop" | "limit"
}

/** One reply as its provider streams it, in pieces. Only the last one says that it is over. */
export type Write = (said: ReplyContent) => (string | Buffer)[]

export const writeChat: Write = ({ model, thinks, words, calls, finish }) => {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    sse({
      ...{ id: "c1", object: "chat.completion.chunk", created: 1, model: "m" },
      choices: [{ index: 0, delta, finish_reason }],
    })
  return [
    ...(thinks ? [chunk({ reasoning_content: thoughtOf(model) })] : []),
    ...(words ? [chunk({ role: "assistant", content: words })] : []),
    ...calls.map(([name, input], index) =>
      chunk({ tool_calls: [{ index, id: `p${index}`, type: "function", function: { name, arguments: input } }] }),
    ),
    chunk({}, calls.length > 0 ? "tool_calls" : finish === "limit" ? "length" : "stop") + sse("[DONE]"),
  ]
}

export const writeResponses: Write = ({ model, number, thinks, words, calls, finish }) => {
  const events: object[] = [{ type: "response.created", response: { id: `resp_${number}`, created_at: 1, model: "m" } }]
  const item = (index: number, given: object, done: object = given) => {
    events.push({ type: "response.output_item.added", output_index: index, item: given })
    return () => events.push({ type: "response.output_item.done", output_index: index, item: { ...given, ...done } })
  }
  let at = 0
  if (thinks) {
    const id = `rs_${number}`
    const end = item(
      at++,
      { type: "reasoning", id, summary: [] },
      { summary: [{ type: "summary_text", text: thoughtOf(model) }], encrypted_content: sealOf(model, number) },
    )
    events.push({ type: "response.reasoning_summary_part.added", item_id: id, summary_index: 0 })
    events.push({
      ...{ type: "response.reasoning_summary_text.delta", item_id: id, summary_index: 0 },
      delta: thoughtOf(model),
    })
    end()
  }
  if (words) {
    const end = item(at++, { type: "message", id: `msg_${number}` })
    events.push({ type: "response.output_text.delta", item_id: `msg_${number}`, delta: words })
    end()
  }
  for (const [index, [name, input]] of calls.entries()) {
    const given = { type: "function_call", id: `fc_${number}_${index}`, call_id: `p${index}`, name }
    item(at++, { ...given, arguments: "" }, { arguments: input, status: "completed" })()
  }
  const isCut = finish === "limit" && calls.length === 0
  const usage = { input_tokens: 12, output_tokens: 5, total_tokens: 17 }
  const ended = isCut
    ? { type: "response.incomplete", response: { incomplete_details: { reason: "max_output_tokens" }, usage } }
    : { type: "response.completed", response: { usage } }
  return [...events, ended].map((event) => sse(event))
}

export const writeMessages: Write = ({ model, number, thinks, words, calls, finish }) => {
  const events: object[] = [
    { type: "message_start", message: { id: "m1", model: "m", usage: { input_tokens: 12, output_tokens: 1 } } },
  ]
  let index = 0
  const block = (content_block: object, ...deltas: object[]) => {
    events.push({ type: "content_block_start", index, content_block })
    for (const delta of deltas) events.push({ type: "content_block_delta", index, delta })
    events.push({ type: "content_block_stop", index: index++ })
  }
  if (thinks && number % 5 === 0) block({ type: "redacted_thinking", data: sealOf(model, number) })
  else if (thinks)
    block(
      { type: "thinking", thinking: "", signature: "" },
      { type: "thinking_delta", thinking: thoughtOf(model) },
      { type: "signature_delta", signature: sealOf(model, number) },
    )
  if (words) block({ type: "text", text: "" }, { type: "text_delta", text: words })
  for (const [n, [name, input]] of calls.entries())
    block({ type: "tool_use", id: `toolu_${n}`, name, input: {} }, { type: "input_json_delta", partial_json: input })
  const stop_reason = calls.length > 0 ? "tool_use" : finish === "limit" ? "max_tokens" : "end_turn"
  events.push({ type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 5 } })
  return [...events, { type: "message_stop" }].map((event) => sse(event))
}

/** Gemini cannot send arguments that are not JSON: there they are empty. */
export const writeGemini: Write = ({ model, number, thinks, words, calls, finish }) => {
  const said = (parts: readonly object[], more: object = {}) =>
    sse({
      candidates: [{ content: { role: "model", parts }, index: 0, ...more }],
      usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 5, totalTokenCount: 17 },
    })
  const seal = { thoughtSignature: sealOf(model, number) }
  const called = calls.map(([name, input], index) => ({
    ...{ functionCall: { name, args: toObject(input) } },
    ...(index === 0 ? seal : {}),
  }))
  return [
    ...(thinks ? [said([{ text: thoughtOf(model), thought: true }])] : []),
    ...(words ? [said([{ text: words }])] : []),
    ...(called.length > 0 ? [said(called)] : []),
    // A signature may come alone, after the text.
    ...(thinks && called.length === 0 && words ? [said([{ text: "", ...seal }])] : []),
    said([], { finishReason: finish === "limit" && calls.length === 0 ? "MAX_TOKENS" : "STOP" }),
  ]
}

function toObject(input: string): unknown {
  try {
    return JSON.parse(input)
  } catch {
    return {}
  }
}

export const writeConverse: Write = ({ model, number, thinks, words, calls, finish }) => {
  const frames: Buffer[] = [converseEvent("messageStart", { role: "assistant" })]
  let contentBlockIndex = 0
  const block = (start: object | undefined, ...deltas: object[]) => {
    if (start) frames.push(converseEvent("contentBlockStart", { contentBlockIndex, start }))
    for (const delta of deltas) frames.push(converseEvent("contentBlockDelta", { contentBlockIndex, delta }))
    frames.push(converseEvent("contentBlockStop", { contentBlockIndex: contentBlockIndex++ }))
  }
  if (thinks)
    block(
      undefined,
      { reasoningContent: { text: thoughtOf(model) } },
      { reasoningContent: { signature: sealOf(model, number) } },
    )
  if (words) block(undefined, { text: words })
  for (const [n, [name, input]] of calls.entries())
    block({ toolUse: { toolUseId: `tooluse_${n}`, name } }, { toolUse: { input } })
  const stopReason = calls.length > 0 ? "tool_use" : finish === "limit" ? "max_tokens" : "end_turn"
  frames.push(converseEvent("messageStop", { stopReason }))
  const usage = { inputTokens: 12, outputTokens: 7, totalTokens: 19 }
  return [...frames, converseEvent("metadata", { usage, metrics: { latencyMs: 5 } })]
}
