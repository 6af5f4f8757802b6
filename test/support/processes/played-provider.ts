/** Loaded before an example of the documents that asks a provider: what would go to Anthropic is answered here. */
const passOn = globalThis.fetch

globalThis.fetch = async (input, init) => {
  const url = input instanceof Request ? input.url : String(input)
  if (!url.startsWith("https://api.anthropic.com/")) return passOn(input, init)
  const key = new Headers(init?.headers).get("x-api-key")
  if (key !== "sk-ant-example") return Response.json({ error: { message: "invalid x-api-key" } }, { status: 401 })
  const { model } = JSON.parse(String(init?.body)) as { model: string }
  return new Response(reply(model, "Air scatters blue light more than red."), {
    headers: { "content-type": "text/event-stream" },
  })
}

/** A reply as Anthropic streams it, in two pieces. */
function reply(model: string, text: string): string {
  const usage = { input_tokens: 12, output_tokens: 1 }
  const message = { id: "msg_1", type: "message", role: "assistant", model, content: [], stop_reason: null, usage }
  const pieces = [text.slice(0, 12), text.slice(12)]
  const events = [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ...pieces.map((piece) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text: piece },
    })),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 10 } },
    { type: "message_stop" },
  ]
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("")
}
