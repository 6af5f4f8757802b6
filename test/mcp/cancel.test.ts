import { describe, expect, test } from "vitest"
import { calls, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { anyDatabase } from "../support/databases.ts"
import { of } from "../support/loop/checked-world.ts"
import { TurnedClock } from "../support/loop/world.ts"
import { openMcpWorld, servers } from "./mcp-world.ts"
import { PlayedServer } from "./played-server.ts"

const DIG = { name: "dig", description: "Digs.", inputSchema: { type: "object", properties: {} } }

describe.each(anyDatabase)("a call at an MCP server that a user cancels, on $name", ({ create }) => {
  test.each([
    ["read", "cancelled"],
    ["ask", "interrupted"],
  ] as const)(
    "ends at once if it is to be %s, and its server is notified, whether it responds or not",
    async (rule, status) => {
      await using place = await create()
      const begun = Promise.withResolvers<void>()
      await using server = await PlayedServer.open([DIG], () => {
        begun.resolve()
        return "played" // and never answers
      })
      const model = scripted(calls("mine__dig", {}), says("Done."))
      const named = servers({ mine: { url: server.url, data: "public", tools: { "*": rule } } })
      // Time stands still: waiting for the server, or for a grace period, would take for ever.
      await using world = await openMcpWorld(named, { url: place.url, model, clock: new TurnedClock() })
      const { id } = await world.start("Dig.")
      const { runtime } = world.pawl
      if (rule === "ask") {
        await runtime.rest(id)
        const [open] = await world.proposals(id)
        await runtime.submit(id, { type: "decide", proposalId: open!.proposed.id, decision: "commit", by: world.user })
      }
      await begun.promise
      await runtime.submit(id, { type: "cancel", by: world.user })
      await runtime.rest(id)
      expect(of(await world.events(id), "tool_end")).toMatchObject([{ status }])
      expect((await world.load(id)).run?.status).toBe("cancelled")
      await expect.poll(() => server.methods).toContain("notifications/cancelled")
      expect(server.calls.length).toBe(1)
    },
  )
})
