import { describe, expect, test } from "vitest"
import { countWork } from "../../../../test/support/worked.ts"
import { ModelRegistry } from "../../registry.ts"
import { repairedFetch } from "./repaired-stream.ts"
import { anyRequest, chatChunk, collect, ProviderServer, sse, streamHead } from "../server.fixture.ts"

const tools = [{ name: "find", description: "d", inputSchema: { type: "object", properties: {} } }]
const vllm = (url: string): object => ({ vllmEndpoint: url })

/** The reply that is read from these bytes, which arrive in pieces of this size. */
async function read(body: string, { size = 1000, settings = vllm, name = "vllm/m" } = {}) {
  await using server = await ProviderServer.open(async (response) => {
    streamHead(response)
    for (let at = 0; at < body.length; at += size) {
      await new Promise((written) => response.write(body.slice(at, at + size), written))
    }
    response.end()
  })
  const models = new ModelRegistry(settings(server.url), { retry: { retries: 0 } })
  return await collect(await models.get(name), { ...anyRequest, tools })
}

const called = (fields: object) =>
  chatChunk({ tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "find", ...fields } }] })
const saying = (text: string) => [
  { type: "text", text },
  { type: "finish", finish: "stop" },
]
const calling = [
  { type: "call", name: "find", input: '{"q":"{\\"choices\\":null}"}' },
  { type: "finish", finish: "calls" },
]
const args = { q: '{"choices":null}' }
const counted = { id: "1", choices: null, usage: { prompt_tokens: 5, completion_tokens: 2 } }

describe.each([1000, 7])("a self-hosted server, in chunks of %d bytes,", (size) => {
  test.each<[what: string, body: string, parts: object[]]>([
    ["arguments as an object", sse(called({ arguments: args }), chatChunk({}, "tool_calls"), "[DONE]"), calling],
    [
      "a call as it once was",
      sse(
        chatChunk({ function_call: { name: "find", arguments: "" } }),
        chatChunk({ function_call: { arguments: JSON.stringify(args) } }),
        ...[chatChunk({}, "function_call"), "[DONE]"],
      ),
      calling,
    ],
    ["no choices", sse(counted, chatChunk({ content: "Hi" }), chatChunk({}, "stop"), counted, "[DONE]"), saying("Hi")],
    ["no blank line at the end", sse(chatChunk({ content: "Hi" }), chatChunk({}, "stop")).trimEnd(), saying("Hi")],
    [
      "words like these",
      sse(chatChunk({ content: '"choices":null é' }), chatChunk({}, "stop")),
      saying('"choices":null é'),
    ],
  ])("may stream %s", async (_what, body, parts) => {
    const found = await read(body, { size })
    expect(found.filter(({ type }) => type !== "text").slice(-parts.length)).toMatchObject(
      parts.filter((part) => !("text" in part)),
    )
    const words = (all: readonly object[]) => all.map((part) => ("text" in part ? part.text : "")).join("")
    expect(words(found)).toBe(words(parts))
  })

  test("whose last event was cut has no reply", async () => {
    const body = sse(chatChunk({ content: "Hi" }), chatChunk({}, "stop"))
      .trimEnd()
      .slice(0, -3)
    await expect(read(body, { size })).rejects.toMatchObject({ code: "provider_error" })
  })
})

test("usage without a choice is counted", async () => {
  const parts = await read(sse(chatChunk({ content: "Hi" }), chatChunk({}, "stop"), counted, "[DONE]"))
  expect(parts.at(-1)).toMatchObject({ usage: { inputTokens: 5, outputTokens: 2 } })
})

test("an error in place of a choice stays an error", async () => {
  const body = sse({ error: { message: "Out of memory." }, choices: null, object: "chat.completion.chunk" })
  await expect(read(body)).rejects.toThrow("Out of memory")
})

test("a line in very many chunks is not searched again with each", async () => {
  const chunk = new TextEncoder().encode("x".repeat(16))
  let left = 20_000
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => (left-- > 0 ? controller.enqueue(chunk) : controller.close()),
  })
  const response = await repairedFetch(async () => new Response(body))("http://x")
  const worked = countWork()
  expect((await response.text()).trimEnd()).toHaveLength(320_000)
  // 3 s where all of it is joined for each piece.
  expect(worked()).toBeLessThan(600)
})
