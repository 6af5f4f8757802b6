import { describe, expect, test } from "vitest"
import { chatReply, ProviderServer, streamHead } from "../../core/models/providers/server.fixture.ts"
import { OutboundPolicy } from "../../core/models/network/outbound-policy.ts"
import { scripted } from "../../core/testing.ts"
import type { Scope } from "../../core/protocol/account/sign-in.ts"
import { databases } from "../support/databases.ts"
import { Face, type FaceOptions } from "../support/server/face.ts"

const MODEL = "qwen3:8b"
/** A user who signs in with the link that `pawl serve` prints. */
const OPERATOR: Scope[] = ["read", "chat", "approve", "manage", "admin"]

/** A model server on this machine, as LM Studio and Ollama are. */
const localServer = () =>
  ProviderServer.open(
    (response, { path }) => {
      if (path.endsWith("/v1/models")) return response.end(JSON.stringify({ data: [{ id: MODEL, object: "model" }] }))
      if (path.endsWith("/api/tags")) return response.end(JSON.stringify({ models: [{ name: MODEL }] }))
      if (path.endsWith("/v1/chat/completions")) return streamHead(response).end(chatReply("Hi from here."))
      return response.writeHead(404).end()
    },
    { lists: true },
  )

const open = (url: string, more: Partial<FaceOptions> = {}) =>
  Face.open({ ...{ url, model: scripted(), providerCalls: { retry: { retries: 0 } } }, personal: {}, ...more })

describe.each(databases)("a model server on the same machine, on $name", ({ create }) => {
  test.each([
    ["ollama", {}],
    ["lmstudio", {}],
    ["openai", {}],
    ["mine", { kind: "openai" }],
  ])(
    "is connected as %s by the operator of a server that only this machine reaches, and answers",
    async (name, more) => {
      await using database = await create()
      await using local = await localServer()
      await using face = await open(database.url)
      const ada = await face.as("ada", ...OPERATOR)
      const baseUrl = local.url.replace("127.0.0.1", "localhost")
      const saved = await ada.put(`/api/providers/${name}`, { baseUrl: `${baseUrl}/v1`, ...more })
      expect([saved.status, saved.body]).toMatchObject([200, { configured: true, source: "own" }])
      const { run, messages } = (await ada.say(await ada.begin({ agent: "test", model: `${name}/${MODEL}` }), "Hello."))
        .body
      expect([run.status, messages.at(-1).content]).toEqual(["completed", "Hi from here."])
      const listed = async () => (await ada.get("/api/models")).text
      await expect.poll(listed).toContain(`"${name}/${MODEL}"`)
    },
  )

  test.each([
    ["ollama", {}, "OLLAMA_HOST"],
    ["lmstudio", {}, "LM_STUDIO_ENDPOINT"],
    ["openai", {}, "OPENAI_BASE_URL"],
    ["mine", { kind: "openai" }, "LM_STUDIO_ENDPOINT, OLLAMA_HOST, OPENAI_BASE_URL or PAWL_PROVIDERS"],
    ["mine", { kind: "anthropic" }, "ANTHROPIC_BASE_URL or PAWL_PROVIDERS"],
  ])("is refused to others as %s %o, with the variable that helps", async (name, more, variable) => {
    await using database = await create()
    await using local = await localServer()
    await using face = await open(database.url)
    const eve = await face.as("eve")
    const refused = await eve.put(`/api/providers/${name}`, { baseUrl: local.url, ...more })
    const detail = `127.0.0.1 is not a public address. The operator of this server can connect it with ${variable}, or allow it with PAWL_ALLOW_PRIVATE_HOSTS.`
    expect([refused.status, refused.body]).toMatchObject([400, { code: "host_not_allowed", detail }])
    expect(local.connections).toBe(0)
  })

  test.each<[what: string, address: FaceOptions["address"]]>([
    ["listens on every address", { host: "0.0.0.0" }],
    ["has a public address", { publicUrl: "https://pawl.example" }],
    ["is behind a proxy", { trustedProxies: ["127.0.0.1"] }],
  ])("is refused to an admin of a server that %s", async (_, address) => {
    await using database = await create()
    await using local = await localServer()
    {
      await using before = await open(database.url)
      await (await before.as("ada", ...OPERATOR)).put("/api/providers/before", { kind: "openai", baseUrl: local.url })
    }
    local.connections = 0
    await using face = await open(database.url, { address })
    const ada = await face.as("ada", ...OPERATOR)
    expect((await ada.put("/api/providers/ollama", { baseUrl: local.url })).body.code).toBe("host_not_allowed")
    // Nor does one answer that was connected when only this machine reached the server.
    const { run } = (await ada.say(await ada.begin({ agent: "test", model: `before/${MODEL}` }), "Hello.")).body
    expect(run).toMatchObject({ status: "failed", error: { code: "host_not_allowed" } })
    expect(local.connections).toBe(0)
  })

  test("opens no other address to the operator: neither private networks, nor clouds, nor a name that resolves to this machine", async () => {
    await using database = await create()
    const leadsHere = (_host: string, _options: object, answer: (error: null, found: object[]) => void) =>
      answer(null, [{ address: "127.0.0.1", family: 4 }])
    await using face = await open(database.url, { reach: new OutboundPolicy(false, leadsHere as never) })
    const ada = await face.as("ada", ...OPERATOR)
    for (const host of [
      "10.0.0.1",
      "192.168.1.5:11434",
      "169.254.169.254",
      "[fe80::1]",
      "rebound.example",
      "0.0.0.0",
    ]) {
      const { body } = await ada.put("/api/providers/ollama", { baseUrl: `http://${host}` })
      expect([host, body.code]).toEqual([host, "host_not_allowed"])
    }
  })

  test("stays when a token without admin changes its models, which cannot move it to another port", async () => {
    await using database = await create()
    await using local = await localServer()
    await using other = await localServer()
    await using face = await open(database.url)
    await (await face.as("ada", ...OPERATOR)).put("/api/providers/mine", { kind: "openai", baseUrl: local.url })
    const token = await face.as("ada")
    const change = (body: object) => token.ask("PATCH", "/api/providers/mine", { body })
    expect((await change({ baseUrl: other.url })).body.code).toBe("host_not_allowed")
    expect((await change({ models: [{ id: MODEL }] })).status).toBe(200)
    const { run } = (await token.say(await token.begin({ agent: "test", model: `mine/${MODEL}` }), "Hello.")).body
    expect([run.status, other.connections]).toEqual(["completed", 0])
  })
})
