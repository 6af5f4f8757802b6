import { expect, test } from "vitest"
import { openLists } from "../providers/server.fixture.ts"
import { connectTo, type ModelSettings } from "../providers/settings.ts"
import { JsonClient } from "./json-client.ts"
import { readList } from "./local-lists.ts"

/** The contents of a server by path. Any other path is a 404. */
type Pages = Readonly<Record<string, unknown>>

/** The list of a provider whose server has these pages, and what it was asked. */
async function listOf(provider: string, settings: (url: string) => ModelSettings, pages: Pages) {
  await using server = await openLists((response, { path, body }) => {
    const model = (body as { model?: string } | null)?.model
    const page = pages[model === undefined ? path : `${path} ${model}`]
    response.writeHead(page === undefined ? 404 : 200, { "content-type": "application/json" })
    response.end(JSON.stringify(page ?? { error: "not found" }))
  })
  const connection = connectTo(provider, settings(server.url))
  if ("need" in connection || !connection.listing) throw new Error("it lists nothing")
  const { listing } = connection
  const fetch: typeof globalThis.fetch = (input, init) =>
    globalThis.fetch(String(input).replace("https://openrouter.ai", server.url), init)
  const client = new JsonClient({ fetch, listing }, new AbortController().signal)
  const { models, leftOut } = await readList[listing.shape](listing, client)
  const asked = server.received.map(({ path }) => path)
  return { models, leftOut, asked, keys: server.received.map(({ headers }) => headers.authorization) }
}

const shown = (length: number, capabilities: readonly string[], parameters = "") => ({
  ...{ license: "…", modelfile: "FROM x", parameters, template: "{{ .Prompt }}" },
  model_info: { "general.architecture": "llama", "llama.context_length": length, "llama.block_count": 32 },
  capabilities,
})

test("the first hundred of a long Ollama list are read", async () => {
  const models = [...Array.from({ length: 100 }, (_, at) => ({ name: at })), { name: "late:1b" }]
  const { asked } = await listOf("ollama", (url) => ({ ollamaHost: url }), { "/api/tags": { models } })
  expect(asked).toEqual(["/api/tags", "/api/ps"])
})

test("Ollama reports the abilities of its models, and the window of loaded ones or of those whose Modelfile sets it", async () => {
  const { models, asked } = await listOf("ollama", (url) => ({ ollamaHost: url }), {
    "/api/tags": {
      models: [
        { name: "llama3.3:latest", model: "llama3.3:latest", size: 1, details: { family: "llama" } },
        { name: "written:8b" },
        { name: "idle:8b" },
        { name: "nomic-embed-text:latest" },
        { name: "gone:1b" },
      ],
    },
    "/api/ps": { models: [{ name: "llama3.3:latest", size_vram: 1, context_length: 4096 }] },
    "/api/show llama3.3:latest": shown(131_072, ["completion", "tools"]),
    "/api/show written:8b": shown(40_960, ["completion", "vision", "thinking"], 'stop "<x>"\nnum_ctx 16384'),
    "/api/show idle:8b": shown(8192, ["completion", "tools"]),
    "/api/show nomic-embed-text:latest": shown(2048, ["embedding"]),
  })
  const can = { tools: true, images: false, files: false, reasoning: false }
  expect(models).toEqual([
    { id: "llama3.3:latest", contextTokens: 4096, maxContextTokens: 131_072, can },
    {
      ...{ id: "written:8b", contextTokens: 16_384, maxContextTokens: 40_960 },
      can: { tools: false, images: true, files: false, reasoning: true },
    },
    { id: "idle:8b", contextTokens: undefined, maxContextTokens: 8192, can },
    { id: "gone:1b", contextTokens: undefined, can: {} },
  ])
  expect(asked.slice(0, 2)).toEqual(["/api/tags", "/api/ps"])
})

test("an Ollama behind a path and a key is asked there, with the key", async () => {
  const { models, asked, keys } = await listOf(
    "ollama",
    (url) => ({ ollamaHost: `${url}/models/v1`, ollamaApiKey: "k" }),
    { "/models/api/tags": { models: [] } },
  )
  expect(models).toEqual([])
  expect(asked).toEqual(["/models/api/tags", "/models/api/ps"])
  expect(new Set(keys)).toEqual(new Set(["Bearer k"]))
})

