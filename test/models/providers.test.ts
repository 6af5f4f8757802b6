import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, test } from "vitest"
import { chatReply, ProviderServer, streamHead } from "../../core/models/providers/server.fixture.ts"
import { OutboundPolicy } from "../../core/models/network/outbound-policy.ts"
import type { ModelSettings } from "../../core/models/providers/settings.ts"
import { scripted } from "../../core/testing.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"

const CANARY = "canary-7f3c9d2e5b8a41604477"
const SHARED = "shared-1b2d4f6a8c0e13579bdf"

interface Options {
  readonly url: string
  readonly settings?: ModelSettings
  readonly sharedKeys?: boolean
  readonly reach?: OutboundPolicy
  readonly fetch?: typeof globalThis.fetch
}

const open = ({ url, settings = {}, sharedKeys = true, reach = new OutboundPolicy(["127.0.0.1"]), fetch }: Options) =>
  Face.open({
    url,
    model: scripted(),
    reach,
    personal: settings,
    sharedKeys,
    providerCalls: { retry: { retries: 0 }, ...(fetch ? { fetch } : {}) },
  })

const answering = () => ProviderServer.open((response) => streamHead(response).end(chatReply("Hi")))
const keysSeen = (server: ProviderServer) => server.received.map(({ headers }) => headers.authorization)

