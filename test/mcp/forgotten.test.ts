import type { ServerResponse } from "node:http"
import { expect, test } from "vitest"
import { calls, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { anyDatabase } from "../support/databases.ts"
import { of } from "../support/loop/checked-world.ts"
import { openMcpWorld, servers } from "./mcp-world.ts"
import { PlayedServer, text } from "./played-server.ts"

/** The tool's `idempotentHint` counts only if the operator allows it. */
const ADD = { name: "add", inputSchema: { type: "object", properties: {} }, annotations: { idempotentHint: true } }

interface Rules {
  readonly tools?: Record<string, string>
  readonly idempotent?: readonly string[]
}

/** A conversation that uses a tool twice; a hook for the server runs in between. */
async function usedTwice(server: PlayedServer, between: () => void, rules: Rules = {}) {
  await using place = await anyDatabase[0]!.create()
  const model = scripted(calls("notes__add", {}), says("One."), calls("notes__add", {}), says("Two."))
  const named = servers({ notes: { url: server.url, ...rules } })
  await using world = await openMcpWorld(named, { url: place.url, model })
  const commit = async () => {
    for (const { proposed } of await world.proposals(id)) await world.decide(id, proposed.id, "commit")
  }
  const id = await world.begin("Add it.")
  await commit()
  between()
  await world.send(id, "Once more.")
  await commit()
  const events = await world.events(id)
  return { ends: of(events, "tool_end").map(({ status }) => status), doubts: of(events, "in_doubt").length }
}

const notFound = (response: ServerResponse) => void response.writeHead(404).end()

test("a write over a session that its server has forgotten is sent over a new one, once", async () => {
  await using server = await PlayedServer.open([ADD])
  const forgets = () => {
    server.instead = (_request, response) => {
      server.instead = undefined // after a restart it can ask clients to initialize again
      notFound(response)
      return true
    }
  }
  expect(await usedTwice(server, forgets)).toEqual({ ends: ["ok", "ok"], doubts: 0 })
  expect(server.calls).toHaveLength(2)
  expect(server.methods.filter((method) => method === "initialize")).toHaveLength(2)
})

test.each<[what: string, rules: Rules, expected: object]>([
  ["a write is in doubt, and not sent again", {}, { calls: 2, ends: ["ok"], doubts: 1 }],
  ["one that may be done twice is", { idempotent: ["add"] }, { calls: 3, ends: ["ok", "ok"], doubts: 0 }],
  ["a read is", { tools: { add: "read" } }, { calls: 3, ends: ["ok", "ok"], doubts: 0 }],
])("a call that was applied, and that a proxy answers with 404, %s", async (_what, rules, expected) => {
  let lies = false
  await using server = await PlayedServer.open([ADD], (_call, response) => {
    if (!lies) return text("Added.")
    lies = false
    notFound(response)
    return "played"
  })
  const { ends, doubts } = await usedTwice(server, () => void (lies = true), rules)
  expect({ calls: server.calls.length, ends, doubts }).toEqual(expected)
})
