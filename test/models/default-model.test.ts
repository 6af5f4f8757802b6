import { describe, expect, test } from "vitest"
import { openLists } from "../../core/models/providers/server.fixture.ts"
import { chatReply, streamHead } from "../../core/models/providers/server.fixture.ts"
import { ModelRegistry } from "../../core/models/registry.ts"
import { EndpointLists } from "../../core/models/discovery/endpoint-lists.ts"
import { systemClock } from "../../core/shared/time/clock.ts"
import { scripted } from "../../core/testing.ts"
import { databases } from "../support/databases.ts"
import { Browser } from "../support/server/browser.ts"
import { Face } from "../support/server/face.ts"

const listing = (...ids: readonly (string | object)[]) =>
  openLists((response, { path }) => {
    if (path.endsWith("/chat/completions")) return streamHead(response).end(chatReply("Hello."))
    const data = ids.map((id) => (typeof id === "string" ? { id } : id))
    response.writeHead(path.endsWith("/v1/models") ? 200 : 404).end(JSON.stringify({ data }))
  })

const registry = (settings: ConstructorParameters<typeof ModelRegistry>[0]) =>
  new ModelRegistry(settings, { lists: { lists: new EndpointLists(systemClock) }, retry: { retries: 0 } })

describe("without a chosen model the default is", () => {
  test.each([
    [["llama-3.1-8b", "qwen3-8b", "nomic-embed-text"], "vllm/qwen3-8b"],
    [["gpt-4.1", "gpt-5.1-mini", "gpt-5.1"], "vllm/gpt-5.1"],
    [["gpt-5.1", "gpt-5.10"], "vllm/gpt-5.10"],
    [["anything"], "vllm/anything"],
    [
      [
        { id: "qwen3", supported_parameters: [] },
        { id: "phi", supported_parameters: ["tools"] },
      ],
      "vllm/phi",
    ],
  ])("the best that an endpoint lists, of %j", async (ids, name) => {
    await using server = await listing(...ids)
    expect(await registry({ vllmEndpoint: server.url }).defaultName()).toBe(name)
  })

  test("a hosted provider's before a local one's, and one that answers before one that does not", async () => {
    await using server = await listing("qwen3-8b")
    const down = "http://127.0.0.1:9"
    expect(await registry({ vllmEndpoint: server.url, anthropicApiKey: "k" }).defaultName()).toMatch(/^anthropic/)
    expect(await registry({ lmStudioEndpoint: down, vllmEndpoint: server.url }).defaultName()).toBe("vllm/qwen3-8b")
  })

  test("is undefined only if no endpoint answers: the error names each and its fault", async () => {
    const none = registry({ vllmEndpoint: "http://127.0.0.1:9" })
    await expect(none.defaultName()).rejects.toMatchObject({
      code: "no_model_selected",
      message: expect.stringMatching(/set PAWL_MODEL.*vllm\/<model> \(it could not be reached/),
    })
  })
})

describe.each(databases)("the model of a new conversation on $name", ({ create }) => {
  const open = async (url: string, models: object) =>
    Face.open({ url, model: scripted(), personal: models, providerCalls: { retry: { retries: 0 } } })

  test("is the one that the page suggests, and answers at once with one usable provider", async () => {
    await using database = await create()
    await using server = await listing("qwen3-8b")
    await using face = await open(database.url, { vllmEndpoint: server.url })
    const ada = await face.as("ada")
    expect((await ada.get("/api/models")).body.default).toBe("vllm/qwen3-8b")
    const { body } = await ada.say(await ada.begin({ agent: "test" }), "Hi.")
    expect(body.run).toMatchObject({ status: "completed", model: "vllm/qwen3-8b" })
  })

  test.each<[how: string, path: (id: string) => [string, string, object]]>([
    ["in a conversation", (id) => ["POST", `/api/conversations/${id}/model`, { name: "vllm/b" }]],
    ["with other settings", (id) => ["PATCH", `/api/conversations/${id}`, { model: "vllm/b" }]],
    ["before the first one", () => ["PUT", "/api/models/default", { name: "vllm/b" }]],
  ])("is the one that the user chose last %s, through every API", async (_how, choosing) => {
    await using database = await create()
    await using server = await listing("a", "b")
    await using face = await open(database.url, { vllmEndpoint: server.url, defaultModel: "vllm/a" })
    const [ada, bob] = await Promise.all([face.as("ada"), face.as("bob")])
    const earlier = await ada.begin()
    const [method, path, body] = choosing(await ada.begin())
    expect((await ada.ask(method, path, { body })).status).toBe(200)

    expect((await ada.get("/api/models")).body.default).toBe("vllm/b")
    expect((await ada.get(`/api/conversations/${await ada.begin()}`)).body.model).toBe("vllm/b")
    expect((await ada.get(`/api/conversations/${earlier}`)).body.model).toBe("vllm/a")
    const named = await ada.begin({ model: "vllm/a" })
    expect((await ada.get(`/api/conversations/${named}`)).body.model).toBe("vllm/a")
    expect((await bob.get("/api/models")).body.default).toBe("vllm/a")

    // The library of a program uses the same rule.
    await using again = await open(database.url, { vllmEndpoint: server.url, defaultModel: "vllm/a" })
    expect((await (await again.as("ada")).get("/api/models")).body.default).toBe("vllm/b")
    await using without = await open(database.url, { openaiApiKey: "k" })
    expect((await (await without.as("ada")).get("/api/models")).body.default).toBe("openai/gpt-5.6-sol")
  })

  test("is the one that the user chose last in this client, and Settings has a default for all", async () => {
    await using database = await create()
    await using server = await listing("a", "b", "c")
    await using face = await open(database.url, { vllmEndpoint: server.url, defaultModel: "vllm/a" })
    const [page, program] = [await Browser.of(face, "ada"), await face.as("ada")]
    const models = async () => [page, program].map(async (each) => (await each.get("/api/models")).body.default)
    const defaults = async () => Promise.all(await models())
    await page.ask("PUT", "/api/models/default", { body: { name: "vllm/b" } })
    expect(await defaults()).toEqual(["vllm/b", "vllm/a"])
    await program.put("/api/models/default", { name: "vllm/c" })
    expect(await defaults()).toEqual(["vllm/b", "vllm/c"])

    await page.ask("PUT", "/api/models/default", { body: { name: "vllm/a", everywhere: true } })
    expect(await defaults()).toEqual(["vllm/a", "vllm/a"])
    expect((await page.get("/api/models")).body.chosenDefault).toBe("vllm/a")
    await page.ask("PUT", "/api/models/default", { body: { name: "vllm/b" } })
    expect(await defaults()).toEqual(["vllm/b", "vllm/a"])

    const cleared = await page.ask("PUT", "/api/models/default", { body: { name: null, everywhere: true } })
    expect([cleared.status, cleared.body]).toEqual([200, { default: "vllm/a" }])
    expect((await page.get("/api/models")).body).toMatchObject({ default: "vllm/a", chosenDefault: null })
  })

  test("is reported as a replacement if the model that the user chose last cannot be used", async () => {
    await using database = await create()
    await using server = await listing("a")
    {
      await using face = await open(database.url, { vllmEndpoint: server.url })
      const ada = await face.as("ada")
      await ada.put("/api/models/default", { name: "vllm/a" })
      expect((await ada.get("/api/models")).body).not.toHaveProperty("unavailableChoice")
    }
    await using without = await open(database.url, {})
    const [ada, bob] = await Promise.all([without.as("ada"), without.as("bob")])
    expect((await ada.get("/api/models")).body).toMatchObject({
      ...{ default: "offline", unavailableChoice: { name: "vllm/a", need: expect.stringContaining("VLLM_ENDPOINT") } },
    })
    expect((await bob.get("/api/models")).body).not.toHaveProperty("unavailableChoice")
  })
})
