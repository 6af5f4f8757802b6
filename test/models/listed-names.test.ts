import { scripted } from "../../core/testing.ts"
import { describe, expect, test } from "vitest"
import { systemClock } from "../../core/shared/time/clock.ts"
import { EndpointLists } from "../../core/models/discovery/endpoint-lists.ts"
import { openLists } from "../../core/models/providers/server.fixture.ts"
import { ModelRegistry } from "../../core/models/registry.ts"

const serving = (...ids: readonly string[]) =>
  openLists((response, { path }) => {
    const data = ids.map((id) => ({ id }))
    response.writeHead(path.endsWith("/v1/models") ? 200 : 404).end(JSON.stringify({ data }))
  })

const registryOf = (settings: ConstructorParameters<typeof ModelRegistry>[0]) =>
  new ModelRegistry(settings, {
    offline: async () => scripted(),
    lists: { lists: new EndpointLists(systemClock) },
    retry: { retries: 0 },
  })

const LOCAL = ["qwen3-8b", "gemma-3-4b", "text-embedding-nomic"]

describe("a model server that lists its models", () => {
  test.each([
    ["qwen3-8b", LOCAL, "lmstudio/qwen3-8b"],
    ["gemma-3-4b", LOCAL, "lmstudio/gemma-3-4b"],
    ["qwen3-8b", ["qwen/qwen3-8b"], "qwen/qwen3-8b"],
    ["qwen3-8b", ["qwen/qwen3-8b", "qwen3-8b"], "lmstudio/qwen3-8b"],
    ["qwen", ["qwen/qwen3-8b"], "qwen/qwen3-8b"],
  ])("is asked before %s is looked up: with %j it means %s", async (name, ids, meant) => {
    await using server = await serving(...ids)
    const settings = { lmStudioEndpoint: server.url }
    expect((await registryOf(settings).get(name)).name).toBe(meant)
    expect(await registryOf({ ...settings, defaultModel: name }).defaultName()).toBe(meant)
  })

  test("offers no preset that it does not list, and no embedder", async () => {
    await using server = await serving(...LOCAL)
    const { items } = await registryOf({ lmStudioEndpoint: server.url }).look({ waitMs: 5000 })
    expect(items.flatMap(({ name, available }) => (available ? [name] : []))).toEqual([
      ...["offline", "lmstudio/gemma-3-4b", "lmstudio/qwen3-8b"],
    ])
    expect(items.find(({ name }) => name === "qwen/qwen3-8b")?.need).toBe(
      "LM Studio does not have it, but it has lmstudio/qwen3-8b, lmstudio/gemma-3-4b",
    )
  })

  test("names the models that it has when a preset is chosen that it does not have", async () => {
    await using server = await serving(...LOCAL)
    await expect(registryOf({ lmStudioEndpoint: server.url }).get("gpt-oss")).rejects.toMatchObject({
      code: "not_configured",
      message: expect.stringContaining("LM Studio does not have it, but it has lmstudio/qwen3-8b"),
    })
    await using empty = await serving()
    await expect(registryOf({ lmStudioEndpoint: empty.url }).get("gpt-oss")).rejects.toThrow(
      "LM Studio does not have it: load it there first",
    )
  })

  test("has its models among those that an error names, and models without a key are not", async () => {
    await using server = await serving(...LOCAL)
    const unknown = registryOf({ lmStudioEndpoint: server.url }).get("zephyr")
    await expect(unknown).rejects.toThrow(
      'There is no model "zephyr". Models: offline, lmstudio/gemma-3-4b, lmstudio/qwen3-8b, lmstudio/<model>.',
    )
  })

  test("makes a name ambiguous that another one lists too: the error names both", async () => {
    await using one = await serving("gemma-3-4b")
    await using other = await serving("gemma-3-4b")
    const both = registryOf({ lmStudioEndpoint: one.url, vllmEndpoint: other.url })
    await expect(both.get("gemma-3-4b")).rejects.toThrow("Did you mean lmstudio/gemma-3-4b or vllm/gemma-3-4b?")
  })

  test("answers before the default is chosen: while it is down no model of it is the default", async () => {
    await expect(registryOf({ lmStudioEndpoint: "http://127.0.0.1:9" }).defaultName()).rejects.toMatchObject({
      code: "no_model_selected",
      message: expect.stringMatching(/lmstudio\/<model> \(it could not be reached\)/),
    })
  })

  test("has its usual models if it answers, but not with a list that can be read", async () => {
    await using server = await openLists((response) => response.end("no list"))
    expect(await registryOf({ lmStudioEndpoint: server.url }).defaultName()).toBe("openai/gpt-oss-20b")
  })
})
