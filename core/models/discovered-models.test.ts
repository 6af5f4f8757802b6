import { expect, test } from "vitest"
import { TurnedClock } from "../engine/turned-clock.fixture.ts"
import type { UserId } from "../protocol/ids.ts"
import { countWork } from "../../test/support/worked.ts"
import { DiscoveredModels } from "./discovered-models.ts"
import { EndpointLists } from "./discovery/endpoint-lists.ts"
import { OutboundPolicy } from "./network/outbound-policy.ts"
import type { PersonalAccess } from "./personal-endpoint.ts"
import { PersonalModels } from "./personal-models.ts"
import { ProviderTable } from "./providers/provider-table.ts"
import { readEndpoints } from "./providers/endpoints/read-endpoints.ts"
import { openLists } from "./providers/server.fixture.ts"
import { ModelRegistry, type RegistryOptions } from "./registry.ts"
import type { ModelSettings } from "./providers/settings.ts"

const [ada, bob] = ["user_ada" as UserId, "user_bob" as UserId]

/** A server that has these models in the list of chat completions. */
const serving = (...data: readonly object[]) => openLists((response) => response.end(JSON.stringify({ data })))

function registryOf(settings: ModelSettings, options: RegistryOptions & { readonly needsPrices?: boolean } = {}) {
  const clock = new TurnedClock()
  const { needsPrices = false, ...others } = options
  const lists = { lists: new EndpointLists(clock), needsPrices }
  return { clock, registry: new ModelRegistry(settings, { clock, lists, ...others }) }
}

const named = (registry: ModelRegistry, name: string) => registry.list().find((model) => model.name === name)

test("a list sends no request, `look` asks endpoints, and a caller that waits gets their answers", async () => {
  await using server = await serving({ id: "Qwen/Qwen3-8B", max_model_len: 40_960 })
  const { registry } = registryOf({ vllmEndpoint: server.url })
  expect(named(registry, "vllm/Qwen/Qwen3-8B")).toBeUndefined()
  expect(server.received).toEqual([])
  const seen = await registry.look()
  expect(seen.endpoints).toMatchObject([{ provider: "vllm", state: "asking", models: 0 }])
  const { items, endpoints } = await registry.look({ waitMs: 5000 })
  expect(endpoints).toMatchObject([{ provider: "vllm", state: "answered", models: 1 }])
  expect(items.find(({ provider }) => provider === "vllm")).toEqual({
    ...{ name: "vllm/Qwen/Qwen3-8B", provider: "vllm", id: "Qwen/Qwen3-8B", aliases: [], features: ["tools"] },
    ...{ contextTokens: 40_960, available: true, need: null, price: { input: 0, output: 0 } },
    can: { tools: true, images: false, files: false, reasoning: false },
    sources: {
      ...{ contextTokens: "endpoint", price: "assumed" },
      ...{ tools: "assumed", images: "assumed", files: "assumed", reasoning: "assumed" },
    },
  })
  expect(server.received).toHaveLength(1)
})

test("a caller waits no longer than requested", async () => {
  await using server = await openLists(() => {})
  const { registry, clock } = registryOf({ vllmEndpoint: server.url })
  const looking = registry.look({ waitMs: 2000 })
  await expect.poll(() => server.received.length).toBe(1)
  clock.turn(2000)
  expect((await looking).endpoints).toMatchObject([{ provider: "vllm", state: "asking" }])
})

