import { describe, expect, test } from "vitest"
import { OutboundPolicy } from "../../core/models/network/outbound-policy.ts"
import { readEndpoints } from "../../core/models/providers/endpoints/read-endpoints.ts"
import { chatReply, ProviderServer, streamHead } from "../../core/models/providers/server.fixture.ts"
import { scripted } from "../../core/testing.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"

const KEY = "canary-4d1f8b6c2e907a53"
const HEADER = "tenant-93ab1c7e5d2f4860"

interface Options {
  readonly reach?: OutboundPolicy
  readonly operators?: readonly object[]
}

const open = (url: string, { reach = new OutboundPolicy(["127.0.0.1"]), operators = [] }: Options = {}) =>
  Face.open({
    ...{ url, model: scripted(), reach, sharedKeys: true, providerCalls: { retry: { retries: 0 } } },
    personal: { endpoints: readEndpoints(JSON.stringify(operators), {}) },
  })

const answering = () => ProviderServer.open((response) => streamHead(response).end(chatReply("Hi")))

const endpointAt = (baseUrl: string) => ({
  ...{ kind: "openai", baseUrl, apiKey: KEY, headers: { "X-Tenant": HEADER } },
  models: [{ id: "org/large", contextTokens: 64_000, price: { input: 1, output: 4 } }],
})

