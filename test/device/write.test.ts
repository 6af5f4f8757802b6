import { describe, expect, test } from "vitest"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { calls, says, scripted, type ScriptedReply } from "../../core/testing.ts"
import { anyDatabase } from "../support/databases.ts"
import { connect, type Connecting, Machine } from "../support/server/device.ts"
import { openServer } from "../support/server/socket.ts"
import { TurnedClock } from "../support/loop/world.ts"

const MILK = { title: "Buy milk" }

describe.each(anyDatabase)("a write on a device on $name", (database) => {
  const open = async (script: readonly ScriptedReply[] = [calls("create_task", MILK), says("Done.")]) => {
    const clock = new TurnedClock()
    const server = await openServer({ database, model: scripted(...script), clock })
    const [token, ada] = [await server.tokenFor("ada"), await server.visitor("ada")]
    const machine = new Machine()
    const id = (await ada.begin({ deviceId: "laptop", mode: "auto" })) as ConversationId
    return {
      server,
      ada,
      machine,
      clock,
      id,
      token,
      connect: (more: Partial<Connecting> = {}) =>
        connect(machine, { url: server.url, token, deviceId: "laptop", ...more }),
      proposal: async () => {
        const [{ id: proposal }] = (await ada.get("/api/agent/proposals")).body.items
        return (await ada.get(`/api/agent/proposals/${proposal}`)).body
      },
      status: async () => (await ada.get("/api/agent/proposals")).body.items[0]?.status,
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    }
  }

  test("that has no answer in 30 s is asked about, and the device's record is the result", async () => {
    await using world = await open()
    const { ada, clock, machine, id } = world
    // It carries out the call, and its answer is lost.
    using device = await world.connect({ deals: (call) => void machine.deal(call) })
    const told = ada.say(id, "milk")
    await device.next("tool_call")
    await clock.turn(29_900)
    expect(device.types()).not.toContain("tool_status")
    await clock.turn(100)
    await told
    expect(device.types().filter((type) => type === "tool_status")).toHaveLength(1)
    expect((await world.proposal()).status).toBe("applied")
    expect(machine.effects).toBe(1)
  })

  test("is in doubt, never failed, if the device does not answer about it; retry asks again and does it once", async () => {
    await using world = await open()
    const { ada, clock, machine, id } = world
    let deaf = true
    using device = await world.connect({
      deals: (call) => (deaf ? void machine.deal(call) : machine.deal(call)),
      tells: (call) => (deaf ? undefined : { status: "applied", ...machine.ledger.get(call) }),
    })
    const told = ada.say(id, "milk")
    await device.next("tool_call")
    await clock.turn(30_000)
    await device.next("tool_status")
    expect(await world.status()).toBe("applying")
    await clock.turn(5000)
    expect((await told).body.run).toMatchObject({ status: "paused", pauseReason: "in_doubt" })
    const proposal = await world.proposal()
    expect(proposal.status).toBe("in_doubt")
    deaf = false
    const retried = await ada.post(`/api/agent/proposals/${proposal.id}/resolve`, { choice: "retry" })
    expect(retried.body.status).toBe("applied")
    expect(machine.effects).toBe(1)
  })

  test("that the device is still doing gets one more wait", async () => {
    await using world = await open()
    const { ada, clock, machine, id } = world
    using device = await world.connect({ deals: () => undefined, tells: () => ({ status: "running" }) })
    const told = ada.say(id, "milk")
    const call = await device.next("tool_call")
    await clock.turn(30_000)
    await device.next("tool_status")
    device.send({ type: "ping" })
    await device.next("pong")
    expect(await world.status()).toBe("applying")
    device.send({ type: "tool_result", id: call.id, ...machine.deal(call) })
    await told
    expect((await world.proposal()).status).toBe("applied")
  })

  test("a device that supports it is asked to stop with its run, and what it did by then counts", async () => {
    await using world = await open()
    const { ada, machine, id } = world
    using device = await world.connect({ deals: () => undefined, knows: ["cancel"] })
    const told = ada.say(id, "milk")
    const call = await device.next("tool_call")
    const stopped = ada.post(`/api/conversations/${id}/cancel`)
    expect(await device.next("tool_cancel")).toEqual({ type: "tool_cancel", id: call.id })
    device.send({ type: "tool_result", id: call.id, ...machine.deal(call) })
    expect([(await stopped).body, (await told).body.run.status]).toEqual([{ cancelled: true }, "cancelled"])
    expect((await world.proposal()).status).toBe("applied")
  })

  test("is in doubt if a device without a ledger does not answer, even if it reports unknown", async () => {
    await using world = await open()
    const { ada, clock, id } = world
    using device = await world.connect({ ledger: false, deals: () => undefined, tells: () => ({ status: "unknown" }) })
    const told = ada.say(id, "milk")
    await device.next("tool_call")
    await clock.turn(30_000)
    expect((await told).body.run).toMatchObject({ pauseReason: "in_doubt" })
  })

  test("has failed if a ledger says that it was never done, and the model is informed", async () => {
    await using world = await open()
    const { ada, clock, machine, id } = world
    using device = await world.connect({ deals: () => undefined })
    const told = ada.say(id, "milk")
    await device.next("tool_call")
    await clock.turn(30_000)
    await told
    expect((await world.proposal()).status).toBe("failed")
    expect(machine.effects).toBe(0)
  })

  test("is sent once more under the same id to the same device that comes back, and applied once", async () => {
    await using world = await open()
    const { ada, machine, id } = world
    const first = await world.connect({
      deals: (call) => {
        machine.deal(call)
        first.socket.terminate()
        return undefined
      },
    })
    const told = ada.say(id, "milk")
    await first.close()
    using second = await world.connect()
    await told
    expect((await world.proposal()).status).toBe("applied")
    expect([machine.effects, machine.calls.length, new Set(machine.calls.map((call) => call.id)).size]).toEqual([
      1, 2, 1,
    ])
    expect(second.types()).toContain("tool_call")
  })

  test("is not sent to another device, nor to one without a ledger, and is in doubt at the end of the grace period", async () => {
    for (const ledger of [true, false]) {
      await using world = await open()
      const { ada, clock, machine, id } = world
      const first = await world.connect({ ledger, deals: (call) => void machine.deal(call) })
      const told = ada.say(id, "milk")
      await first.next("tool_call")
      first.socket.terminate()
      await first.close()
      using other = await world.connect({ deviceId: "desktop" })
      using same = ledger ? undefined : await world.connect()
      if (ledger) {
        await expect.poll(() => world.server.face.pawl.runtime.isWorking(id)).toBe(true)
        await clock.turn(9000)
        expect(await world.status()).toBe("applying")
        await clock.turn(1000)
      }
      expect((await told).body.run).toMatchObject({ pauseReason: "in_doubt" })
      expect([...other.types(), ...(same?.types() ?? [])]).not.toContain("tool_call")
      expect(machine.effects).toBe(1)
    }
  })

  test("in progress when the server dies is settled by the device's ledger after the restart", async () => {
    await using world = await open()
    const { ada, clock, machine, id, server } = world
    const device = await world.connect({ deals: (call) => void machine.deal(call) })
    void ada.say(id, "milk").catch(() => {})
    await device.next("tool_call")
    // The first process's journal ends here; another process takes over, as after a kill.
    const { engine } = server.face.store
    await engine.change({
      type: "statements",
      statements: [{ sql: "UPDATE conversation SET owner = 'node_dead'", values: [] }],
    })
    await using second = await openServer({ database, model: scripted(says("Done.")), url: server.place })
    const again = await connect(machine, { url: second.url, token: world.token, deviceId: "laptop" })
    await second.face.pawl.runtime.recover()
    await second.face.pawl.runtime.rest(id)
    expect(again.types()).toContain("tool_status")
    const [proposal] = (await (await second.visitor("ada")).get("/api/agent/proposals")).body.items
    expect(proposal.status).toBe("applied")
    expect(machine.effects).toBe(1)
    // The first process learns that it has ended when its grace period has.
    for (const peer of [again, device]) {
      peer.socket.terminate()
      await peer.close()
    }
    await expect
      .poll(async () => {
        await clock.turn(10_000)
        return server.face.pawl.runtime.isWorking(id)
      })
      .toBe(false)
  })

  test("in doubt is not retried on another device, which would report unknown", async () => {
    await using world = await open()
    const { ada, clock, machine, id, server } = world
    using device = await world.connect({ deals: (call) => void machine.deal(call), tells: () => undefined })
    const told = ada.say(id, "milk")
    await device.next("tool_call")
    await clock.turn(30_000)
    await device.next("tool_status")
    await clock.turn(5000)
    expect((await told).body.run).toMatchObject({ pauseReason: "in_doubt" })
    const desktop = new Machine()
    const token = await server.tokenFor("ada")
    using other = await connect(desktop, { url: server.url, token, deviceId: "desktop" })
    await ada.patch(`/api/conversations/${id}`, { deviceId: "desktop" })
    const proposal = await world.proposal()
    const retried = await ada.post(`/api/agent/proposals/${proposal.id}/resolve`, { choice: "retry" })
    expect(retried.body.status).toBe("in_doubt")
    expect([machine.effects, desktop.effects, other.types()]).toEqual([1, 0, ["hello"]])
  })

  test("in progress when it is cancelled is not lost: reported as interrupted, settled when its answer comes", async () => {
    await using world = await open()
    const { ada, clock, machine, id } = world
    using device = await world.connect({ deals: () => undefined })
    const told = ada.say(id, "milk")
    const call = await device.next("tool_call")
    const cancelled = ada.post(`/api/conversations/${id}/cancel`)
    await expect
      .poll(async () => {
        await clock.turn(500)
        return (await ada.get(`/api/conversations/${id}`)).body.status
      })
      .toBe("active")
    expect((await cancelled).body).toEqual({ cancelled: true })
    await told
    device.send({ type: "tool_result", id: call.id, ...machine.deal(call) })
    await expect.poll(() => world.status()).toBe("applied")
  })
})
