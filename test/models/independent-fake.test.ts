import { LLMock } from "@copilotkit/aimock"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { z } from "zod"
import { answer, defineTool } from "../../core/engine/definition/tool.ts"
import { converseException } from "../../core/models/providers/stream/event-frames.fixture.ts"
import { OutboundPolicy } from "../../core/models/network/outbound-policy.ts"
import { scripted } from "../../core/testing.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face, type Visitor } from "../support/server/face.ts"
import { isOver, readFrames } from "../support/server/stream.ts"

const event = (data: object, name?: string) =>
  Buffer.from(`${name ? `event: ${name}\n` : ""}data: ${JSON.stringify(data)}\n\n`)

/** How each provider reports an error in the middle of a stream, which the fake does not support. */
const telling: readonly (readonly [path: RegExp, bytes: Buffer])[] = [
  [/chat\/completions/, event({ error: { message: "Sorry, no more.", type: "server_error", code: 503 } })],
  [/responses/, event({ type: "error", code: "server_error", message: "Sorry, no more.", param: null }, "error")],
  [/messages/, event({ type: "error", error: { type: "overloaded_error", message: "Sorry, no more." } }, "error")],
  [/GenerateContent/, event({ error: { code: 503, message: "Sorry, no more.", status: "UNAVAILABLE" } })],
  [/converse-stream/, converseException("serviceUnavailableException", "Sorry, no more.")],
]

/** The first half of a stream, up to the end of an event. */
function halfOf(bytes: Buffer): Buffer {
  const ends: number[] = []
  const isFramed = bytes[0] === 0
  for (let at = 0; at < bytes.length;) {
    const next = isFramed ? at + bytes.readUInt32BE(at) : bytes.indexOf("\n\n", at) + 2
    if (next <= at || (!isFramed && next === 1)) break
    ends.push((at = next))
  }
  return bytes.subarray(0, ends[Math.floor(ends.length / 2)])
}

/** A model for each wire format, at the address of a third-party fake of its provider. */
const models = {
  "chat completions": "vllm/m",
  "OpenAI's responses": "azure/gpt",
  "Anthropic's messages": "anthropic/claude-x",
  "Gemini's own": "google/gemini-3-pro",
  "Bedrock's Converse": "bedrock/anthropic.claude-x",
}

const find = defineTool({
  name: "find",
  description: "Finds things.",
  input: z.object({ q: z.string() }),
  effect: "read",
  afterCrash: "run-again",
  run: ({ q }) => answer(`Found ${q}.`),
})