describe.each(anyDatabase)("a user's own endpoint on $name", ({ create }) => {
  test("is added, listed without its secrets, used, changed and deleted, and invisible to other users", async () => {
    await using database = await create()
    await using server = await answering()
    await using face = await open(database.url)
    const [ada, eve] = [await face.as("ada"), await face.as("eve")]
    const saved = await ada.put("/api/providers/mine", endpointAt(server.url))
    const shown = { kind: "openai", hasKey: true, headers: ["x-tenant"], models: endpointAt("").models }
    const view = { name: "mine", configured: true, source: "own", baseUrl: server.url, need: null, endpoint: shown }
    expect([saved.status, saved.body]).toEqual([200, view])
    expect((await ada.get("/api/providers")).body.items.at(-1)).toEqual(view)
    const models = (await ada.get("/api/models")).body.items as { name: string }[]
    expect(models[0]).toMatchObject({ name: "mine/org/large", available: true, contextTokens: 64_000 })

    for (const model of ["mine/org/large", "mine/other"]) {
      const id = await ada.begin({ model, agent: "test" })
      expect((await ada.say(id, "Hello.")).body.run.status).toBe("completed")
    }
    expect(server.received.map(({ body }) => body.model)).toEqual(["org/large", "other"])
    expect(server.received[0]?.headers).toMatchObject({ authorization: `Bearer ${KEY}`, "x-tenant": HEADER })
    expect((await ada.get("/api/usage")).body.byModel[0]).toMatchObject({ paidBy: "own" })

    expect((await eve.get("/api/providers/mine")).status).toBe(404)
    expect((await eve.ask("PATCH", "/api/providers/mine", { body: { models: [] } })).status).toBe(404)
    expect((await eve.delete("/api/providers/mine")).status).toBe(404)
    expect((await eve.post("/api/conversations", { model: "mine/other" })).body.code).toBe("unknown_model")
    expect((await eve.get("/api/models")).text).not.toContain("mine/")

    const changed = await ada.ask("PATCH", "/api/providers/mine", { body: { models: [{ id: "new" }] } })
    expect(changed.body.endpoint).toMatchObject({ hasKey: true, headers: ["x-tenant"], models: [{ id: "new" }] })
    expect((await ada.delete("/api/providers/mine")).status).toBe(204)
    expect((await ada.get("/api/providers/mine")).status).toBe(404)
    const told = JSON.stringify([saved.text, changed.text, face.logged])
    for (const secret of [KEY, HEADER]) expect(told).not.toContain(secret.slice(0, 12))
  })

  test("keeps neither key nor headers when its address changes", async () => {
    await using database = await create()
    await using before = await answering()
    await using after = await answering()
    await using face = await open(database.url)
    const ada = await face.as("ada")
    await ada.put("/api/providers/mine", endpointAt(before.url))
    const moved = await ada.ask("PATCH", "/api/providers/mine", { body: { baseUrl: after.url } })
    expect(moved.body).toMatchObject({ baseUrl: after.url, endpoint: { hasKey: false, headers: [] } })
    await ada.say(await ada.begin({ model: "mine/m", agent: "test" }), "Hello.")
    expect(after.received[0]?.headers).not.toHaveProperty("authorization")
    expect(JSON.stringify(after.received)).not.toContain(HEADER)
    // Without a key it still has the headers that come with the new address.
    await ada.ask("PATCH", "/api/providers/mine", {
      body: { baseUrl: before.url, headers: { "x-other": "1" }, apiKey: "new" },
    })
    await ada.say(await ada.begin({ model: "mine/m", agent: "test" }), "Hello.")
    expect(before.received[0]?.headers).toMatchObject({ authorization: "Bearer new", "x-other": "1" })
  })

  test("is refused if it is invalid, without repeating its secrets", async () => {
    await using database = await create()
    const operators = [{ name: "acme", kind: "openai", baseUrl: "https://models.example/v1" }]
    await using face = await open(database.url, { reach: new OutboundPolicy(), operators })
    const ada = await face.as("ada")
    const good = { ...endpointAt("https://8.8.8.8/v1"), headers: {} }
    for (const [name, body, problem] of [
      ["openai", good, "openai is taken"],
      ["bedrock", good, "bedrock is taken"],
      ["offline", good, "offline is taken"],
      ["qwen", good, "qwen is taken"],
      ["acme", good, "acme is taken"],
      ["mine", { ...good, kind: "gemini" }, "kind"],
      ["mine", { ...good, baseUrl: undefined }, "enter its address"],
      ["mine", { ...good, baseUrl: `https://a:${KEY}@models.example` }, "without password"],
      ["mine", { ...good, baseUrl: "http://127.0.0.1:8080" }, "not a public address"],
      ["mine", { ...good, baseUrl: "http://169.254.169.254/" }, "not a public address"],
      ["mine", { ...good, headers: { Authorization: HEADER } }, "Leave one of them out"],
      ["mine", { ...good, headers: { Host: "x" } }, "cannot be set"],
      ["mine", { ...good, headers: { "X-A": `${HEADER}\nx-evil: 1` } }, "on one line"],
      ["mine", { ...good, models: [{ id: "a" }, { id: "A" }] }, "there twice"],
      ["mine", { ...good, models: new Array(201).fill({ id: "a" }) }, "at most 200"],
      ["mine", { ...good, models: [{ id: "gpt\u200b-5" }] }, "no hidden characters"],
      ["mine", { ...good, headers: { "X-A": "a".repeat(4000), "X-B": "b".repeat(4000) } }, "8000 characters at most"],
      ["openai", { apiKey: KEY, models: [] }, "kind: say what"],
    ] as const) {
      const { status, text } = await ada.put(`/api/providers/${name}`, body)
      expect([name, status, text]).toEqual([name, 400, expect.stringContaining(problem)])
      for (const secret of [KEY, HEADER]) expect(text).not.toContain(secret.slice(0, 12))
    }
    for (const name of ["My_Own", "__proto__", "a".repeat(41), "a b"])
      expect((await ada.put(`/api/providers/${encodeURIComponent(name)}`, good)).status).toBe(404)
    expect((await ada.put("/api/providers/mine", { apiKey: KEY })).status).toBe(404)
    expect((await ada.ask("PATCH", "/api/providers/openai", { body: { models: [] } })).status).toBe(404)
    expect((await ada.put("/api/providers/mine", good)).status).toBe(200)
    expect((await ada.put("/api/providers/mine", { apiKey: KEY })).text).toContain("kind: say what")
    const reader = await face.as("ada", "read")
    expect((await reader.ask("PATCH", "/api/providers/mine", { body: { models: [] } })).status).toBe(403)
  })

  test("is checked by the same rule with every call, not only when it is stored", async () => {
    await using database = await create()
    await using server = await answering()
    const answers = ["8.8.8.8", "127.0.0.1"]
    const how = (_host: string, _options: object, answer: (error: null, found: object[]) => void) =>
      answer(null, [{ address: answers.shift() ?? "127.0.0.1", family: 4 }])
    await using face = await open(database.url, { reach: new OutboundPolicy(false, how as never) })
    const ada = await face.as("ada")
    await ada.put("/api/providers/mine", endpointAt(server.url.replace("127.0.0.1", "rebound.example")))
    const { body } = await ada.say(await ada.begin({ model: "mine/m", agent: "test" }), "Hello.")
    expect(body.run).toMatchObject({ status: "failed", error: { code: "host_not_allowed" } })
    expect(server.connections).toBe(0)
  })

  test("stays its user's if the operator takes its name, and losing it does not fall back to the operator's", async () => {
    await using database = await create()
    await using theirs = await answering()
    await using operators = await answering()
    {
      await using face = await open(database.url)
      await (await face.as("ada")).put("/api/providers/acme", endpointAt(theirs.url))
    }
    await using face = await open(database.url, {
      operators: [{ name: "acme", kind: "openai", baseUrl: operators.url }],
    })
    const ada = await face.as("ada")
    const id = await ada.begin({ model: "acme/m", agent: "test" })
    await ada.say(id, "Hello.")
    expect([theirs.received.length, operators.received.length]).toEqual([1, 0])
    const sql = "UPDATE provider_key SET sealed = 'x' || sealed"
    await face.store.engine.change({ type: "statements", statements: [{ sql, values: [] }] })
    expect((await ada.get("/api/providers/acme")).body).toMatchObject({ configured: false, source: "own", lost: true })
    expect((await ada.say(id, "Again.")).status).toBeGreaterThanOrEqual(400)
    expect(operators.received).toEqual([])
    expect((await ada.delete("/api/providers/acme")).status).toBe(204)
    expect((await ada.get("/api/providers/acme")).body).toMatchObject({ operatorOnly: true })
  })

  test("is exported by its name, without its secrets, and erased with its user", async () => {
    await using database = await create()
    await using face = await open(database.url)
    const ada = await face.as("ada")
    await ada.put("/api/providers/mine", endpointAt("http://127.0.0.1:9"))
    const { text } = await ada.get("/api/export")
    expect(text).toMatch(/"provider":"mine"/)
    expect(text).not.toContain(KEY)
    const { id } = await face.store.people.ensure("ada", 0)
    await face.store.retention.erasePerson(id)
    const rows = await face.store.engine.query("SELECT id FROM provider_key", [])
    expect(rows).toEqual([])
  })
})
