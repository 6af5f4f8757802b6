import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { CLOSING_MS, LOOK_EVERY_MS } from "../../client/device/device.ts"
import { type DeviceOptions, type DeviceState, openDevice } from "../../client/device/index.ts"
import { TICKET_MS } from "../../client/device/stay-connected.ts"
import { SERVER_SILENCE_MS } from "../../client/device/connection.ts"
import type { ClientClock } from "../../client/clock.ts"
import { TurnedClock } from "../../core/engine/turned-clock.fixture.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { ScriptedSocketServer, type ServerSide } from "./scripted-socket-server.ts"

const newFile = () => join(dataFolder(), "device.db")

/** The pause before a reconnect is skipped; silence lasts as long as a test wants. */
class ImpatientClock extends TurnedClock implements ClientClock {
  readonly waits: number[] = []

  override alarm(ms: number, ring: () => void): () => void {
    if (ms >= SERVER_SILENCE_MS || [TICKET_MS, CLOSING_MS, LOOK_EVERY_MS].includes(ms)) return super.alarm(ms, ring)
    this.waits.push(ms)
    const soon = setImmediate(ring)
    return () => clearImmediate(soon)
  }
}

function connect(server: ScriptedSocketServer, more: Partial<DeviceOptions> = {}) {
  const states: DeviceState[] = []
  const problems: unknown[] = []
  const clock = new ImpatientClock()
  const device = openDevice({
    server: server.url,
    token: "pat_secret",
    db: newFile(),
    clock,
    random: () => 0,
    embedsNotes: false, // its looks would stand among the waits for a connection
    onState: (state) => states.push(state),
    onProblem: (problem) => problems.push(problem),
    ...more,
  })
  return { device, states, problems, clock, [Symbol.asyncDispose]: () => device.close() }
}

const call = (id: string, action: string, more: object = {}) => ({ type: "tool_call", id, action, ...more })
const insert = (id: string, title: string) => call(id, "insert", { table: "tasks", data: { title } })

async function registered(server: ScriptedSocketServer): Promise<ServerSide> {
  const side = await server.next()
  await side.registers()
  return side
}

