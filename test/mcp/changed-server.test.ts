import { describe, expect, test } from "vitest"
import { OutboundPolicy } from "../../core/models/network/outbound-policy.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { databasesInTurn } from "../support/databases.ts"
import { PlayedAuthority } from "./played-authority.ts"
import { PlayedServer, text } from "./played-server.ts"
import { Face } from "../support/server/face.ts"

const reach = new OutboundPolicy(["127.0.0.1"])
const ECHO = { name: "echo", description: "Says it again.", annotations: { idempotentHint: true } }
const LIST = { name: "list", description: "Lists them." }

describe.each(databasesInTurn(import.meta.filename))(
  "an MCP server of a user that they change, on $name",
  ({ create }) => {
    test("keeps its rules when its name and headers change, and never sends another user's secrets", async () => {
      await using place = await create()
      await using server = await PlayedServer.open([ECHO], ({ headers }) =>
        text(`${headers["x-key"]} ${headers["x-more"]}`),
      )
      const model = scripted(calls("papers__echo", {}), says("Done."))
      await using face = await Face.open({ url: place.url, model, reach })
      const [ada, bob] = [await face.as("ada"), await face.as("bob")]
      const headers = { "X-Key": "first", "X-More": "second" }
      const { body: added } = await ada.post("/api/mcp-servers", {
        name: "notes",
        url: server.url,
        headers,
        agents: ["test"],
      })
      const decision = { tool: "echo", hash: added.tools[0].now.hash, rule: "read" }
      await ada.post("/api/mcp-servers/notes/tools", decision)
      await ada.post("/api/mcp-servers", { name: "other", url: server.url })
      expect((await bob.patch("/api/mcp-servers/notes", { name: "mine" })).status).toBe(404)
      expect((await ada.patch("/api/mcp-servers/notes", { name: "other" })).status).toBe(400)
      const change = { name: "papers", headers: { "x-key": "third" } }
      const { status, body } = await ada.patch("/api/mcp-servers/notes", change)
      expect([status, body]).toMatchObject([
        200,
        { name: "papers", headers: ["X-More", "x-key"], tools: [{ state: "agreed", rule: "read" }] },
      ])
      expect((await ada.patch("/api/mcp-servers/notes", {})).status).toBe(404)
      const { body: chat } = await ada.post("/api/conversations", { agent: "test" })
      await ada.post(`/api/conversations/${chat.id}/messages`, { text: "Go." })
      await face.pawl.runtime.rest(chat.id as ConversationId)
      expect(server.calls.map(({ headers: sent }) => [sent["x-key"], sent["x-more"]])).toEqual([["third", "second"]])
    })

    test("is another server at another address: its tools need approval again, and no secret is sent there", async () => {
      await using place = await create()
      await using server = await PlayedServer.open([ECHO, LIST])
      await using elsewhere = await PlayedServer.open([ECHO])
      const model = scripted(calls("notes__echo", {}), says("Done."), says("."))
      await using face = await Face.open({ url: place.url, model, reach })
      const ada = await face.as("ada")
      const given = { name: "notes", url: server.url, headers: { "X-Key": "a-secret" }, agents: ["test"] }
      const { body: added } = await ada.post("/api/mcp-servers", given)
      const decide = (body: object) => ada.post("/api/mcp-servers/notes/tools", body)
      const { hash } = added.tools[0].now
      expect((await decide({ tool: "echo", hash, again: true })).body.tools[0]).toMatchObject({
        rule: "ask",
        again: true,
      })
      const { body: chat } = await ada.post("/api/conversations", { agent: "test" })
      await ada.post(`/api/conversations/${chat.id}/messages`, { text: "Go." })
      await face.pawl.runtime.rest(chat.id as ConversationId)
      const { items: waiting } = (await ada.get("/api/agent/proposals")).body as { items: { id: string }[] }

      expect(waiting.length).toBe(1)
      const seen: unknown[] = []
      elsewhere.instead = ({ headers }) => (seen.push(headers["x-key"]), false)
      const { status, body } = await ada.patch("/api/mcp-servers/notes", { url: elsewhere.url })
      expect([status, body.headers]).toEqual([200, []])
      expect(body.tools).toMatchObject([
        { tool: "echo", state: "changed", rule: "ask", again: false, before: { hash: "moved" } },
        { tool: "list", state: "changed" },
      ])
      // The pending proposals were for the previous server: they reach neither.
      await ada.post(`/api/agent/proposals/${waiting[0]?.id}/commit`)
      await face.pawl.runtime.rest(chat.id as ConversationId)
      expect([server.calls, elsewhere.calls, new Set(seen)]).toEqual([[], [], new Set([undefined])])
      const { body: agreed } = await decide({ tool: "echo", hash: body.tools[0].now.hash })
      expect(agreed.tools[0]).toMatchObject({ state: "agreed", again: false })
    })

    test("loses its permission to retry a tool that changes, and cannot get one for a tool without the hint", async () => {
      await using place = await create()
      await using server = await PlayedServer.open([ECHO, LIST])
      await using face = await Face.open({ url: place.url, model: scripted(), reach })
      const ada = await face.as("ada")
      const { body: added } = await ada.post("/api/mcp-servers", { name: "notes", url: server.url })
      const decide = (at: number, from: typeof added, more = {}) =>
        ada.post("/api/mcp-servers/notes/tools", { tool: from.tools[at].tool, hash: from.tools[at].now.hash, ...more })
      expect((await decide(1, added, { again: true })).status).toBe(400)
      expect((await decide(0, added, { again: true })).body.tools).toMatchObject([{ again: true }, { again: false }])
      expect((await decide(0, added, { rule: "ask" })).body.tools[0].again).toBe(true)
      server.tools = [{ ...ECHO, description: "Says it aloud." }, LIST]
      const { body: seen } = await ada.post("/api/mcp-servers/notes/look")
      expect((await decide(0, seen)).body.tools[0]).toMatchObject({ state: "agreed", again: false })
    })

    test("is not changed if it cannot be reached, and its sign-in ends if its address changes", async () => {
      await using place = await create()
      await using there = await PlayedAuthority.open([ECHO])
      await using server = await PlayedServer.open([ECHO])
      await using face = await Face.open({ url: place.url, model: scripted(), reach })
      const ada = await face.as("ada")
      await ada.post("/api/mcp-servers", { name: "notes", url: there.server.url })
      const { url } = (await ada.post("/api/mcp-servers/notes/sign-in", {})).body
      const answer = there.agree(url).search.slice(1)
      const { body: before } = await ada.post("/api/mcp-sign-in", { answer })
      expect((await ada.patch("/api/mcp-servers/notes", { url: "http://127.0.0.1:9/mcp" })).status).toBe(502)
      expect((await ada.get("/api/mcp-servers")).body.items).toEqual([before])
      expect((await ada.patch("/api/mcp-servers/notes", { url: server.url })).body.signIn).toBeUndefined()
      expect(await face.store.engine.query("SELECT id FROM mcp_sign_in", [])).toEqual([])
    })
  },
)
