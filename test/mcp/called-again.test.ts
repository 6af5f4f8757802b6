import { describe, expect, test } from "vitest"
import type { Journal } from "../../core/engine/journal.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { anyDatabase } from "../support/databases.ts"
import { dyingAt } from "../support/loop/faults.ts"
import { openMcpWorld, servers } from "./mcp-world.ts"
import { PlayedServer, type PlayedTool } from "./played-server.ts"

const ECHO = { name: "echo", description: "Says it again." }
const SAYS_SO = { ...ECHO, annotations: { idempotentHint: true } }

type Given = Readonly<{ tool: PlayedTool; operator?: readonly string[]; person?: boolean }>

describe.each(anyDatabase)("a write whose process is killed before its end is recorded, on $name", ({ create }) => {
  test.each<[what: string, given: Given, state: string, times: number]>([
    ["says nothing of a second time", { tool: ECHO, operator: ["echo"] }, "in_doubt", 1],
    ["says that a second time changes nothing, and nobody agrees", { tool: SAYS_SO, operator: [] }, "in_doubt", 1],
    ["says so, and the operator agrees", { tool: SAYS_SO, operator: ["echo"] }, "applied", 2],
    ["says so, and its person has not agreed", { tool: SAYS_SO, person: false }, "in_doubt", 1],
    ["says so, and its person agrees", { tool: SAYS_SO, person: true }, "applied", 2],
  ])("and whose tool %s", async (_what, { tool, operator, person }, state, times) => {
    await using place = await create()
    await using server = await PlayedServer.open([tool])
    const named = operator ? servers({ notes: { url: server.url, idempotent: operator } }) : []
    let id: ConversationId
    {
      let journal: ReturnType<typeof dyingAt> | undefined
      const between = (real: Journal) => (journal = dyingAt({ at: 7, when: "before" }, real))
      const model = scripted(calls("notes__echo", {}))
      await using world = await openMcpWorld(named, { url: place.url, model, between, reaches: ["127.0.0.1"] })
      if (person !== undefined) await nameOwn(world, server, person)
      id = await world.begin("Say it.")
      for (const { proposed } of await world.proposals(id))
        await world.decide(id, proposed.id, "commit").catch(() => {})
      expect([journal?.dead, server.calls.length]).toEqual([true, 1])
    }
    await using world = await openMcpWorld(named, {
      ...{ url: place.url, model: scripted(says("Done.")), reaches: ["127.0.0.1"] },
    })
    await world.pawl.runtime.recover()
    await world.pawl.runtime.rest(id)
    const ended = (await world.events(id)).filter(({ type }) => type === "tool_end")
    const { calls: open } = await world.load(id)
    expect(state === "applied" ? ended : open).toMatchObject([state === "applied" ? { status: "ok" } : { state }])
    expect(server.calls.length).toBe(times)
  })
})

type Opened = Awaited<ReturnType<typeof openMcpWorld>>

/** A user's server, and whether they allow its tool to be retried. */
async function nameOwn(world: Opened, server: PlayedServer, agrees: boolean): Promise<void> {
  const { signal } = new AbortController()
  const given = { name: "notes", url: server.url, headers: {}, agents: ["test"], data: "private" as const }
  const { tools } = await world.mcp.servers.add(world.user, given, signal)
  const [{ now, tool }] = tools as [(typeof tools)[number]]
  const decision = { tool, hash: now.hash, isAdmin: false, ...(agrees ? { again: true } : {}) }
  await world.mcp.servers.decide(world.user, "notes", decision)
}
