import { describe, expect, test } from "vitest"
import { OutboundPolicy } from "../../core/models/network/outbound-policy.ts"
import type { NamedEndpoint } from "../../core/models/providers/endpoints/named-endpoint.ts"
import { readEndpoints } from "../../core/models/providers/endpoints/read-endpoints.ts"
import { chatReply, collect, ProviderServer, streamHead } from "../../core/models/providers/server.fixture.ts"
import { ModelRegistry } from "../../core/models/registry.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { scripted } from "../../core/testing.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"

const KEY = "key-6b1d0c4f8e2a9753"
const TENANT = "tenant-3f7a9c1e5b8d2046"
const environment = { ACME_KEY: KEY, ACME_TENANT: TENANT }

const answering = () => ProviderServer.open((response) => streamHead(response).end(chatReply("Hi")))

const endpointsAt = (url: string, variables: object = environment): readonly NamedEndpoint[] =>
  readEndpoints(
    JSON.stringify([
      {
        ...{ name: "acme", kind: "openai", baseUrl: url, apiKeyEnv: "ACME_KEY" },
        headers: { "X-Tenant": "${ACME_TENANT}" },
        models: [{ id: "org/large", alias: "large", contextTokens: 64_000, price: { input: 1, output: 4 } }],
      },
      {
        name: "claude-proxy",
        kind: "anthropic",
        baseUrl: `${url}/a`,
        headers: { Authorization: "Bearer ${ACME_KEY}" },
      },
      { name: "strict", kind: "openai", baseUrl: url, quirks: { countsUnasked: true } },
    ]),
    variables as Record<string, string>,
  )

describe("an endpoint with a name", () => {
  const registryAt = (url: string, variables?: object) =>
    new ModelRegistry({ endpoints: endpointsAt(url, variables) }, { retry: { retries: 0 } })

  test.each([
    ["acme/org/large", "acme/org/large", "org/large"],
    ["large", "acme/org/large", "org/large"],
    ["ACME/other/model", "acme/other/model", "other/model"],
  ])("is asked for %s with its key and its headers", async (name, full, id) => {
    await using server = await answering()
    const model = await registryAt(server.url).get(name)
    expect(model).toMatchObject({ name: full, provider: "acme", paidBy: "shared" })
    expect(await collect(model)).toMatchObject([{ type: "text", text: "Hi" }, { type: "finish" }])
    const [{ path, headers, body } = {} as never] = server.received
    expect([path, body.model, body.stream_options]).toEqual(["/v1/chat/completions", id, { include_usage: true }])
    expect(headers).toMatchObject({ authorization: `Bearer ${KEY}`, "x-tenant": TENANT })
  })

  test("may speak Anthropic's messages, with a header in place of a key", async () => {
    await using server = await answering()
    await collect(await registryAt(server.url).get("claude-proxy/claude-x")).catch(() => {})
    const [{ path, headers, body } = {} as never] = server.received
    expect([path, body.model]).toEqual(["/a/v1/messages", "claude-x"])
    expect(headers).toMatchObject({ authorization: `Bearer ${KEY}`, "anthropic-version": "2023-06-01" })
    expect(headers).not.toHaveProperty("x-api-key")
    expect(body).not.toHaveProperty("cache_control")
  })

  test("may have quirks", async () => {
    await using server = await answering()
    await collect(await registryAt(server.url).get("strict/m"))
    expect(server.received[0]?.body).not.toHaveProperty("stream_options")
  })

  test("has the price and the context that the operator set, and no other", async () => {
    const registry = registryAt("http://127.0.0.1:9")
    expect(await registry.get("large")).toMatchObject({ price: { input: 1, output: 4 }, contextTokens: 64_000 })
    expect(await registry.get("acme/other")).toMatchObject({ price: null, contextTokens: 128_000 })
  })

  test("names the missing variable, and gets no request", async () => {
    const registry = registryAt("http://127.0.0.1:9", { ACME_KEY: KEY })
    await expect(registry.get("large")).rejects.toMatchObject({ code: "not_configured" })
    await expect(registry.get("large")).rejects.toThrow("set ACME_TENANT")
  })

  test("provides the default model, and is among the choices if a name is unknown", async () => {
    const registry = registryAt("http://127.0.0.1:9")
    expect(await registry.defaultName()).toBe("acme/org/large")
    expect(() => registry.resolve("nobody/x")).toThrow(/acme\/<model>/)
    expect(() => new ModelRegistry({}).resolve("acme/org/large")).toThrow(/no model/)
  })
})

