import { expect, test, vi } from "vitest"
import { PlayedServer } from "../../../../test/mcp/played-server.ts"
import { TurnedClock } from "../../../engine/turned-clock.fixture.ts"
import type { UserId } from "../../../protocol/ids.ts"
import type { McpServer } from "../definition/server.ts"
import { ConnectionPool } from "./pool.ts"

const user = "user_ada" as UserId
const { signal } = new AbortController()

const launch = () => Promise.reject(new Error("no program is started here"))
const options = { guardedFetch: fetch, operatorFetch: fetch, launch, authFor: () => undefined }
const serverAt = (url: string): McpServer => ({
  ...{ key: "mcp_1", version: "1", name: "notes", isPersons: false, agents: ["test"] },
  target: { kind: "http", url, headers: {} },
  ...{ rules: {}, idempotent: [], isPublic: false, timeoutSeconds: 10, taskSeconds: 10, secrets: [] },
})

test("when several callers find a closed connection, one opens the next and all use it", async () => {
  await using played = await PlayedServer.open([{ name: "echo" }])
  const server = serverAt(played.url)
  await using pool = new ConnectionPool(options, new TurnedClock(), () => {})
  const use = () => pool.use({ server, user, signal }, async (connection) => connection)
  const first = await use()
  await first.close()
  const next = await Promise.all([use(), use(), use()])
  expect(new Set(next).size).toBe(1)
  expect(next[0]).not.toBe(first)
  expect(played.methods.filter((method) => method === "initialize")).toHaveLength(2)
})

test("a connection that never reports its capabilities is not shared, and closed after its last user", async () => {
  await using played = await PlayedServer.open([{ name: "echo" }])
  const server = serverAt(played.url)
  await using pool = new ConnectionPool(options, new TurnedClock(), () => {})
  const other = Promise.withResolvers<void>()
  const atWork = pool.use({ server, user, signal }, async (connection) => {
    await other.promise
    return connection
  })
  const first = await pool.use({ server, user, signal }, async (connection) => connection)
  played.silentAbout = "tools/list"
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  const listed = pool.use({ server, user, signal }, (connection) => connection.tools(signal))
  const refused = expect(listed).rejects.toThrow(/cannot be used/)
  await vi.waitUntil(() => played.methods.includes("tools/list"), { timeout: 60_000 })
  vi.advanceTimersByTime(10_000)
  vi.useRealTimers()
  await refused
  expect(first.isClosed).toBe(false)
  expect(await pool.use({ server, user, signal }, async (connection) => connection)).not.toBe(first)
  other.resolve()
  expect(await atWork).toBe(first)
  await vi.waitUntil(() => first.isClosed)
})

test("so is one whose caller has given up after a long silence", async () => {
  await using played = await PlayedServer.open([{ name: "echo" }])
  const server = serverAt(played.url)
  const clock = new TurnedClock()
  await using pool = new ConnectionPool(options, clock, () => {})
  const first = await pool.use({ server, user, signal }, async (connection) => connection)
  played.silentAbout = "tools/list"
  for (const [waitedMs, isKept] of [
    [4999, true],
    [5000, false],
  ] as const) {
    const givingUp = new AbortController()
    const asked = played.methods.length
    const listed = pool.use({ server, user, signal: givingUp.signal }, (each) => each.tools(givingUp.signal))
    const refused = expect(listed).rejects.toThrow("aborted")
    await vi.waitUntil(() => played.methods.indexOf("tools/list", asked) >= 0, { timeout: 60_000 })
    clock.turn(waitedMs)
    givingUp.abort()
    await refused
    expect((await pool.use({ server, user, signal }, async (connection) => connection)) === first).toBe(isKept)
  }
})

test("closing the pool waits for a program that is already shutting down", async () => {
  const script = `
    process.on("SIGTERM", () => {})
    setInterval(() => {}, 1000)
    require("node:readline").createInterface(process.stdin).on("line", (line) => {
      const { id } = JSON.parse(line)
      const serverInfo = { name: "stubborn", version: "1" }
      const result = { protocolVersion: "2025-06-18", capabilities: {}, serverInfo }
      if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result }))
    })`
  let isOver = false
  const launched = {
    ...{ program: process.execPath, arguments: ["-e", script], cwd: "/", environment: {} },
    async [Symbol.asyncDispose]() {
      isOver = true
    },
  }
  const server: McpServer = {
    ...serverAt("http://unused.example"),
    target: { kind: "program", command: [], environment: {}, folder: undefined, network: false, sandbox: false },
  }
  {
    await using pool = new ConnectionPool({ ...options, launch: async () => launched }, new TurnedClock(), () => {})
    const cancelled = pool.use({ server, user, signal }, async (connection) => {
      void connection.close()
      throw new Error("The run was stopped.")
    })
    await expect(cancelled).rejects.toThrow("stopped")
  }
  await expect.poll(() => isOver, { timeout: 10_000 }).toBe(true)
})
