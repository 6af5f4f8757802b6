import { describe, expect, test } from "vitest"
import { openLists } from "../../core/models/providers/server.fixture.ts"
import { ModelList } from "../../core/protocol/answers.ts"
import { scripted } from "../../core/testing.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"

/** An Ollama with one model that does not support tools; any other request is an error. */
const ollama = () =>
  openLists((response, { path }) => {
    const pages: Record<string, unknown> = {
      "/api/tags": { models: [{ name: "gemma:2b" }] },
      "/api/ps": { models: [{ name: "gemma:2b", context_length: 4096 }] },
      "/api/show": {
        capabilities: ["completion", "vision"],
        model_info: { "general.architecture": "gemma", "gemma.context_length": 8192 },
      },
    }
    response.writeHead(pages[path] ? 200 : 500).end(JSON.stringify(pages[path] ?? {}))
  })

describe.each(anyDatabase)("answers of endpoints on $name", ({ create }) => {
  test("do not delay a server that shuts down", async () => {
    await using database = await create()
    const left = Promise.withResolvers<void>()
    await using server = await openLists((response) => response.once("close", left.resolve))
    const face = await Face.open({ url: database.url, model: scripted(), personal: { vllmEndpoint: server.url } })
    await (await face.as("ada", "read")).get("/api/models")
    await expect.poll(() => server.received.length).toBe(1)
    await face[Symbol.asyncDispose]()
    await left.promise
  })

  test("are listed with their provider, and a model without tools is refused before any request", async () => {
    await using database = await create()
    await using server = await ollama()
    await using face = await Face.open({
      ...{ url: database.url, model: scripted(), personal: { ollamaHost: server.url } },
      providerCalls: { retry: { retries: 0 } },
    })
    const ada = await face.as("ada", "read", "chat")

    // A client that does not wait gets the known models at once, and that an endpoint is being asked.
    const first = ModelList.parse((await ada.get("/api/models")).body)
    expect(first.endpoints).toMatchObject([{ provider: "ollama", state: "asking", models: 0, answeredAt: null }])
    const { status, body } = await ada.get("/api/models?wait=5")
    const { items, endpoints } = ModelList.parse(body)
    expect([status, endpoints?.map(({ state, models }) => [state, models])]).toEqual([200, [["answered", 1]]])
    expect(items.find(({ name }) => name === "ollama/gemma:2b")).toEqual({
      ...{
        name: "ollama/gemma:2b",
        provider: "ollama",
        aliases: [],
        features: ["images"],
        available: true,
        need: null,
      },
      ...{ contextTokens: 4096, maxContextTokens: 8192, price: { input: 0, output: 0 } },
      can: { tools: false, images: true, files: false, reasoning: false },
      sources: {
        ...{ contextTokens: "endpoint", price: "assumed" },
        ...{ tools: "endpoint", images: "endpoint", files: "endpoint", reasoning: "endpoint" },
      },
    })
    expect(items.find(({ name }) => name === "openai/gpt-5.5")).toMatchObject({
      ...{ can: { tools: true, images: true, files: true, reasoning: true }, sources: { tools: "catalogue" } },
    })
    const asked = server.received.length
    await ada.get("/api/models?refresh=true&wait=5") // it has answered a moment ago
    expect(server.received).toHaveLength(asked)
    for (const query of ["wait=11", "wait=x", "refresh=perhaps"])
      expect((await ada.get(`/api/models?${query}`)).status).toBe(400)

    const id = await ada.begin({ model: "ollama/gemma:2b", agent: "workspace" })
    const { run } = (await ada.say(id, "My tasks, please.")).body
    expect(run).toMatchObject({ status: "failed", error: { code: "model_lacks_tools" } })
    expect(run.error.message).toContain("ollama/gemma:2b does not support tools, and the agent workspace needs them.")
    expect(server.received).toHaveLength(asked)
  })
})
