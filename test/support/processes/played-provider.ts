/** Loaded before an example of the docs that uses a provider: requests to Anthropic are answered here. */
const passOn = globalThis.fetch

globalThis.fetch = async (input, init) => {
  const url = input instanceof Request ? input.url : String(input)
  if (!url.startsWith("https://api.anthropic.com/")) return passOn(input, init)
  const key = new Headers(init?.headers).get("x-api-key")
  if (key !== "sk-ant-example") return Response.json({ error: { message: "invalid x-api-key" } }, { status: 401 })
  const request = JSON.parse(String(init?.body)) as AnthropicRequest
  return new Response(replyTo(request), { headers: { "content-type": "text/event-stream" } })
}

interface AnthropicRequest {
  readonly model: string
  readonly tools?: readonly { readonly name: string }[]
  readonly messages: readonly unknown[]
}

/** Answers a question, or pays the invoice of the example in the README. */
function replyTo({ model, tools = [], messages }: AnthropicRequest): string {
  if (!tools.some(({ name }) => name === "pay_invoice")) return says(model, "Air scatters blue light more than red.")
  if (JSON.stringify(messages).includes("tool_result")) return says(model, "Invoice 2041 is paid.")
  const call = { type: "tool_use", id: "toolu_1", name: "pay_invoice", input: {} }
  const input = { type: "input_json_delta", partial_json: JSON.stringify({ invoice: "2041", euros: 90 }) }
  return reply(model, { block: call, deltas: [input], stopReason: "tool_use" })
}

/** A text in two pieces. */
function says(model: string, text: string): string {
  const deltas = [text.slice(0, 12), text.slice(12)].map((piece) => ({ type: "text_delta", text: piece }))
  return reply(model, { block: { type: "text", text: "" }, deltas, stopReason: "end_turn" })
}

/** A reply of one block, as Anthropic streams it. */
function reply(
  model: string,
  { block, deltas, stopReason }: { block: object; deltas: readonly object[]; stopReason: string },
): string {
  const usage = { input_tokens: 12, output_tokens: 1 }
  const message = { id: "msg_1", type: "message", role: "assistant", model, content: [], stop_reason: null, usage }
  const events = [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: block },
    ...deltas.map((delta) => ({ type: "content_block_delta", index: 0, delta })),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: stopReason }, usage: { output_tokens: 10 } },
    { type: "message_stop" },
  ]
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("")
}
