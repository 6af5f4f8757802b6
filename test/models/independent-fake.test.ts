import { LLMock } from "@copilotkit/aimock"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { z } from "zod"
import { answer, defineTool } from "../../src/agent/definition/tool.ts"
import { OutboundPolicy } from "../../src/models/network/outbound-policy.ts"
import { scripted } from "../../src/testing.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face, type Visitor } from "../support/server/face.ts"

/** A model of each dialect that we speak, at an address where somebody else's idea of its provider listens. */
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

describe.each(anyDatabase)("a run with a provider that others have made up, on $name", ({ create }) => {
  const mock = new LLMock({ port: 0, chunkSize: 5 })
  let face: Face
  let ada: Visitor

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
    mock.on({ userMessage: "always cut" }, long, { truncateAfterChunks: 3 })
    await mock.start()
    const { url } = mock
    face = await Face.open({
      ...{ url: (await create()).url, model: scripted(), tools: [find], reach: new OutboundPolicy(["127.0.0.1"]) },
      ...{ sharedKeys: true, providerCalls: { retry: { retries: 1, random: () => 0 } } },
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

    test("brings its words", async () => {
      expect(await say("words")).toMatchObject({ run: { status: "completed" }, last: "Größe und naïve Wörter." })
    })

    test("makes two calls at once, and each result comes back to it", async () => {
      const { run, messages, last } = await say("both")
      expect([run.status, last]).toEqual(["completed", "There are both."])
      expect(JSON.stringify(messages)).toMatch(/Found a\..*Found b\./)
    })

    test("goes on after a call with arguments that do not fit", async () => {
      const { run, messages, last } = await say("badly")
      expect([run.status, last]).toEqual(["completed", "I asked badly."])
      expect(JSON.stringify(messages)).not.toContain("Found")
    })

    test("fails at once where the request is refused", async () => {
      mock.nextRequestError(400, { message: "That is not how it is done.", type: "invalid_request_error" })
      const { run } = await say("words")
      expect(run).toMatchObject({ status: "failed", error: { code: "provider_error" } })
    })

    test.each([429, 529])("waits after a %i, and then goes on", async (status) => {
      mock.nextRequestError(status, {
        message: "Later.",
        type: status === 429 ? "rate_limit_error" : "overloaded_error",
      })
      const before = Date.now()
      expect(await say("words")).toMatchObject({ run: { status: "completed" } })
      // It said with `Retry-After` how long.
      if (status === 429) expect(Date.now() - before).toBeGreaterThanOrEqual(950)
    })

    test("is never whole where its reply was cut each time", async () => {
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