test("LM Studio reports the window of a loaded model, and the maximum of others", async () => {
  const { models, asked } = await listOf("lmstudio", (url) => ({ lmStudioEndpoint: url }), {
    "/api/v0/models": {
      object: "list",
      data: [
        {
          ...{ id: "qwen/qwen3-8b", object: "model", type: "llm", publisher: "qwen", arch: "qwen3", state: "loaded" },
          ...{ max_context_length: 40_960, loaded_context_length: 8192, capabilities: ["tool_use"] },
        },
        { id: "qwen2-vl-7b-instruct", type: "vlm", state: "not-loaded", max_context_length: 32_768 },
        { id: "text-embedding-nomic-embed-text-v1.5", type: "embeddings", max_context_length: 2048 },
      ],
    },
  })
  expect(asked).toEqual(["/api/v0/models"])
  expect(models).toEqual([
    {
      ...{ id: "qwen/qwen3-8b", contextTokens: 8192, maxContextTokens: 40_960 },
      can: { tools: true, images: false, files: false },
    },
    {
      ...{ id: "qwen2-vl-7b-instruct", contextTokens: undefined, maxContextTokens: 32_768 },
      can: { images: true, files: false },
    },
  ])
})

test.each([
  ["has no such page", {}],
  ["answers any page with an error", { "/api/v0/models": { error: "Unexpected endpoint or method." } }],
])("an LM Studio that %s is asked as everybody else", async (_, pages) => {
  const { models, asked } = await listOf("lmstudio", (url) => ({ lmStudioEndpoint: url }), {
    ...pages,
    "/v1/models": { object: "list", data: [{ id: "old-model", object: "model", owned_by: "organization_owner" }] },
  })
  expect(asked).toEqual(["/api/v0/models", "/v1/models"])
  expect(models).toEqual([{ id: "old-model", contextTokens: undefined, can: {} }])
})

const routed = (id: string, more: object) => ({
  ...{ id, canonical_slug: id, name: id, created: 1, description: "…", context_length: 200_000 },
  architecture: { modality: "text->text", input_modalities: ["text"], output_modalities: ["text"], tokenizer: "GPT" },
  pricing: { prompt: "0.000003", completion: "0.000015", request: "0", image: "0", web_search: "0" },
  ...{ top_provider: { context_length: 200_000, is_moderated: true }, per_request_limits: null },
  supported_parameters: ["temperature", "tools", "tool_choice"],
  ...more,
})

test("OpenRouter reports prices, windows and abilities, on any number of pages", async () => {
  const pricing = {
    prompt: "0.000003",
    completion: "0.000015",
    input_cache_read: "3e-7",
    input_cache_write: "0.00000375",
  }
  const { models, leftOut, asked, keys } = await listOf("openrouter", () => ({ openrouterApiKey: "sk-or" }), {
    "/api/v1/models": {
      data: [
        routed("anthropic/claude-x", {
          pricing,
          architecture: { input_modalities: ["text", "image", "file"], output_modalities: ["text"] },
          supported_parameters: ["tools", "reasoning", "include_reasoning"],
        }),
        routed("meta/free:free", { pricing: { prompt: "0", completion: "0" }, supported_parameters: ["temperature"] }),
        routed("small/provider", { top_provider: { context_length: 32_768 } }),
        routed("openrouter/auto", { pricing: { prompt: "-1", completion: "-1" } }),
        routed("by/request", { pricing: { prompt: "0.000001", completion: "0.000001", request: "0.005" } }),
        routed("draws/pictures", { architecture: { output_modalities: ["image"] } }),
      ],
      links: { next: "https://elsewhere.example/api/v1/models?offset=500&limit=500" },
      total_count: 7,
    },
    "/api/v1/models?offset=500": { data: [routed("on/the-next-page", {})], links: { next: null } },
  })
  expect(asked).toEqual(["/api/v1/models", "/api/v1/models?offset=500"])
  expect(keys).toEqual(["Bearer sk-or", "Bearer sk-or"])
  expect(leftOut).toBe(0)
  expect(models.map(({ id, contextTokens, price }) => [id, contextTokens, price])).toEqual([
    ["anthropic/claude-x", 200_000, { input: 3, output: 15, cached: 0.3, cacheWrite: 3.75 }],
    ["meta/free:free", 200_000, { input: 0, output: 0 }],
    ["small/provider", 32_768, { input: 3, output: 15 }],
    ["openrouter/auto", 200_000, undefined],
    ["by/request", 200_000, undefined],
    ["on/the-next-page", 200_000, { input: 3, output: 15 }],
  ])
  expect(models.slice(0, 2).map(({ can }) => can)).toEqual([
    { tools: true, images: true, files: true, reasoning: true },
    { tools: false, images: false, files: false, reasoning: false },
  ])
})

