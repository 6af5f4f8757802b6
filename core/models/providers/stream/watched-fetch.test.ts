import { describe, expect, test } from "vitest"
import { chatChunk, collect, ProviderServer, sse, streamHead } from "../server.fixture.ts"
import { countWork } from "../../../../test/support/worked.ts"
import { ModelRegistry } from "../../registry.ts"

test("a reply without end is stopped, and its connection closed", async () => {
  const closed = Promise.withResolvers<void>()
  await using server = await ProviderServer.open((response) => {
    streamHead(response).on("close", closed.resolve)
    const line = Buffer.alloc(1024 * 1024, "x")
    const pour = () => {
      while (!response.destroyed && response.write(line));
      response.once("drain", pour)
    }
    response.write("data: ")
    pour()
  })
  const models = new ModelRegistry({ lmStudioEndpoint: server.url }, { retry: { retries: 0 } })
  await expect(collect(await models.get("qwen"))).rejects.toMatchObject({
    code: "provider_error",
    message: expect.stringContaining("exceeded the size limit"),
  })
  await closed.promise
})

test.each([
  ["one line", (values: string) => `data: {"choices":[${values}]}\n\n`],
  ["many lines of one event", (values: string) => `data: {"choices":[${values.replaceAll(",", ",\ndata: ")}]}\n\n`],
])("an event that holds half a million values in %s is not parsed, and ends the reply", async (_, toEvent) => {
  const body = toEvent(Array(500_000).fill("{}").join(","))
  await using server = await ProviderServer.open((response) => streamHead(response).end(body))
  const models = new ModelRegistry({ lmStudioEndpoint: server.url }, { retry: { retries: 0 } })
  const work = countWork()
  await expect(collect(await models.get("qwen"))).rejects.toMatchObject({
    code: "provider_error",
    message: expect.stringContaining("exceeded the size limit"),
  })
  expect(work()).toBeLessThan(1000)
})

test("a large event with few values, and many small ones after it, are read", async () => {
  const text = "a,[{".repeat(50_000)
  const words = Array.from({ length: 30_000 }, () => chatChunk({ content: "b" }))
  const body = sse(chatChunk({ content: text }), ...words, chatChunk({}, "stop"), "[DONE]")
  await using server = await ProviderServer.open((response) => streamHead(response).end(body))
  const models = new ModelRegistry({ lmStudioEndpoint: server.url }, { retry: { retries: 0 } })
  const parts = await collect(await models.get("qwen"))
  const said = parts.map((part) => (part.type === "text" ? part.text : "")).join("")
  expect(said).toBe(text + "b".repeat(30_000))
})

test("a rejection without end is read up to a limit, and keeps its status", async () => {
  const closed = Promise.withResolvers<void>()
  let sent = 0
  await using server = await ProviderServer.open((response) => {
    response.on("close", closed.resolve)
    const line = Buffer.alloc(64 * 1024, "\n")
    const pour = () => {
      while (!response.destroyed && response.write(line)) sent += line.length
      response.once("drain", pour)
    }
    response.writeHead(429, { "content-type": "application/json", "retry-after": "7" }).write('{"error":')
    pour()
  })
  const models = new ModelRegistry({ lmStudioEndpoint: server.url }, { retry: { retries: 0 } })
  const asked = collect(await models.get("qwen"))
  await expect(asked).rejects.toMatchObject({ code: "rate_limited", details: { retryAfterMs: 7000 } })
  await closed.promise
  // Includes the buffers of the sockets on both sides.
  expect(sent).toBeLessThan(32 * 1024 * 1024)
})

describe("a stream without a finish reason", () => {
  const call = (json: string) => ({ tool_calls: [{ index: 0, id: "a", function: { name: "t", arguments: json } }] })
  const words = sse(chatChunk({ content: "Hello" }), chatChunk({ content: " there" }))

  async function play(body: string) {
    await using server = await ProviderServer.open((response) => streamHead(response).end(body))
    const models = new ModelRegistry({ lmStudioEndpoint: server.url }, { retry: { maxWaitMs: 1 } })
    const parts = await collect(await models.get("qwen")).catch((error: unknown) => error)
    return { parts, requests: server.received.length }
  }
  const finishOf = (parts: unknown) => (parts as { finish?: string }[]).at(-1)?.finish

  test.each([
    ["as most do", "data: [DONE]\n\n"],
    ["without a blank", "data:[DONE]\n"],
    ["without a line's end", "data: [DONE]"],
    ["with lines of another system", "data: [DONE]\r\n\r\n"],
  ])("that is marked as done, %s, is an answer of unknown ending, and asked for once", async (_, end) => {
    const { parts, requests } = await play(words + end)
    expect(parts).toMatchObject([{ text: "Hello" }, { text: " there" }, { type: "finish", finish: "unknown" }])
    expect(requests).toBe(1)
  })

  test("with an end mark has its calls, if they are complete", async () => {
    expect(finishOf((await play(sse(chatChunk(call('{"q":1}')), "[DONE]"))).parts)).toBe("calls")
    expect((await play(sse(chatChunk(call('{"q":')), "[DONE]"))).parts).toMatchObject({ code: "provider_error" })
  })

  test.each([
    ["that just ends", words],
    ["that speaks of the mark", words + sse(chatChunk({ content: "\ndata: [DONE]" }))],
    ["that is cut in the mark", `${words}data: [DON`],
    ["that is marked as done and says nothing", sse(chatChunk({ content: " \n" }), "[DONE]")],
    ["that failed, whatever mark it bears", sse(chatChunk({ content: "x" }, "network_error"), "[DONE]")],
  ])("%s is not an answer", async (_, body) => {
    expect((await play(body)).parts).toMatchObject({ code: "provider_error", details: { retriable: true } })
  })
})
