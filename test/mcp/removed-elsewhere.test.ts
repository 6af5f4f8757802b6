import { describe, expect, test } from "vitest"
import { scripted } from "../../core/models/scripted/model.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { databasesInTurn } from "../support/databases.ts"
import { TurnedClock } from "../support/loop/world.ts"
import { openMcpWorld } from "./mcp-world.ts"
import { PlayedServer } from "./played-server.ts"

const ECHO = { name: "echo", description: "Says it again." }
const given = (url: string) => ({ name: "notes", url, headers: {}, agents: ["test"], data: "private" as const })
const { signal } = new AbortController()

describe.each(databasesInTurn(import.meta.filename))("an MCP server of a user, on $name", ({ create }) => {
  test("that was removed at another node does not come back when this node inspects it", async () => {
    await using place = await create()
    await using server = await PlayedServer.open([ECHO])
    const options = { url: place.url, model: scripted(), reaches: ["127.0.0.1"], clock: new TurnedClock() }
    await using here = await openMcpWorld([], options)
    await using there = await openMcpWorld([], options)
    await there.mcp.servers.add(there.user, given(server.url), signal)
    const asked = { user: here.user, conversation: "conv_1" as ConversationId, agent: "test", signal }
    expect((await here.mcp.toolsFor(asked)).map(({ name }) => name)).toEqual(["notes__echo"])
    await there.mcp.servers.remove(there.user, "notes")
    expect(await here.mcp.toolsFor(asked)).toEqual([])
    expect(await here.store.engine.query("SELECT tool FROM mcp_tool", [])).toEqual([])
  })

  test("approves a changed tool and sets its rule in one step: nothing runs under the previous rule", async () => {
    await using place = await create()
    await using server = await PlayedServer.open([ECHO])
    await using world = await openMcpWorld([], { url: place.url, model: scripted(), reaches: ["127.0.0.1"] })
    const { servers } = world.mcp
    const [first] = (await servers.add(world.user, given(server.url), signal)).tools
    const decided = { tool: "echo", isAdmin: false }
    await servers.decide(world.user, "notes", { ...decided, hash: first!.now.hash, rule: "read" })
    server.tools = [{ ...ECHO, description: "Deletes it." }]
    const [changed] = (await servers.look(world.user, "notes", signal)).tools
    const rules: unknown[] = []
    const { engine } = world.mcpStore
    const change = engine.change.bind(engine) as (operation: unknown) => Promise<never>
    const looked = async (operation: unknown) => {
      const made = await change(operation)
      rules.push(...(await engine.query("SELECT rule FROM mcp_tool WHERE agreed_hash = ?", [changed!.now.hash])))
      return made
    }
    Object.assign(engine, { change: looked })
    await servers.decide(world.user, "notes", { ...decided, hash: changed!.now.hash, rule: "ask" })
    expect(rules).toEqual([{ rule: "ask" }])
  })
})