describe("a device", () => {
  test("signs in with a ticket, identifies itself, and is the same after a restart", async () => {
    await using server = await ScriptedSocketServer.open()
    const db = newFile()
    const ids: unknown[] = []
    for (let life = 0; life < 2; life++) {
      await using connected = connect(server, { db, offers: ["files"] })
      const side = await server.next()
      expect(side.protocol).toMatch(/^pawl\.ticket\.secret\d$/)
      const hello = await side.registers()
      expect(hello).toEqual({
        type: "hello",
        deviceId: connected.device.deviceId,
        ledger: true,
        offers: ["workspace", "files"],
        knows: ["pages", "expect", "hanging", "days", "cancel", "approvals", "search", "vector_delete"],
      })
      ids.push(hello.deviceId)
    }
    expect(ids[0]).toMatch(/^dev_/)
    expect(ids[1]).toBe(ids[0])
    expect(server.tokens).toEqual(["Bearer pat_secret", "Bearer pat_secret"])
  })

  test("answers concurrent calls, each by its id, a slow one last", async () => {
    await using server = await ScriptedSocketServer.open()
    const gate = Promise.withResolvers<void>()
    const slow = async () => {
      await gate.promise
      return { text: "slept" }
    }
    await using connected = connect(server, { handlers: { slow } })
    const side = await registered(server)
    side.say(call("c1", "slow"))
    side.say(insert("c2", "Buy milk"))
    side.say(call("c3", "select", { table: "tasks" }))
    side.say({ type: "ping" })
    for (const id of ["c2", "c3"]) await side.hears("tool_result", id)
    await side.hears("pong")
    const answeredEarly = side.heard.some(({ id }) => id === "c1")
    gate.resolve()
    expect(await side.hears("tool_result", "c1")).toEqual({ type: "tool_result", id: "c1", row: { text: "slept" } })
    expect(answeredEarly).toBe(false)
    expect(connected.device.tables.select("tasks")).toMatchObject([{ title: "Buy milk" }])
  })

  test("stops a call that is cancelled, and reports its result", async () => {
    await using server = await ScriptedSocketServer.open()
    const begun = Promise.withResolvers<void>()
    const sleep = async (_: object, { signal }: { readonly signal: AbortSignal }) => {
      begun.resolve()
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()))
      return { text: "stopped" }
    }
    await using _ = connect(server, { handlers: { sleep } })
    const side = await registered(server)
    side.say(call("c1", "sleep"))
    await begun.promise
    side.say({ type: "tool_cancel", id: "c1" })
    expect(await side.hears("tool_result", "c1")).toMatchObject({ row: { text: "stopped" } })
  })

  test("answers malformed calls with an error, and ignores frames that are not for it", async () => {
    await using server = await ScriptedSocketServer.open()
    await using connected = connect(server)
    const side = await registered(server)
    for (const nonsense of ["{", "null", "[]", `{"type":"tool_call"}`, `{"type":"final","response":"x"}`])
      side.say(nonsense)
    side.say(call("c1", "select", { table: "tasks", filters: { owner: "me" } }))
    side.say(call("c2", "select", { table: 5 }))
    side.say({ type: "text_chunk", text: "Hello" })
    expect(await side.hears("tool_result", "c1")).toMatchObject({ error: expect.stringContaining("owner") })
    expect(await side.hears("tool_result", "c2")).toMatchObject({ error: expect.stringContaining("table") })
    expect(side.heard).toHaveLength(3)
    expect(connected.problems).toEqual([])
  })

  test("reports the state of a call: applied, still running, unknown", async () => {
    await using server = await ScriptedSocketServer.open()
    const gate = Promise.withResolvers<void>()
    const slow = async () => {
      await gate.promise
      return { text: "slept" }
    }
    await using _connected = connect(server, { handlers: { slow } })
    const side = await registered(server)
    side.say(insert("c1", "x"))
    const { row } = await side.hears("tool_result", "c1")
    side.say(call("c2", "slow"))
    for (const id of ["c1", "c2", "c3"]) side.say({ type: "tool_status", id })
    expect(await side.hears("tool_status", "c1")).toEqual({ type: "tool_status", id: "c1", status: "applied", row })
    expect(await side.hears("tool_status", "c2")).toEqual({ type: "tool_status", id: "c2", status: "running" })
    expect(await side.hears("tool_status", "c3")).toEqual({ type: "tool_status", id: "c3", status: "unknown" })
    gate.resolve()
    expect(await side.hears("tool_result", "c2")).toMatchObject({ row: { text: "slept" } })
  })
})

test("after `unknown` was reported for a call, only the same connection may send that call again", async () => {
  await using server = await ScriptedSocketServer.open()
  await using connected = connect(server)
  const first = await registered(server)
  for (const id of ["c1", "c2"]) {
    first.say({ type: "tool_status", id })
    expect(await first.hears("tool_status", id)).toMatchObject({ status: "unknown" })
  }
  first.say(insert("c1", "tried again"))
  expect(await first.hears("tool_result", "c1")).toMatchObject({ row: { title: "tried again" } })
  first.socket.terminate()
  const second = await registered(server)
  second.say(insert("c2", "late"))
  expect(await second.hears("tool_result", "c2")).toMatchObject({
    error: expect.stringContaining("answer that it never"),
  })
  expect(connected.device.tables.select("tasks")).toHaveLength(1)
})

