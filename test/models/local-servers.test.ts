import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, expect, test } from "vitest"
import { examineLocalServers } from "../../apps/cli/doctor/providers.ts"
import { localModelServers } from "../../apps/cli/settings/model-choices.ts"
import { LocalModelServers } from "../../core/models/discovery/local-servers.ts"
import { scripted } from "../../core/testing.ts"
import { databases } from "../support/databases.ts"
import { playLocalServer } from "../support/local-model-server.ts"
import { Face } from "../support/server/face.ts"
import { slownessOf } from "../support/worked.ts"

test("Ollama and LM Studio are recognized on any port, and other programs are not", async () => {
  await using ollama = await playLocalServer("ollama", "qwen3:8b")
  await using empty = await playLocalServer("ollama")
  await using studio = await playLocalServer("lmstudio", "openai/gpt-oss-20b")
  await using pages = await playLocalServer("pages")
  const nothing = "http://127.0.0.1:9"
  const servers = new LocalModelServers([nothing, ollama.url, pages.url, empty.url, studio.url])
  expect(await servers.find()).toEqual([
    { provider: "ollama", label: "Ollama", baseUrl: ollama.url, variable: "OLLAMA_HOST", models: ["qwen3:8b"] },
    { provider: "ollama", label: "Ollama", baseUrl: empty.url, variable: "OLLAMA_HOST", models: [] },
    {
      ...{ provider: "lmstudio", label: "LM Studio", baseUrl: studio.url, variable: "LM_STUDIO_ENDPOINT" },
      models: ["openai/gpt-oss-20b"],
    },
  ])
})

test("a program that accepts connections and never answers delays the search by half a second at most", async () => {
  const silent = createServer(() => {})
  await new Promise<void>((listening) => silent.listen(0, "127.0.0.1", listening))
  const { port } = silent.address() as AddressInfo
  const begin = performance.now()
  expect(await new LocalModelServers([`http://127.0.0.1:${port}`]).find()).toEqual([])
  expect(performance.now() - begin).toBeLessThan(5000 * slownessOf())
  silent.closeAllConnections()
  silent.close()
})

test("no other machine is asked", async () => {
  await using ollama = await playLocalServer("ollama", "qwen3:8b")
  const { port } = new URL(ollama.url)
  expect(await new LocalModelServers([`http://0.0.0.0:${port}`, `http://192.0.2.1:${port}`]).find()).toEqual([])
  expect(ollama.received).toEqual([])
})

test("the setting turns the search off, or names other addresses", () => {
  expect(localModelServers(true)).toEqual(["http://127.0.0.1:11434", "http://127.0.0.1:1234"])
  expect(localModelServers(false)).toEqual([])
  expect(localModelServers(["http://localhost:8080/"])).toEqual(["http://localhost:8080"])
})

describe.each(databases)("a user without a provider on $name", ({ create }) => {
  test("is offered the model server of this machine, connects it if they may, and gets its model", async () => {
    await using database = await create()
    await using ollama = await playLocalServer("ollama", "qwen3:8b")
    await using face = await Face.open({
      ...{ url: database.url, model: scripted(), personal: {}, localModelServers: [ollama.url] },
    })
    const [ada, bob] = await Promise.all([face.as("ada", "read", "chat", "manage", "admin"), face.as("bob")])
    const offer = { items: [{ provider: "ollama", baseUrl: ollama.url, models: ["qwen3:8b"] }] }
    expect((await bob.get("/api/models")).body.localServers).toMatchObject({ ...offer, mayConnect: false })
    const { body } = await ada.get("/api/models")
    expect(body).toMatchObject({ default: "offline", localServers: { ...offer, mayConnect: true } })

    await ada.put("/api/providers/ollama", { baseUrl: ollama.url })
    const after = (await ada.get("/api/models")).body
    expect(after).toMatchObject({ default: "ollama/qwen3:8b" })
    expect(after).not.toHaveProperty("localServers")
    const said = await ada.say(await ada.begin({ agent: "test" }), "Hi.")
    expect(said.body.run).toMatchObject({ status: "completed", model: "ollama/qwen3:8b" })
  })

  test("gets no offer if the operator has set a provider or a model, or other machines reach the server", async () => {
    await using database = await create()
    await using ollama = await playLocalServer("ollama", "qwen3:8b")
    const alternatives = [
      { personal: { openaiApiKey: "k" } },
      { personal: { defaultModel: "offline" } },
      { personal: {}, host: "0.0.0.0" },
      { personal: {}, publicUrl: "https://pawl.example" },
    ]
    for (const given of alternatives) {
      await using face = await Face.open({
        ...{ url: database.url, model: scripted(), localModelServers: [ollama.url] },
        ...given,
      })
      expect((await (await face.as("ada")).get("/api/models")).body).not.toHaveProperty("localServers")
    }
    expect(ollama.received).toEqual([])
  })
})

test("pawl doctor names the server and the exact variable", async () => {
  const server = { provider: "ollama", label: "Ollama", baseUrl: "http://127.0.0.1:11434", variable: "OLLAMA_HOST" }
  const findLocalServers = async () => [{ ...server, provider: "ollama" as const, models: ["a", "b", "c", "d"] }]
  expect(await Array.fromAsync(examineLocalServers({ findLocalServers }))).toEqual([
    [
      "note",
      "models: Ollama is running on this machine (a, b, c and 1 more); to use it, set OLLAMA_HOST=http://127.0.0.1:11434, or connect it on the page or in pawl chat",
    ],
  ])
})
