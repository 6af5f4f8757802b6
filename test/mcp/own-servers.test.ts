import { describe, expect, test } from "vitest"
import { calls, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { readPages } from "../../client/read-pages.ts"
import { OutboundPolicy } from "../../core/models/network/outbound-policy.ts"
import type { JournalEvent } from "../../core/protocol/events.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { of } from "../support/loop/checked-world.ts"
import { databasesInTurn } from "../support/databases.ts"
import { Face, type Visitor } from "../support/server/face.ts"
import { PlayedServer, text } from "./played-server.ts"

const SECRET = "a-token-of-ada's-own"
const ECHO = { name: "echo", description: "Says it again.", annotations: { readOnlyHint: true } }
const reach = new OutboundPolicy(["127.0.0.1"])

describe.each(databasesInTurn(import.meta.filename))("MCP servers of users, on $name", ({ create }) => {
  test("are added with a secret that no answer contains, and used only by that user's agents", async () => {
    await using place = await create()
    await using server = await PlayedServer.open([ECHO], ({ headers }) => text(`Hello, ${headers.authorization ?? ""}`))
    const model = scripted(says("Nothing."), calls("notes__echo", {}), says("Done."))
    await using face = await Face.open({ url: place.url, model, reach })
    const [ada, bob] = [await face.as("ada"), await face.as("bob")]
    const entry = { name: "notes", url: server.url, headers: { Authorization: SECRET }, agents: ["test"] }
    const added = await ada.post("/api/mcp-servers", entry)
    expect(added.status).toBe(201)
    expect(added.body).toMatchObject({
      ...{ name: "notes", by: "person", address: server.url, headers: ["Authorization"], agents: ["test"] },
      tools: [{ tool: "echo", rule: "ask", state: "agreed", now: { claims: { readOnly: true } } }],
    })
    expect((await ada.get("/api/mcp-servers")).body.items).toEqual([added.body])
    expect((await bob.get("/api/mcp-servers")).body.items).toEqual([])
    expect((await bob.delete("/api/mcp-servers/notes")).status).toBe(404)
    expect((await ada.post("/api/mcp-servers", entry)).status).toBe(400)

    const begin = async (who: Visitor, mode: string) => {
      const { body } = await who.post("/api/conversations", { agent: "test", mode })
      await who.post(`/api/conversations/${body.id}/messages`, { text: "Say hello." })
      await face.pawl.runtime.rest(body.id)
      return body.id as ConversationId
    }
    await begin(bob, "auto")
    const id = await begin(ada, "auto")
    const shown = model.received.map(({ request }) => request.tools.map(({ name }) => name))
    expect(shown.slice(0, 2)).toEqual([[], ["notes__echo"]])
    const journal = JSON.stringify(await face.store.journal.read(id))
    expect(journal).toContain("Hello, [hidden]")
    expect(journal).not.toContain(SECRET)

    expect((await ada.delete("/api/mcp-servers/notes")).status).toBe(204)
    expect((await ada.get("/api/mcp-servers")).body.items).toEqual([])
    expect(JSON.stringify(face.logged)).not.toContain(SECRET)
  })

  test("whose secrets cannot be decrypted are reported when their name is added again, and can be removed by it", async () => {
    await using place = await create()
    await using server = await PlayedServer.open([ECHO])
    const entry = { name: "notes", url: server.url }
    {
      await using before = await Face.open({ url: place.url, model: scripted(), reach })
      await (await before.as("ada")).post("/api/mcp-servers", entry)
      const lost = { sql: "UPDATE mcp_server SET sealed = ?", values: ["AAAA"], mustChange: true as const }
      await before.store.engine.change({ type: "statements", statements: [lost] })
    }
    await using face = await Face.open({ url: place.url, model: scripted(), reach })
    const ada = await face.as("ada")
    expect((await ada.get("/api/mcp-servers")).body.items).toEqual([])
    const again = await ada.post("/api/mcp-servers", entry)
    expect([again.status, again.body.detail]).toEqual([400, expect.stringContaining("cannot be opened any more")])
    expect((await ada.delete("/api/mcp-servers/notes")).status).toBe(204)
    expect((await ada.post("/api/mcp-servers", entry)).status).toBe(201)
  })

  test("with long tools are listed in pages, and no page is longer than its bound", async () => {
    await using place = await create()
    await using server = await PlayedServer.open(
      Array.from({ length: 90 }, (_, i) => ({ name: `t${i}`, description: "d".repeat(1900) })),
    )
    await using face = await Face.open({ url: place.url, model: scripted(), reach })
    const ada = await face.as("ada")
    const names = ["a", "b", "c", "d", "e", "f"]
    for (const name of names) expect((await ada.post("/api/mcp-servers", { name, url: server.url })).status).toBe(201)
    const pages: string[] = []
    const listed = await readPages(async ({ cursor }) => {
      const { text: said, body } = await ada.get(`/api/mcp-servers?${cursor === undefined ? "" : `cursor=${cursor}`}`)
      pages.push(said)
      return body as { items: { name: string; tools: unknown[] }[]; nextCursor: string | null }
    })
    expect(Math.max(...pages.map(({ length }) => length))).toBeLessThan(600_000)
    expect(pages.length).toBeGreaterThan(1)
    expect(listed.map(({ name, tools }) => [name, tools.length])).toEqual(names.map((name) => [name, 90]))
    expect((await ada.get("/api/mcp-servers?limit=2")).body).toMatchObject({ items: [{}, {}], nextCursor: "b" })
  })

  test("whose list of tools always differs keep few removed ones, however many were approved", async () => {
    await using place = await create()
    await using server = await PlayedServer.open([ECHO])
    await using face = await Face.open({ url: place.url, model: scripted(), reach })
    const ada = await face.as("ada")
    await ada.post("/api/mcp-servers", { name: "notes", url: server.url })
    for (let turn = 0; turn < 5; turn++) {
      server.tools = Array.from({ length: 50 }, (_, i) => ({ name: `t${turn}_${i}`, description: "" }))
      const { tools } = (await ada.post("/api/mcp-servers/notes/look")).body
      for (const { tool, now, state } of tools)
        if (state === "new") await ada.post("/api/mcp-servers/notes/tools", { tool, hash: now.hash })
    }
    const { tools } = (await ada.get("/api/mcp-servers")).body.items[0]
    expect(tools.length).toBeLessThanOrEqual(150)
    expect(tools.filter(({ tool }: { tool: string }) => tool.startsWith("t4_"))).toHaveLength(50)
    expect(tools.map(({ tool }: { tool: string }) => tool)).toContain("echo")
  })

  test("whose tools change are held back until their user approves what they have read", async () => {
    await using place = await create()
    await using server = await PlayedServer.open([ECHO])
    await using face = await Face.open({ url: place.url, model: scripted(), reach })
    const ada = await face.as("ada")
    const { body: first } = await ada.post("/api/mcp-servers", { name: "notes", url: server.url })
    server.tools = [
      { ...ECHO, description: "Says it to everybody." },
      { ...ECHO, name: "drop" },
    ]
    const { body: seen } = await ada.post("/api/mcp-servers/notes/look")
    expect(seen.tools).toMatchObject([
      { tool: "drop", state: "new" },
      { tool: "echo", state: "changed", now: { description: "Says it to everybody." }, before: first.tools[0].now },
    ])
    const decide = (tool: string, hash: string, rule?: string) =>
      ada.post("/api/mcp-servers/notes/tools", { tool, hash, ...(rule ? { rule } : {}) })
    expect((await decide("echo", first.tools[0].now.hash)).status).toBe(400)
    const { body: agreed } = await decide("echo", seen.tools[1].now.hash, "read")
    expect(agreed.tools).toMatchObject([
      { tool: "drop", state: "new" },
      { tool: "echo", state: "agreed", rule: "read" },
    ])
  })

  test("are not stored if they cannot be reached, and never at an address that users may not use", async () => {
    await using place = await create()
    await using server = await PlayedServer.open([ECHO])
    await using face = await Face.open({ url: place.url, model: scripted() })
    const ada = await face.as("ada")
    const refused = await ada.post("/api/mcp-servers", { name: "notes", url: server.url })
    expect([refused.status, refused.body.code]).toEqual([400, "host_not_allowed"])
    expect(refused.body.detail).toMatch(/not a public address/)
    expect(server.methods).toEqual([])
    // An unknown name and one of a private address give the same error; an operator's own server that is away does not.
    const unknown = await ada.post("/api/mcp-servers", { name: "notes", url: "https://notes.invalid/mcp" })
    expect([unknown.status, unknown.body.code]).toEqual([400, "host_not_allowed"])
    const clear = { name: "notes", url: "http://notes.example/mcp", headers: { "X-Key": "k" } }
    expect((await ada.post("/api/mcp-servers", clear)).body.detail).toMatch(/https only/)
    expect((await ada.get("/api/mcp-servers")).body.items).toEqual([])
  })

  test("whose address users may no longer use are not called, and an approved call is answered with the reason", async () => {
    await using place = await create()
    await using server = await PlayedServer.open([ECHO])
    const told = async () => {
      await using before = await Face.open({ url: place.url, model: scripted(calls("notes__echo", {})), reach })
      const ada = await before.as("ada")
      await ada.post("/api/mcp-servers", { name: "notes", url: server.url, agents: ["test"] })
      const id = (await ada.post("/api/conversations", { agent: "test" })).body.id as ConversationId
      return { id, waits: (await ada.say(id, "Say hello.")).body.proposals[0].id as string }
    }
    const { id, waits } = await told()
    await using face = await Face.open({ url: place.url, model: scripted(says("It cannot be reached.")) })
    const ada = await face.as("ada")
    expect((await ada.post(`/api/agent/proposals/${waits}/commit`, {})).status).toBe(200)
    await face.pawl.runtime.rest(id)
    const events = (await face.store.journal.read(id)) as JournalEvent[]
    expect(of(events, "tool_end")).toMatchObject([{ status: "error" }])
    expect(JSON.stringify(events)).toContain("127.0.0.1 is not a public address")
    expect(JSON.stringify(events)).not.toContain("in_doubt")
    expect(server.calls).toEqual([])
  })

  test("and those of the operator are distinguished: only an admin approves changes in these", async () => {
    await using place = await create()
    await using server = await PlayedServer.open([ECHO])
    const { readServers } = await import("../../core/tools/mcp/server-list.ts")
    const mcp = readServers(JSON.stringify({ mcpServers: { wiki: { url: server.url, agents: ["test"] } } }), {})
    await using face = await Face.open({ url: place.url, model: scripted(), reach, mcp })
    const [ada, root] = [await face.as("ada"), await face.as("root", "read", "manage", "admin")]
    const { body: first } = await ada.post("/api/mcp-servers/wiki/look")
    expect(first).toMatchObject({ by: "operator", tools: [{ tool: "echo", state: "agreed" }] })
    expect((await ada.post("/api/mcp-servers", { name: "wiki", url: server.url })).status).toBe(400)
    server.tools = [{ ...ECHO, description: "Other words." }]
    const { body: seen } = await ada.post("/api/mcp-servers/wiki/look")
    const decision = { tool: "echo", hash: seen.tools[0].now.hash }
    expect((await ada.post("/api/mcp-servers/wiki/tools", decision)).status).toBe(403)
    expect((await root.post("/api/mcp-servers/wiki/tools", { ...decision, rule: "read" })).status).toBe(400)
    expect((await root.post("/api/mcp-servers/wiki/tools", decision)).body.tools[0].state).toBe("agreed")
  })
})
