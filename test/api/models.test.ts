import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { describe, expect, test } from "vitest"
import { hasCode, type Models, openPawl, toModel } from "../../core/index.ts"
import { chatReply, openLists, ProviderServer, streamHead } from "../../core/models/providers/server.fixture.ts"
import { always, says, scripted } from "../../core/testing.ts"

const speaking = (text: string) => ProviderServer.open((response) => void streamHead(response).end(chatReply(text)))

/** A language model of the AI SDK, as a program would pass it. */
const languageModel = (server: ProviderServer, id = "some-model") =>
  createOpenAICompatible({ name: "acme", baseURL: `${server.url}/v1`, apiKey: "sk-acme" }).chatModel(id)

const open = (models: Models) => openPawl({ store: ":memory:", models })

describe("models can be", () => {
  test("providers with settings", async () => {
    await using server = await speaking("Hello from afar.")
    const access = { apiKey: "sk-secret", baseUrl: `${server.url}/v1` }
    await using pawl = await open({ openai: access, default: "openai/gpt-5.4-mini" })
    expect(await pawl.ask("Hi.")).toMatchObject({ status: "answered", text: "Hello from afar." })
    expect(server.received[0]?.headers.authorization).toBe("Bearer sk-secret")
    expect(server.received[0]?.body).toMatchObject({ model: "gpt-5.4-mini" })
    await pawl.ask("Hi.", { model: "openai/other" })
    expect(server.received[1]?.body).toMatchObject({ model: "other" })
  })

  test("one language model of the AI SDK", async () => {
    await using server = await speaking("Hello from the SDK.")
    await using pawl = await open(languageModel(server))
    const { conversationId, text } = await pawl.ask("Hi.")
    expect(text).toBe("Hello from the SDK.")
    expect(await pawl.conversations.get(conversationId)).toMatchObject({ model: "acme/some-model", modelChosen: false })
  })

  test("several by name: the first is the default", async () => {
    await using server = await speaking("Good.")
    await using pawl = await open({ fast: scripted(says("Fast.")), good: languageModel(server) })
    expect((await pawl.ask("Hi.")).text).toBe("Fast.")
    const { text, conversationId } = await pawl.ask("Hi.", { model: "good" })
    expect(text).toBe("Good.")
    expect(await pawl.conversations.get(conversationId)).toMatchObject({ model: "good", provider: "acme" })
    await expect(pawl.ask("Hi.", { model: "best" })).rejects.toThrow(/no model "best".*fast, good/)
  })

  test("a single one, which answers to no other name", async () => {
    await using pawl = await open(scripted(says("Hello.")))
    const asked = pawl.ask("Hi.", { model: "gpt-9" })
    await expect(asked).rejects.toSatisfy((error) => hasCode(error, "unknown_model"))
    await expect(asked).rejects.toThrow(/no model "gpt-9".*Models: scripted/)
    const { conversationId } = await pawl.ask("Hi.", { model: "scripted" })
    await expect(pawl.conversations.change(conversationId, { model: "gpt-9" })).rejects.toThrow(/Models: scripted/)
  })

  test("a language model, with settings that it does not have itself", async () => {
    await using server = await speaking("Yes.")
    const model = toModel(languageModel(server), { name: "acme", contextTokens: 9000 })
    expect(model).toMatchObject({ name: "acme", provider: "acme", contextTokens: 9000, price: null })
    await using pawl = await open(model)
    expect((await pawl.ask("Hi.")).text).toBe("Yes.")
  })
})

describe("an invalid setting is reported when Pawl opens", () => {
  test.each<[what: string, models: unknown, says: RegExp]>([
    ["a key that is not set", { openai: { apiKey: undefined } }, /^models\.openai: OpenAI needs \{ apiKey/],
    ["an address that is none", { ollama: { baseUrl: " " } }, /^models\.ollama: Ollama needs its address/],
    ["a name without a model", { fast: {} }, /^models\.fast: pass a language model/],
    ["nothing", undefined, /^models: pass a language model/],
    ["a name alone", "openai/gpt-5", /^models: pass a language model/],
    ["an older language model", { specificationVersion: "v2", doStream() {}, modelId: "old", provider: "x" }, /v2.*v4/],
  ])("%s", async (_what, models, says) => {
    await expect(open(models as Models)).rejects.toThrow(says)
  })

  test("two agents with the same name, and no agents", async () => {
    const models = scripted()
    const twice = [{ name: "a" }, { name: "a" }]
    await expect(openPawl({ store: ":memory:", models, agents: twice })).rejects.toThrow(/two are called "a"/)
    await expect(openPawl({ store: ":memory:", models, agents: [] })).rejects.toThrow(/name at least one/)
  })

  test("a provider without a known model or a default", async () => {
    await using pawl = await open({ azure: { apiKey: "k", baseUrl: "https://name.openai.azure.com" } })
    const asked = pawl.ask("Hi.")
    await expect(asked).rejects.toSatisfy((error) => hasCode(error, "no_model_selected"))
    await expect(asked).rejects.toThrow("or set models.default for all") // no variable counts in a program
  })
})

test("an error message never contains a key", async () => {
  await using server = await ProviderServer.open((response) => {
    response.writeHead(401, { "content-type": "application/json" })
    response.end(JSON.stringify({ error: { message: "Incorrect API key provided: sk-secret" } }))
  })
  const access = { apiKey: "sk-secret", baseUrl: `${server.url}/v1` }
  await using pawl = await open({ openai: access, default: "openai/m" })
  const answer = await pawl.ask("Hi.")
  expect(answer).toMatchObject({ status: "failed", error: { code: "auth" } })
  expect(JSON.stringify(answer)).not.toContain("sk-secret")
})

test("closing cancels the request for an endpoint's models", async () => {
  const left = Promise.withResolvers<void>()
  await using server = await openLists((response, { path }) => {
    if (path.endsWith("/models")) response.once("close", left.resolve)
    else streamHead(response).end(chatReply("Hello."))
  })
  const pawl = await open({ vllm: { baseUrl: server.url }, default: "vllm/m" })
  expect(await pawl.ask("Hi.")).toMatchObject({ text: "Hello." })
  expect(server.received.map(({ path }) => path)).toContain("/v1/models")
  await pawl.close()
  await left.promise
})

test("another model writes titles, and another one summarizes", async () => {
  const chat = Object.assign(scripted(always(says("word ".repeat(400)))), { contextTokens: 3000 })
  const [titles, summaries] = [scripted(always(says("On words"))), scripted(always(says("Many words were said.")))]
  const models = { chat, titles, summaries }
  await using pawl = await openPawl({ store: ":memory:", models, titleModel: "titles", summaryModel: "summaries" })
  const { conversationId: conversation } = await pawl.ask("Words, please.")
  await expect.poll(async () => (await pawl.conversations.get(conversation)).title).toBe("On words")
  for (let times = 0; times < 6 && summaries.received.length === 0; times++) await pawl.ask("More.", { conversation })
  expect(summaries.received.length).toBeGreaterThan(0)
  for (const option of ["titleModel", "summaryModel"])
    await expect(openPawl({ store: ":memory:", models, [option]: "none at all" })).rejects.toThrow(/none at all/)
})