describe.each(anyDatabase)("endpoints with names on $name", ({ create }) => {
  const open = (url: string, endpoints: readonly NamedEndpoint[], sharedKeys = true) =>
    Face.open({
      ...{ url, model: scripted(), reach: new OutboundPolicy(["127.0.0.1"]), sharedKeys },
      ...{ personal: { endpoints }, providerCalls: { retry: { retries: 0 } } },
    })

  test("are listed and used like any other, and a user cannot set a key for them", async () => {
    await using database = await create()
    await using server = await answering()
    await using face = await open(database.url, endpointsAt(server.url, { ACME_KEY: KEY }))
    const ada = await face.as("ada")
    const { items } = (await ada.get("/api/providers")).body
    const shown = { operatorOnly: true, source: null, configured: false, need: "set ACME_TENANT" }
    expect(items.slice(-3)).toEqual([
      { name: "acme", ...shown },
      { name: "claude-proxy", configured: true, source: "shared", need: null, operatorOnly: true },
      { name: "strict", configured: true, source: "shared", need: null, operatorOnly: true },
    ])
    expect(items[0]).not.toHaveProperty("operatorOnly")
    const refused = await ada.put("/api/providers/acme", { apiKey: "mine" })
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("Only the operator can set")])
    expect((await ada.delete("/api/providers/acme")).status).toBe(404)

    const models = (await ada.get("/api/models")).body.items
    expect(models[0]).toMatchObject({ name: "acme/org/large", provider: "acme", aliases: ["large"], available: false })
    const id = await ada.begin({ model: "strict/m", agent: "test" })
    expect((await ada.say(id, "Hello.")).body.run.status).toBe("completed")
    // A user with a key for another provider can use them as well.
    await ada.put("/api/providers/openai", { apiKey: "own", baseUrl: server.url })
    expect((await ada.say(id, "Again.")).body.run.status).toBe("completed")
    expect(server.received.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined])
  })

  test("are not listed if shared keys are switched off", async () => {
    await using database = await create()
    await using face = await open(database.url, endpointsAt("http://127.0.0.1:9"), false)
    const ada = await face.as("ada")
    expect((await ada.get("/api/providers/acme")).status).toBe(404)
    expect((await ada.post("/api/conversations", { model: "acme/org/large" })).body.code).toBe("unknown_model")
  })

  test("keep the values of their headers secret, whatever an endpoint quotes", async () => {
    await using database = await create()
    await using server = await ProviderServer.open((response, { headers, path }) => {
      const said = `Who is ${headers["x-tenant"]} with ${headers.authorization} (${KEY.slice(0, 12)}…)?`
      response.writeHead(path.startsWith("/v1") ? 401 : 500, { "content-type": "application/json" })
      response.end(JSON.stringify({ type: "error", error: { type: "api_error", message: said } }))
    })
    await using face = await open(database.url, endpointsAt(server.url))
    const ada = await face.as("ada")
    const told: string[] = []
    for (const model of ["large", "claude-proxy/m"]) {
      const id = await ada.begin({ model, agent: "test" })
      const { body, text } = await ada.say(id, "Hello.")
      expect(body.run.status).toBe("failed")
      told.push(
        text,
        JSON.stringify(await face.store.journal.read(id as ConversationId)),
        (await ada.get(`/api/conversations/${id}`)).text,
      )
    }
    for (const path of ["/api/providers", "/api/models", "/api/export"]) told.push((await ada.get(path)).text)
    expect(JSON.stringify(server.received)).toContain(TENANT) // it did get it
    const all = [...told, JSON.stringify(face.logged, (_, value) => (value instanceof Error ? value.stack : value))]
    expect(all.join("\n")).toContain("Who is [hidden]")
    for (const secret of [KEY, TENANT]) {
      expect(all.filter((text) => text.includes(secret.slice(0, 10)))).toEqual([])
    }
  })
})