test("prices of other addresses are ignored, even in OpenRouter's format", async () => {
  const { models } = await listOf("openrouter", (url) => ({ openrouterApiKey: "k", openrouterBaseUrl: `${url}/v1` }), {
    "/v1/models": { data: [routed("a/b", {})] },
  })
  expect(models[0]).toMatchObject({ id: "a/b", contextTokens: 200_000 })
  expect(models[0]).not.toHaveProperty("price")
})

test("vLLM reports the window of its models", async () => {
  const { models } = await listOf("vllm", (url) => ({ vllmEndpoint: url }), {
    "/v1/models": {
      data: [{ id: "Qwen/Qwen3-8B", object: "model", owned_by: "vllm", root: "Qwen/Qwen3-8B", max_model_len: 40_960 }],
    },
  })
  expect(models).toEqual([{ id: "Qwen/Qwen3-8B", contextTokens: 40_960, can: {} }])
})

test("llama.cpp reports the window of its model, and whether its template supports tools", async () => {
  const entry = (id: string) => ({
    id,
    object: "model",
    owned_by: "llamacpp",
    meta: { n_ctx_train: 131_072, n_params: 1 },
  })
  const props = {
    default_generation_settings: { n_ctx: 8192, params: {} },
    modalities: { vision: true, audio: false },
    chat_template_caps: { supports_tools: false, supports_tool_calls: false },
  }
  const settings = (url: string) => ({ llamacppEndpoint: url })
  const one = await listOf("llamacpp", settings, { "/v1/models": { data: [entry("one.gguf")] }, "/props": props })
  expect(one.models).toEqual([
    { id: "one.gguf", contextTokens: 8192, maxContextTokens: 131_072, can: { tools: false, images: true } },
  ])
  // With several models, it is unknown which one the properties describe.
  const two = await listOf("llamacpp", settings, { "/v1/models": { data: [entry("a"), entry("b")] }, "/props": props })
  expect(two.asked).toEqual(["/v1/models"])
  expect(two.models[0]).toEqual({ id: "a", contextTokens: undefined, maxContextTokens: 131_072, can: {} })
})

test("additional facts of Mistral and Groq are understood, and models without text are left out", async () => {
  const { models } = await listOf("groq", (url) => ({ groqApiKey: "k", groqBaseUrl: `${url}/openai/v1` }), {
    "/openai/v1/models": {
      data: [
        { id: "llama-3.3-70b", active: true, context_window: 131_072 },
        { id: "retired", active: false, context_window: 8192 },
        {
          ...{ id: "mistral-large-latest", max_context_length: 128_000 },
          capabilities: { completion_chat: true, function_calling: true, vision: false },
        },
        { id: "mistral-embed", capabilities: { completion_chat: false } },
      ],
    },
  })
  expect(models).toEqual([
    { id: "llama-3.3-70b", contextTokens: 131_072, can: {} },
    { id: "mistral-large-latest", contextTokens: 128_000, can: { tools: true, images: false } },
  ])
})

test.each(["openai", "anthropic", "google", "azure"])(
  "%s itself is not asked: the catalogue knows its models",
  (name) => {
    const settings = { openaiApiKey: "k", anthropicApiKey: "k", geminiApiKey: "k", azureOpenaiApiKey: "k" }
    const connection = connectTo(name, { ...settings, azureOpenaiEndpoint: "https://a.openai.azure.com" })
    expect(connection).not.toHaveProperty("need")
    expect(connection).not.toHaveProperty("listing")
  },
)
