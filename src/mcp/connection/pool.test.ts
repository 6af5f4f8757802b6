import { expect, test } from "vitest"
import { PlayedServer } from "../../../test/support/mcp/played-server.ts"
import { TurnedClock } from "../../agent/turned-clock.fixture.ts"
import type { UserId } from "../../protocol/ids.ts"
import type { McpServer } from "../definition/server.ts"
import { ConnectionPool } from "./pool.ts"

const user = "user_ada" as UserId
const { signal } = new AbortController()

test("of several who find a connection closed one opens the next, and all use that", async () => {
  await using played = await PlayedServer.open([{ name: "echo" }])
  const server: McpServer = {
    ...{ key: "mcp_1", version: "1", name: "notes", isPersons: false, agents: ["test"] },
    target: { kind: "http", url: played.url, headers: {} },
    ...{ rules: {}, idempotent: [], isPublic: false, timeoutSeconds: 10, taskSeconds: 10, secrets: [] },
  }
  const launch = () => Promise.reject(new Error("no program is started here"))
  const ways = { guardedFetch: fetch, operatorFetch: fetch, launch, authFor: () => undefined }
  await using pool = new ConnectionPool(ways, new TurnedClock(), () => {})
  const use = () => pool.use({ server, user, signal }, async (connection) => connection)
  const first = await use()
  await first.close()
  const next = await Promise.all([use(), use(), use()])
  expect(new Set(next).size).toBe(1)
  expect(next[0]).not.toBe(first)
  expect(played.methods.filter((method) => method === "initialize")).toHaveLength(2)
})