test("a model of the catalogue or the operator is listed once, with its endpoint's facts", async () => {
  await using server = await serving(
    { id: "qwen/qwen3-8b", type: "llm", loaded_context_length: 8192 },
    { id: "other", type: "llm" },
    { id: "org/large", context_length: 100_000, pricing: { prompt: "0", completion: "0" } },
  )
  const models = [{ id: "org/large", contextTokens: 64_000, price: { input: 1, output: 4 } }, { id: "org/small" }]
  const endpoints = readEndpoints(
    JSON.stringify([{ name: "gateway", kind: "openai", baseUrl: `${server.url}/v1`, models }]),
    {},
  )
  const { registry } = registryOf({ lmStudioEndpoint: server.url, endpoints })
  const { items } = await registry.look({ waitMs: 5000 })
  expect(items.map(({ name }) => name).filter((name) => /qwen3|other|org/.test(name))).toEqual([
    ...["gateway/org/large", "gateway/org/small", "qwen/qwen3-8b"],
    ...["lmstudio/org/large", "lmstudio/other", "gateway/other", "gateway/qwen/qwen3-8b"],
  ])
  expect(named(registry, "qwen/qwen3-8b")).toMatchObject({
    contextTokens: 8192,
    sources: { contextTokens: "endpoint" },
  })
  expect(named(registry, "gateway/org/large")).toMatchObject({
    ...{ contextTokens: 64_000, price: { input: 1, output: 4 } },
    sources: { contextTokens: "operator", price: "operator", tools: "assumed" },
  })
  expect(named(registry, "gateway/org/small")).toMatchObject({ sources: { contextTokens: "assumed" } })
  expect(named(registry, "gateway/org/small")).not.toHaveProperty("price")
})

test("a model of unknown size is opened at once, its endpoint is asked meanwhile, and the next request uses its answer", async () => {
  let loaded = false
  await using server = await openLists((response, { path }) => {
    const tags = { models: [{ name: "llama3.3:latest" }] }
    const ps = { models: loaded ? [{ name: "llama3.3:latest", context_length: 4096 }] : [] }
    const show = { capabilities: ["completion", "tools"], model_info: {} }
    response.end(JSON.stringify({ "/api/tags": tags, "/api/ps": ps, "/api/show": show }[path] ?? {}))
  })
  const { registry, clock } = registryOf({ ollamaHost: server.url })
  const answered = () => expect.poll(async () => (await registry.look()).endpoints[0]?.state).toBe("answered")
  const first = await registry.get("ollama/llama3.3")
  expect(first.contextTokens).toBe(32_768)
  await answered()
  expect(await registry.get("ollama/llama3.3")).toBe(first)
  // It is loaded with the first question; half a minute later its server is asked once more.
  loaded = true
  clock.turn(30_000)
  expect(await registry.get("ollama/llama3.3")).toBe(first)
  await answered()
  await expect.poll(async () => (await registry.get("ollama/llama3.3")).contextTokens).toBe(4096)
  expect(first.contextTokens).toBe(32_768)
})

test("a model without tools is reported as such, unless that is only assumed", async () => {
  const known = { capabilities: ["completion"], model_info: {} }
  await using server = await openLists((response, { path }) =>
    response.end(JSON.stringify(path === "/api/tags" ? { models: [{ name: "gemma:2b" }] } : known)),
  )
  const { registry } = registryOf({ ollamaHost: server.url })
  await registry.look({ waitMs: 5000 })
  expect((await registry.get("ollama/gemma:2b")).takesTools).toBe(false)
  expect((await registry.get("ollama/other")).takesTools).toBeUndefined()
})

const routed = { id: "a/b", context_length: 64_000, pricing: { prompt: "0.000002", completion: "0.000008" } }

test("OpenRouter's price is awaited if a spending limit needs it, and otherwise not", async () => {
  await using server = await serving(routed)
  const fetch: typeof globalThis.fetch = (input, init) =>
    globalThis.fetch(String(input).replace("https://openrouter.ai", server.url), init)
  const free = registryOf({ openrouterApiKey: "k" }, { fetch })
  expect(await free.registry.get("openrouter/a/b")).toMatchObject({ contextTokens: 128_000, price: null })
  const held = registryOf({ openrouterApiKey: "k" }, { fetch, needsPrices: true })
  expect(await held.registry.get("openrouter/a/b")).toMatchObject({
    ...{ contextTokens: 64_000, price: { input: 2, output: 8 }, paidBy: "shared" },
  })
  await held.registry.look({ waitMs: 5000 })
  expect(named(held.registry, "openrouter/a/b")).toMatchObject({ sources: { price: "endpoint" } })
})