describe.each(anyDatabase)("a user's own keys on $name", ({ create }) => {
  test("are stored, shown only as configured, replaced as a whole, and deleted", async () => {
    await using database = await create()
    await using face = await open(database)
    const ada = await face.as("ada")
    const nothing = {
      name: "openai",
      configured: false,
      source: null,
      need: expect.stringContaining("enter your own key in the settings"),
    }
    expect((await ada.get("/api/providers/openai")).body).toEqual(nothing)
    expect((await ada.get("/api/providers")).body.items.map(({ name }: { name: string }) => name)).toEqual([
      ...["openai", "anthropic", "google", "azure", "bedrock", "vertex", "mistral", "groq", "xai", "deepseek"],
      ...["openrouter", "lmstudio", "ollama", "llamacpp", "vllm"],
    ])

    const saved = await ada.put("/api/providers/openai", { apiKey: CANARY, baseUrl: "http://127.0.0.1:9/v1" })
    const own = { name: "openai", configured: true, source: "own", baseUrl: "http://127.0.0.1:9/v1", need: null }
    expect([saved.status, saved.body]).toEqual([200, own])
    expect((await ada.put("/api/providers/openai", { apiKey: CANARY })).body).not.toHaveProperty("baseUrl")
    const models = (await ada.get("/api/models")).body.items as { provider: string; available: boolean }[]
    expect(models.filter(({ available }) => available).map(({ provider }) => provider)).toContain("openai")

    const eve = await face.as("eve")
    expect((await eve.get("/api/providers/openai")).body).toEqual(nothing)
    expect((await eve.delete("/api/providers/openai")).status).toBe(404)
    expect((await ada.delete("/api/providers/openai")).status).toBe(204)
    expect((await ada.get("/api/providers/openai")).body).toEqual(nothing)
  })

  test("are refused if they are invalid, without being repeated", async () => {
    await using database = await create()
    await using face = await open({ ...database, reach: new OutboundPolicy() })
    const ada = await face.as("ada")
    for (const [name, body, problem] of [
      ["openai", {}, "Send an apiKey"],
      ["openai", { apiKey: "" }, "apiKey"],
      ["openai", { apiKey: `${CANARY}\nx-evil: 1` }, "plain characters"],
      ["openai", { apiKey: CANARY, extra: 1 }, "extra"],
      ["openai", { baseUrl: "ftp://models.example" }, "must be an address"],
      ["openai", { baseUrl: `https://ada:${CANARY}@models.example` }, "without password"],
      ["openai", { baseUrl: `https://models.example/?key=${CANARY}` }, "without password"],
      ["openai", { apiKey: CANARY, baseUrl: "http://127.0.0.1:11434" }, "not a public address"],
      ["openai", { apiKey: CANARY, baseUrl: "http://169.254.169.254/" }, "not a public address"],
      ["anthropic", { baseUrl: "https://models.example" }, "anthropic needs one"],
      ["ollama", { apiKey: CANARY }, "enter the address"],
      ["lmstudio", {}, "enter the address"],
      ["azure", { apiKey: CANARY }, "needs both"],
      ["openai", { apiKey: CANARY, fields: { region: "eu" } }, "openai takes none"],
      ["bedrock", { fields: { region: "eu-west-1" } }, "Send apiKey, or fields.accessKeyId and fields.secretAccessKey"],
      ["bedrock", { apiKey: CANARY }, "Send fields.region"],
      ["bedrock", { apiKey: CANARY, fields: { region: "x.example/" } }, "fields.region: it must be one such as"],
      ["bedrock", { apiKey: CANARY, fields: { region: "eu", sessionToken: `${CANARY}\nx: 1` } }, "on one line"],
      ["vertex", { fields: { project: "p", location: "eu", clientEmail: "a@b.c" } }, "Send fields.privateKey"],
      ["openai", `{"apiKey": ${CANARY}`, "not JSON"],
    ] as const) {
      const { status, text } = await ada.put(`/api/providers/${name}`, body)
      expect([status, text], JSON.stringify(body)).toEqual([400, expect.stringContaining(problem)])
      expect(text).not.toContain(CANARY.slice(0, 12))
    }
    for (const name of ["nobody", "offline", "__proto__", "OPENAI"]) {
      expect((await ada.put(`/api/providers/${name}`, { apiKey: CANARY })).status).toBe(404)
      expect((await ada.get(`/api/providers/${name}`)).status).toBe(404)
    }
    const reader = await face.as("ada", "read")
    expect((await reader.get("/api/providers")).status).toBe(200)
    expect((await reader.put("/api/providers/openai", { apiKey: CANARY })).status).toBe(403)
    expect((await reader.delete("/api/providers/openai")).status).toBe(403)
  })

  test("may have several fields, and only the secret ones are never returned", async () => {
    await using database = await create()
    await using server = await ProviderServer.open((response) => response.writeHead(400).end("{}"))
    const settings = { awsAccessKeyId: "AKIDSHARED", awsSecretAccessKey: SHARED, awsRegion: "us-east-1" }
    await using face = await open({ ...database, settings })
    const ada = await face.as("ada")
    const fields = { region: "eu-west-1", accessKeyId: "AKIDOWN", secretAccessKey: CANARY }
    const saved = await ada.put("/api/providers/bedrock", { baseUrl: server.url, fields })
    expect(saved.body).toMatchObject({ configured: true, source: "own", baseUrl: server.url })
    expect(saved.body.fields.map((field: { name: string; value?: string }) => [field.name, field.value])).toEqual([
      ...[
        ["region", "eu-west-1"],
        ["accessKeyId", "AKIDOWN"],
        ["secretAccessKey", undefined],
        ["sessionToken", undefined],
      ],
    ])
    expect(saved.text).not.toContain(CANARY)
    await ada.say(await ada.begin({ model: "bedrock/m", agent: "test" }), "Hello.")
    expect(server.received[0]?.headers.authorization).toMatch(/Credential=AKIDOWN\/\d+\/eu-west-1\//)
  })

  test("serve that user's runs from the next call on; others use the operator's", async () => {
    await using database = await create()
    await using server = await answering()
    const settings = { openaiApiKey: SHARED, openaiBaseUrl: server.url }
    await using face = await open({ ...database, settings })
    const [ada, eve] = [await face.as("ada"), await face.as("eve")]
    const id = await ada.begin({ model: "openai/m", agent: "test" })
    await ada.say(id, "One.")
    await ada.put("/api/providers/openai", { apiKey: "own-1", baseUrl: server.url })
    await ada.say(id, "Two.")
    await eve.say(await eve.begin({ model: "openai/m", agent: "test" }), "Mine.")
    await ada.put("/api/providers/openai", { apiKey: "own-2", baseUrl: server.url })
    await ada.say(id, "Three.")
    await ada.delete("/api/providers/openai")
    await ada.say(id, "Four.")
    expect(keysSeen(server)).toEqual([SHARED, "own-1", SHARED, "own-2", SHARED].map((key) => `Bearer ${key}`))
  })

  test("and addresses are never mixed with the operator's: each is used with its own", async () => {
    await using database = await create()
    await using theirs = await answering()
    await using operators = await answering()
    const settings = { openaiApiKey: SHARED, openaiBaseUrl: operators.url }
    await using face = await open({ ...database, settings, fetch: operators.fetch })
    const ada = await face.as("ada")
    const id = await ada.begin({ model: "openai/m", agent: "test" })
    await ada.put("/api/providers/openai", { baseUrl: theirs.url })
    await ada.say(id, "To my own server.")
    expect(keysSeen(theirs)).toEqual([undefined])
    await ada.put("/api/providers/openai", { apiKey: "own-key" })
    await ada.say(id, "To OpenAI, not to the operator's gateway.")
    expect(operators.received.map(({ path }) => path)).toEqual(["/v1/responses"])
    expect(keysSeen(operators)).toEqual(["Bearer own-key"])
  })

  test("are the only ones if the operator has switched the shared ones off", async () => {
    await using database = await create()
    await using server = await answering()
    const settings = { openaiApiKey: SHARED, openaiBaseUrl: server.url }
    await using face = await open({ ...database, settings, sharedKeys: false })
    const ada = await face.as("ada")
    expect((await ada.post("/api/conversations", { model: "openai/m" })).body.code).toBe("model_unavailable")
    await ada.put("/api/providers/openai", { baseUrl: server.url })
    const id = await ada.begin({ model: "openai/m", agent: "test" })
    expect((await ada.say(id, "Hello.")).body.run.status).toBe("completed")
    await ada.delete("/api/providers/openai")
    const refused = await ada.say(id, "Again.")
    expect([refused.body.code, refused.text.includes(SHARED)]).toEqual(["not_configured", false])
  })

  test("that can no longer be decrypted do not fall back to the operator's", async () => {
    await using database = await create()
    await using server = await answering()
    const settings = { openaiApiKey: SHARED, openaiBaseUrl: server.url }
    await using face = await open({ ...database, settings })
    const [ada, eve] = [await face.as("ada"), await face.as("eve")]
    const id = await ada.begin({ model: "openai/m", agent: "test" })
    await ada.put("/api/providers/openai", { apiKey: "of-ada", baseUrl: server.url })
    await eve.put("/api/providers/openai", { apiKey: "of-eve", baseUrl: server.url })
    const { id: person } = await face.store.people.ensure("ada", 0)
    const sql = `UPDATE provider_key SET sealed = (SELECT sealed FROM provider_key AS p WHERE p.id <> provider_key.id)
      WHERE person = ?`
    await face.store.engine.change({ type: "statements", statements: [{ sql, values: [person] }] })
    expect((await ada.get("/api/providers/openai")).body).toMatchObject({ configured: false, source: "own" })
    const { body } = await ada.say(id, "Hello.")
    expect([body.code, body.detail]).toEqual([
      "not_configured",
      expect.stringContaining("enter it again in the settings"),
    ])
    expect(server.received).toEqual([])
  })

  test("an address that has become private by the time of the call is refused then, and the run says why", async () => {
    await using database = await create()
    await using server = await answering()
    const answers = ["8.8.8.8", "127.0.0.1"]
    const how = (_host: string, _options: object, answer: (error: null, found: object[]) => void) =>
      answer(null, [{ address: answers.shift() ?? "127.0.0.1", family: 4 }])
    await using face = await open({ ...database, reach: new OutboundPolicy(false, how as never) })
    const ada = await face.as("ada")
    const baseUrl = server.url.replace("127.0.0.1", "rebound.example")
    expect((await ada.put("/api/providers/openai", { apiKey: CANARY, baseUrl })).status).toBe(200)
    const { body, text } = await ada.say(await ada.begin({ model: "openai/m", agent: "test" }), "Hello.")
    expect(body.run).toMatchObject({ status: "failed", error: { code: "host_not_allowed" } })
    expect(text).not.toContain(CANARY)
    expect(server.connections).toBe(0)
  })
})

describe.each(anyDatabase)("a stored key on $name", ({ name, create }) => {
  test("leaves no trace: not in answers, events, logs, nor on the disk", async () => {
    await using database = await create()
    // A provider that repeats the key it was sent, in every way it can.
    await using server = await ProviderServer.open((response, { headers, path }) => {
      const said = `Incorrect API key provided: ${headers.authorization ?? headers["x-api-key"]} (${CANARY.slice(0, 12)}...)`
      if (!path.startsWith("/200")) {
        response.writeHead(Number(path.slice(1, 4)), { "content-type": "application/json" })
        return response.end(JSON.stringify({ type: "error", error: { type: "api_error", message: said } }))
      }
      response.writeHead(200, { "content-type": "text/html" })
      return response.end(`<html>${said}</html>`)
    })
    await using face = await open(database)
    const ada = await face.as("ada")
    const told: string[] = []
    const ask = async (method: string, path: string, body?: unknown) => {
      const { text, body: answer } = await ada.ask(method, path, { body })
      told.push(text)
      return answer
    }
    const errors: string[] = []
    for (const place of ["401", "500", "200"]) {
      for (const provider of ["openai", "anthropic", "deepseek"]) {
        await ask("PUT", `/api/providers/${provider}`, { apiKey: CANARY, baseUrl: `${server.url}/${place}` })
        const model = provider === "deepseek" ? "deepseek-chat" : `${provider}/m`
        const { id } = await ask("POST", "/api/conversations", { model, agent: "test" })
        const { run } = await ask("POST", `/api/conversations/${id}/messages`, { text: "Hello." })
        errors.push(run.error.code)
        for (const path of ["", "/messages", "/state", "/runs", "/model"])
          await ask("GET", `/api/conversations/${id}${path}`)
        told.push(JSON.stringify(await face.store.journal.read(id)))
      }
    }
    for (const path of ["/api/providers", "/api/providers/openai", "/api/models"]) await ask("GET", path)
    expect(server.received).toHaveLength(9)
    expect(JSON.stringify(server.received)).toContain(CANARY) // it did get it
    expect(errors).toEqual(["auth", "auth", "auth", ...new Array<string>(6).fill("provider_error")])

    const traces = [...told, JSON.stringify(face.logged, (_, value) => (value instanceof Error ? value.stack : value))]
    expect(traces.filter((text) => text.includes(CANARY.slice(0, 12)))).toEqual([])
    expect(await everyByte(face, name, database.url)).not.toContain(CANARY.slice(0, 12))
  })
})

/** All that the database stores, as text: its files, log included, or every row of every table. */
async function everyByte({ store: { engine } }: Face, name: string, url: string): Promise<string> {
  if (name === "sqlite") {
    const folder = dirname(url.slice("file:".length))
    const files = readdirSync(folder).map((file) => readFileSync(join(folder, file), "latin1"))
    expect(files.join("")).toContain("provider_key")
    return files.join("")
  }
  const tables = await engine.query<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()",
    [],
  )
  const rows = await Promise.all(tables.map((table) => engine.query(`SELECT * FROM "${table.name}"`, [])))
  expect(tables.map((table) => table.name)).toContain("provider_key")
  return JSON.stringify(rows)
}