describe.each(anyDatabase)("a run with a third-party fake of a provider, on $name", ({ create }) => {
  const mock = new LLMock({ port: 0, chunkSize: 5 })
  let face: Face
  let ada: Visitor
  /** How many of the next replies are interrupted by an error in their stream. */
  let broken = 0
  const fetching: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    if (broken === 0 || !response.ok) return response
    broken--
    const bytes = telling.find(([path]) => path.test(String(input)))?.[1] ?? Buffer.alloc(0)
    const body = Buffer.concat([halfOf(Buffer.from(await response.arrayBuffer())), bytes])
    return new Response(body, { headers: response.headers })
  }

  beforeAll(async () => {
    const calls = (...inputs: readonly string[]) => ({
      toolCalls: inputs.map((text) => ({ name: "find", arguments: text })),
    })
    const long = { content: "A long answer that comes in many pieces." }
    mock.on({ userMessage: "words" }, { content: "Größe und naïve Wörter." })
    mock.on({ userMessage: "both", hasToolResult: false }, calls('{"q":"a"}', '{"q":"b"}'))
    mock.on({ userMessage: "both", hasToolResult: true }, { content: "There are both." })
    mock.on({ userMessage: "badly", hasToolResult: false }, calls('{"query":1}'))
    mock.on({ userMessage: "badly", hasToolResult: true }, { content: "I asked badly." })
    mock.on({ userMessage: "at length" }, long)
    mock.on({ userMessage: "always cut" }, long, { truncateAfterChunks: 3 })
    await mock.start()
    const { url } = mock
    face = await Face.open({
      ...{ url: (await create()).url, model: scripted(), tools: [find], reach: new OutboundPolicy(["127.0.0.1"]) },
      ...{ sharedKeys: true, providerCalls: { fetch: fetching, retry: { retries: 1, random: () => 0 } } },
      personal: {
        ...{ vllmEndpoint: url, azureOpenaiApiKey: "k", azureOpenaiEndpoint: url },
        ...{ anthropicApiKey: "k", anthropicBaseUrl: url, geminiApiKey: "k", geminiBaseUrl: url },
        ...{ bedrockApiKey: "k", bedrockBaseUrl: url },
      },
    })
    ada = await face.as("ada")
  })
  afterAll(async () => {
    await face[Symbol.asyncDispose]()
    await mock.stop()
  })

  describe.each(Object.entries(models))("over %s", (_, model) => {
    const say = async (text: string) => {
      const { body } = await ada.say(await ada.begin({ model, agent: "test" }), text)
      return { run: body.run, messages: body.messages, last: body.messages.at(-1)?.content }
    }

    test("streams its text", async () => {
      expect(await say("words")).toMatchObject({ run: { status: "completed" }, last: "Größe und naïve Wörter." })
    })

    test("makes two calls at once, and each gets its own result", async () => {
      const { run, messages, last } = await say("both")
      expect([run.status, last]).toEqual(["completed", "There are both."])
      expect(JSON.stringify(messages)).toMatch(/Found a\..*Found b\./)
    })

    test("continues after a call with invalid arguments", async () => {
      const { run, messages, last } = await say("badly")
      expect([run.status, last]).toEqual(["completed", "I asked badly."])
      expect(JSON.stringify(messages)).not.toContain("Found")
    })

    test("fails at once if the request is refused", async () => {
      mock.nextRequestError(400, { message: "That is not how it is done.", type: "invalid_request_error" })
      const { run } = await say("words")
      expect(run).toMatchObject({ status: "failed", error: { code: "provider_error" } })
    })

    test.each([429, 529])("waits after a %i, and then continues", async (status) => {
      mock.nextRequestError(status, {
        message: "Later.",
        type: status === 429 ? "rate_limit_error" : "overloaded_error",
      })
      const before = Date.now()
      expect(await say("words")).toMatchObject({ run: { status: "completed" } })
      // Its `Retry-After` said how long.
      if (status === 429) expect(Date.now() - before).toBeGreaterThanOrEqual(950)
    })

    /** All frames that a client gets of a run. */
    const watch = async (text: string) => {
      const id = await ada.begin({ model, agent: "test" })
      const sent = { body: { text }, headers: { accept: "text/event-stream" } }
      return readFrames(await ada.send("POST", `/api/conversations/${id}/messages`, sent), isOver)
    }

    test("restarts its reply, visibly to clients, if the stream reports an error in the middle", async () => {
      broken = 1
      const frames = await watch("at length")
      // Emitted only if text was visible before: otherwise the retry is silent.
      expect(frames.find(({ type }) => type === "restarted")?.data).toMatchObject({ because: "provider" })
      const replies = frames.filter(({ type, data }) => type === "message" && data.message.role === "assistant")
      expect(replies.map(({ data }) => data.message.content)).toEqual(["A long answer that comes in many pieces."])
      expect(frames.at(-1)).toMatchObject({ type: "done", data: { status: "completed" } })
    })

    test("ends with the provider's error if each stream reports one", async () => {
      broken = 3
      const frames = await watch("at length")
      broken = 0
      const ended = frames.find(({ type }) => type === "error")
      expect(ended?.data.code).toMatch(/^(?:overloaded|provider_error)$/)
      expect(ended?.data.message).toContain("Sorry, no more.")
      const kept = frames.filter(({ type, data }) => type === "message" && data.message.role === "assistant")
      expect(kept.map(({ data }) => data.message.finish)).toEqual(["broken"])
      expect("A long answer that comes in many pieces.".startsWith(kept[0]?.data.message.content)).toBe(true)
    })

    test("is never complete if its reply was cut each time", async () => {
      const { run, messages } = await say("always cut")
      expect(run).toMatchObject({ status: "failed", error: { code: "provider_error" } })
      const said = messages.filter(({ role }: { role: string }) => role === "assistant")
      for (const { content, finish } of said) {
        expect("A long answer that comes in many pieces.".startsWith(content)).toBe(true)
        expect(finish).toBe("broken")
      }
    })
  })
})