/** People with what each has stored. */
function personal(
  settings: ModelSettings,
  stored: Record<string, Record<string, PersonalAccess>>,
  reach = new OutboundPolicy(["127.0.0.1"]),
) {
  const keys = {
    read: async (user: UserId) => ({
      version: stored[user] ? JSON.stringify(stored[user]) : "",
      open: async () => new Map(Object.entries(stored[user] ?? {})),
    }),
  }
  return new PersonalModels(settings, { keys, sharedKeys: true, reach })
}

test("a person's own endpoint is asked with their key, and its answer is visible to them alone and affects no shared price", async () => {
  await using own = await serving({ ...routed, id: "mine" })
  await using shared = await serving({ id: "everybodys" })
  const access = { apiKey: "adas", baseUrl: `${own.url}/v1` }
  const models = personal(
    { vllmEndpoint: shared.url, openrouterApiKey: "operators", openrouterBaseUrl: `${shared.url}/v1` },
    { [ada]: { openrouter: access, openai: access } },
  )
  const told = async (user: UserId) => {
    const { items } = await models.look(user, { waitMs: 5000 })
    return items.filter(({ name }) => /mine|everybodys/.test(name)).map(({ name, price }) => [name, price?.input])
  }
  const alone = [
    ["openai/mine", undefined],
    ["openrouter/mine", undefined],
  ]
  expect(await told(ada)).toEqual([...alone, ["vllm/everybodys", 0]])
  expect(await told(bob)).toEqual([
    ["openrouter/everybodys", undefined],
    ["vllm/everybodys", 0],
  ])
  expect(own.received.map(({ headers }) => headers.authorization)).toEqual(["Bearer adas", "Bearer adas"])
  // A shared list is requested once for all, and never with a person's key.
  expect(shared.received.map(({ headers }) => headers.authorization).toSorted()).toEqual([
    "Bearer operators",
    undefined,
  ])
})

test("a person's forbidden address is not asked, and reported", async () => {
  await using own = await serving({ id: "mine" })
  const models = personal({}, { [ada]: { ollama: { baseUrl: own.url } } }, new OutboundPolicy())
  const { endpoints } = await models.look(ada, { waitMs: 5000 })
  expect(endpoints).toMatchObject([
    { provider: "ollama", state: "failed", problem: "its address may not be reached from this server" },
  ])
  expect(own.received).toEqual([])
})

test("a list of very many models resolves each endpoint's access once", () => {
  const models = Array.from({ length: 200 }, (_, at) => ({ id: `listed-${at}` }))
  const given = Array.from({ length: 50 }, (_, at) => ({
    ...{ name: `e-${at}`, kind: "openai", baseUrl: "http://x/v1", models },
  }))
  const table = new ProviderTable(readEndpoints(JSON.stringify(given), {}))
  const told = new Map(Array.from({ length: 200 }, (_, at) => [`told-${at}`, { id: `told-${at}`, can: {} }]))
  const lists = new EndpointLists(new TurnedClock())
  lists.modelsOf = () => told
  let reached = 0
  const listing = { shape: "chat", base: "http://x", query: "", headers: {}, hasPrices: false } as const
  const discovered = new DiscoveredModels({ lists }, table, (provider) => {
    reached++
    return provider.startsWith("e-") ? { listing, fetch: globalThis.fetch, isOwn: true } : undefined
  })
  const worked = countWork()
  expect(discovered.all().length).toBeGreaterThan(20_000)
  expect(reached).toBe(table.names.length)
  expect(worked()).toBeLessThan(400)
})

test("a model of a person's endpoint is counted without the endpoint's name", async () => {
  const baseUrl = "http://127.0.0.1:9/v1"
  const endpoint = { kind: "openai" } as const
  const models = personal(
    { openaiApiKey: "k" },
    { [ada]: { "adas-diary": { baseUrl, endpoint }, openai: { apiKey: "o" } } },
  )
  expect(await models.get("adas-diary/m", ada)).toMatchObject({ provider: "adas-diary", countedAs: "own" })
  expect((await models.get("openai/gpt-5", ada)).countedAs).toBeUndefined()
  expect(await models.providerOf("adas-diary/m", ada)).toBe("adas-diary")
  expect(await models.providerOf("adas-diary/m", bob)).toBeNull()
})