describe("a connection that ends", () => {
  test("is replaced, after a growing pause, until one lasts", async () => {
    await using server = await ScriptedSocketServer.open()
    server.refuses = 503
    await using connected = connect(server)
    await until(() => connected.clock.waits.length >= 7)
    expect(connected.clock.waits.slice(0, 7)).toEqual([500, 1000, 2000, 4000, 8000, 8000, 8000])
    server.refuses = undefined
    const side = await registered(server)
    await until(() => connected.device.state.state === "connected")
    connected.clock.turn(60_000)
    side.socket.terminate()
    await registered(server)
    expect(connected.clock.waits.at(-1)).toBe(500)
  })

  test("loses no answer: a repeated call gets the same answer", async () => {
    await using server = await ScriptedSocketServer.open()
    const gate = Promise.withResolvers<void>()
    let runs = 0
    const slow = async () => {
      await gate.promise
      return { text: `run ${++runs}` }
    }
    await using connected = connect(server, { handlers: { slow } })
    const first = await registered(server)
    first.say(insert("c1", "Buy milk"))
    const { row } = await first.hears("tool_result", "c1")
    first.say(call("c2", "slow"))
    first.say({ type: "ping" })
    await first.hears("pong")
    first.socket.terminate()
    const second = await registered(server)
    second.say(insert("c1", "Buy milk"))
    second.say(call("c2", "slow"))
    expect(await second.hears("tool_result", "c1")).toEqual({ type: "tool_result", id: "c1", row })
    gate.resolve()
    expect(await second.hears("tool_result", "c2")).toMatchObject({ row: { text: "run 1" } })
    expect(connected.device.tables.select("tasks")).toHaveLength(1)
    // One answer on the socket that asked, none to the call of the other socket.
    expect(second.heard.filter(({ id }) => id === "c2")).toHaveLength(1)
  })

  test("without a frame is detected by its silence", async () => {
    await using server = await ScriptedSocketServer.open()
    await using connected = connect(server)
    const first = await registered(server)
    await until(() => connected.device.state.state === "connected")
    connected.clock.turn(SERVER_SILENCE_MS - 1)
    first.say({ type: "ping" })
    await first.hears("pong")
    connected.clock.turn(SERVER_SILENCE_MS - 1)
    expect(connected.device.state.state).toBe("connected")
    first.socket.pause() // the line is dead: nothing comes back, not even the end
    connected.clock.turn(1)
    await registered(server)
  })

  test("to a server that never sends a frame is given up too", async () => {
    await using server = await ScriptedSocketServer.open()
    await using connected = connect(server)
    await (await server.next()).hears("hello")
    connected.clock.turn(SERVER_SILENCE_MS)
    await registered(server)
  })

  test.each([
    ["a revoked token", 4401, undefined],
    ["a token that is not accepted", undefined, 401],
    ["a token that lacks the scope", undefined, 403],
  ])("for %s is the last", async (_what, code, status) => {
    await using server = await ScriptedSocketServer.open()
    server.refuses = status
    await using connected = connect(server)
    if (code) (await registered(server)).socket.close(code, "revoked")
    const error = await connected.device.ended
    expect(error?.message).toMatch(/does not accept|do not know you/)
    expect(error?.message).not.toContain("pat_secret")
    expect(connected.states.at(-1)).toEqual({ state: "ended", error })
    expect(server.tokens).toHaveLength(1)
  })
})

describe("closing", () => {
  test("closes the connection, stops tools, and closes its file", async () => {
    await using server = await ScriptedSocketServer.open()
    const db = newFile()
    const slow = (_data: object, { signal }: { signal: AbortSignal }) =>
      new Promise<never>((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))))
    const { device, problems } = connect(server, { db, handlers: { slow } })
    const side = await registered(server)
    side.say(call("c1", "slow"))
    side.say({ type: "ping" })
    await side.hears("pong")
    await device.close()
    await side.closed
    expect(await device.ended).toBeUndefined()
    expect(device.state).toEqual({ state: "ended" })
    expect(() => device.tables.select("tasks")).toThrow("not open")
    expect(problems).toEqual([])
    await device.close()
    await using again = connect(server, { db })
    expect(again.device.tables.select("tasks")).toEqual([])
  })

  test("does not wait for an unreachable server, nor for a tool that does not stop", async () => {
    await using server = await ScriptedSocketServer.open()
    server.refuses = 503
    const patient = connect(server, { clock: new TurnedClock() })
    await until(() => patient.device.state.state === "waiting")
    await patient.device.close()
    server.refuses = undefined
    const { device, clock } = connect(server, { handlers: { stuck: () => new Promise(() => {}) } })
    const side = await registered(server)
    side.say(call("c1", "stuck"))
    side.say({ type: "ping" })
    await side.hears("pong")
    const closed = device.close()
    await until(() => clock.pending.includes(CLOSING_MS))
    clock.turn(CLOSING_MS)
    await closed
  })
})

test("a tool cannot have the name of a built-in action", () => {
  const handlers = { select: () => ({ text: "" }) }
  expect(() => openDevice({ server: "http://127.0.0.1:1", token: "t", db: newFile(), handlers })).toThrow('"select"')
})

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}

test("a file serves one device at a time", async () => {
  await using server = await ScriptedSocketServer.open()
  const db = newFile()
  const first = connect(server, { db })
  expect(() => connect(server, { db })).toThrow(/Another device uses .*device\.db/)
  await first.device.close()
  await using _second = connect(server, { db })
  await registered(server)
})
