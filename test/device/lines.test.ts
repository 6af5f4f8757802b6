import { describe, expect, test } from "vitest"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { always, calls, says, scripted, type ScriptedReply } from "../../core/testing.ts"
import { DeviceConnection } from "../../core/server/socket/device-connection.ts"
import { Devices } from "../../core/server/socket/devices.ts"
import { anyDatabase } from "../support/databases.ts"
import { connect, type Connecting, Machine } from "../support/server/device.ts"
import { openServer } from "../support/server/socket.ts"
import { TurnedClock } from "../support/loop/world.ts"

const MILK = { title: "Buy milk" }

describe.each(anyDatabase)("several sockets of one person on $name", (database) => {
  const open = async (...script: readonly ScriptedReply[]) => {
    const clock = new TurnedClock()
    const server = await openServer({ database, model: scripted(...script), clock })
    const [token, ada] = [await server.tokenFor("ada"), await server.visitor("ada")]
    const machine = new Machine()
    return {
      server,
      ada,
      machine,
      clock,
      connect: (more: Partial<Connecting> = {}) =>
        connect(machine, { url: server.url, token, deviceId: "laptop", ...more }),
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    }
  }
  const resultsOf = async ({ ada }: Pick<Awaited<ReturnType<typeof open>>, "ada">, id: string) =>
    (await ada.get(`/api/conversations/${id}`)).body.messages
      .filter(({ role }: { role: string }) => role === "tool")
      .map(({ content }: { content: string }) => content) as string[]

  test("the newest socket under a name is the device; the previous one only answers its open calls, and may close", async () => {
    await using world = await open(calls("list_tasks"), says("One."), calls("list_tasks"), says("Two."))
    const { ada, server } = world
    const id = await ada.begin({ deviceId: "laptop" })
    const older = await world.connect({ deals: () => undefined })
    const told = ada.say(id, "look")
    const { id: call } = await older.next("tool_call")
    using newer = await world.connect()
    expect((await ada.get("/api/devices")).body.items).toHaveLength(1)
    newer.send({ type: "tool_result", id: call, error: "not yours to answer" })
    newer.send({ type: "ping" })
    await newer.next("pong")
    older.send({ type: "tool_result", id: call, rows: [] })
    await told
    expect((await resultsOf(world, id))[0]).toContain("No tasks found")
    older.socket.terminate()
    await expect.poll(() => server.face.devices.size.devices).toBe(1)
    await ada.say(id, "look again")
    expect(newer.types()).toContain("tool_call")
    expect((await resultsOf(world, id))[1]).toContain("No tasks found")
  })

  test("a write whose connection has failed unnoticed is found over the device's new one, and done once", async () => {
    await using world = await open(calls("create_task", MILK), says("Done."))
    const { ada, clock, machine } = world
    const id = await ada.begin({ deviceId: "laptop", mode: "auto" })
    // It carries out the call; then its network changes, and nothing arrives over the old connection any more.
    using dead = await world.connect({ deals: (call) => void machine.deal(call), tells: () => undefined })
    const told = ada.say(id, "milk")
    await dead.next("tool_call")
    using _ = await world.connect()
    await clock.turn(30_000)
    await dead.next("tool_status")
    await clock.turn(5000)
    expect((await told).body.run.status).toBe("completed")
    expect((await ada.get("/api/agent/proposals")).body.items).toMatchObject([{ status: "applied" }])
    expect([machine.effects, machine.calls.map((call) => call.id)]).toEqual([
      1,
      Array(2).fill(machine.calls[0]?.id ?? "none"),
    ])
  })

  test("a device that changes its name is found only under the new one", async () => {
    await using world = await open(calls("list_tasks"), says("No."))
    const { ada } = world
    using device = await world.connect()
    device.send({ type: "hello", deviceId: "desktop", ledger: true, offers: ["workspace"] })
    await device.until((seen) => seen.filter(({ type }) => type === "hello").length === 2)
    expect((await ada.get("/api/devices")).body.items).toMatchObject([{ deviceId: "desktop" }])
    const id = await ada.begin({ deviceId: "laptop" })
    await ada.say(id, "look")
    expect((await resultsOf(world, id))[0]).toContain("not connected")
  })

  test("many concurrent decisions over the device's own socket do not delay its answers", async () => {
    // As many as one reply may propose, in each of two conversations.
    const [EACH, ALL] = [20, 40]
    const wishes = Array.from({ length: EACH }, (_, i): [string, { title: string }] => [
      "create_task",
      { title: `Task ${i}` },
    ])
    await using world = await open(calls(...wishes), calls(...wishes), always(says("Done.")))
    const { ada, machine } = world
    using device = await world.connect()
    const ids: ConversationId[] = []
    const waiting: { id: string }[] = []
    for (let made = 0; made < ALL / EACH; made++) {
      const id = (await ada.begin({ deviceId: "laptop" })) as ConversationId
      ids.push(id)
      waiting.push(...(await ada.say(id, "all of it")).body.proposals)
    }
    expect(waiting).toHaveLength(ALL)
    for (const { id: proposalId } of waiting) device.send({ type: "decide", proposalId, decision: "commit" })
    // No clock is turned: a timer would wait forever.
    await expect.poll(() => machine.effects, { timeout: 60_000 }).toBe(ALL)
    for (const id of ids) await world.server.face.pawl.runtime.rest(id)
    const { items } = (await ada.get("/api/agent/proposals?limit=100")).body as { items: { status: string }[] }
    expect(items.filter(({ status }) => status === "applied")).toHaveLength(ALL)
  })

  test("a device gets calls as fast as it answers: requested answers do not count as a flood", async () => {
    await using world = await open()
    const { server } = world
    using device = await world.connect()
    const place = { user: await userOf(server, "ada"), conversation: "conv_1" as ConversationId, deviceId: "laptop" }
    const asking = { effect: "read", signal: new AbortController().signal } as const
    const call = { callId: "call_1" as never, action: "select", table: "tasks" }
    // No clock is turned, so a throttled peer stays throttled.
    for (let i = 0; i < 1500; i++) await server.face.devices.call({ ...place, offer: "workspace" }, call, asking)
    // Unrequested answers count.
    for (let i = 0; i < 20_000; i++) device.send({ type: "tool_result", id: "call_nonsense", rows: [] })
    const strays = async () => {
      const text = await (await fetch(`${server.url}/metrics`)).text()
      return Number(/^pawl_device_answers_total\{outcome="stray"\} (\d+)/m.exec(text)?.[1] ?? 0)
    }
    await expect.poll(strays).toBeGreaterThan(499)
    for (let i = 0; i < 20; i++) await strays() // a peer that is not throttled is done by then
    expect(await strays()).toBeLessThan(10_000)
  })

  /** One device by itself: its connections, their frames, and one write to it. */
  const alone = () => {
    const [clock, sent] = [new TurnedClock(), [] as { type: string; id?: string }[]]
    const devices = new Devices(clock)
    const { signal } = new AbortController()
    const line = () => {
      const owner = { user: "user_ada" as never, lineage: "tok_1" }
      const made = new DeviceConnection(owner, { send: (frame) => void sent.push(frame) }, clock)
      made.introduce({ type: "hello", deviceId: "laptop", ledger: true, offers: ["workspace"] })
      void devices.register(made)
      return made
    }
    const at = { user: "user_ada" as never, conversation: "conv_1" as ConversationId, deviceId: "laptop" }
    const call = { callId: "call_1" as never, action: "insert", table: "tasks" }
    const write = () => devices.call({ ...at, offer: "workspace" }, call, { effect: "write", signal })
    return { devices, sent, signal, line, write }
  }

  test("a write that is retried while it is in progress is not sent twice: in doubt, and answered once", async () => {
    const { devices, sent, line, write } = alone()
    const only = line()
    const first = write()
    await expect(write()).rejects.toMatchObject({ code: "outcome_unknown" })
    only.receive({ type: "tool_result", id: "call_1", row: { id: "t1" } })
    expect(await first).toMatchObject({ row: { id: "t1" } })
    expect(sent.filter(({ id }) => id === "call_1")).toHaveLength(1)
    devices.unregister(only)
  })

  test("a write that cannot be sent a second time was still sent once: in doubt, never failed", async () => {
    const { devices, sent, signal, line, write } = alone()
    const first = line()
    const writing = write()
    await expect.poll(() => sent.filter(({ id }) => id === "call_1")).toHaveLength(1)
    const second = line()
    const busy = Array.from({ length: 256 }, (_, n) => {
      return second.read({ type: "tool_call", id: `read_${n}`, action: "select" }, { ms: 1000, signal })
    })
    devices.unregister(first)
    await expect(writing).rejects.toMatchObject({ code: "outcome_unknown" })
    expect(sent.filter(({ id }) => id === "call_1")).toHaveLength(1)
    devices.unregister(second)
    await Promise.all(busy)
  })

  test("two concurrent questions about a call get the same answer", async () => {
    const clock = new TurnedClock()
    const sent: { type: string }[] = []
    const line = new DeviceConnection(
      { user: "user_ada" as never, lineage: "tok_1" },
      { send: (frame) => void sent.push(frame) },
      clock,
    )
    const asked = [line.report("call_1"), line.report("call_1")]
    expect(sent).toHaveLength(1)
    const report = { type: "tool_status", id: "call_1", status: "applied", ok: true } as const
    expect([line.receive(report), line.receive(report)]).toEqual([true, false])
    expect(await Promise.all(asked)).toEqual([report, report])
    expect(line.waiting).toBe(0)
  })

  test("a call that was answered during a second wait is not asked about again", async () => {
    await using world = await open(calls("create_task", MILK), says("Done."))
    const { ada, clock, machine } = world
    const id = await ada.begin({ deviceId: "laptop", mode: "auto" })
    using device = await world.connect({ deals: () => undefined, tells: () => ({ status: "running" }) })
    const told = ada.say(id, "milk")
    const call = await device.next("tool_call")
    await clock.turn(30_000)
    await device.next("tool_status")
    device.send({ type: "ping" })
    await device.next("pong")
    device.send({ type: "tool_result", id: call.id, ...machine.deal(call) })
    await told
    await clock.turn(29_000)
    device.send({ type: "pong" })
    await clock.turn(1000)
    device.send({ type: "ping" })
    await device.until((seen) => seen.filter(({ type }) => type === "pong").length === 2)
    expect(device.types().filter((type) => type === "tool_status")).toHaveLength(1)
  })
})

async function userOf({ face }: Awaited<ReturnType<typeof openServer>>, name: string) {
  return (await face.store.people.ensure(name, 0)).id
}
