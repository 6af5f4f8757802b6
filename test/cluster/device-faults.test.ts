import { describe, expect, test } from "vitest"
import type { DeviceCall, DevicePlace } from "../../core/engine/devices.ts"
import { type CallId, type ConversationId, newId } from "../../core/protocol/ids.ts"
import type { NodeMessage } from "../../core/protocol/node-messages.ts"
import { calls, says } from "../../core/testing.ts"
import { openNodes, type OnTheWay } from "./nodes.ts"
import { shared } from "./links.ts"

const MILK = { title: "Buy milk" }
const WRITE = { effect: "write", signal: new AbortController().signal } as const

/** Holds back the messages of a type until they are released. */
class HeldUp {
  readonly onTheWay: OnTheWay
  readonly came: Promise<void>
  readonly #held: (() => Promise<boolean>)[] = []

  constructor(type: NodeMessage["type"]) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.came = promise
    this.onTheWay = async (message, send) => {
      if (message.type !== type) return send()
      this.#held.push(send)
      resolve()
      return true
    }
  }

  async letGo(): Promise<void> {
    for (const send of this.#held) await send()
  }
}

describe.each(shared)("a write to a device of another node, on $name,", (database) => {
  type Nodes = Awaited<ReturnType<typeof openNodes>>
  const placeOf = async ({ two }: Nodes): Promise<DevicePlace> => {
    const { id: user } = await two.face.store.people.ensure("ada", 0)
    return { user, conversation: newId("conv") as ConversationId, deviceId: "laptop", offer: "workspace" }
  }
  const insert = (): DeviceCall => ({ callId: newId("call") as CallId, action: "insert", table: "tasks", data: MILK })
  const effects = ({ machine }: Nodes) => [machine.effects, machine.calls.length]

  test("is carried out once, though every message between the nodes arrives three times", async () => {
    const thrice: OnTheWay = async (_, send) => {
      await Promise.all([send(), send()])
      return send()
    }
    const script = [calls("create_task", MILK), calls("list_tasks"), says("Done.")]
    await using nodes = await openNodes({ database, script, onTheWay: thrice })
    // A device without a ledger: it would carry out a second delivery again.
    using _ = await nodes.connect(nodes.one, {
      deals: (call) => (nodes.machine.ledger.clear(), nodes.machine.deal(call)),
    })
    const id = await nodes.ada.begin({ deviceId: "laptop", mode: "auto" })
    expect((await nodes.ada.say(id, "milk")).body.run.status).toBe("completed")
    expect(effects(nodes)).toEqual([1, 2])
  })

  test("a call that arrives too late is not carried out, and the caller learns that", async () => {
    const held = new HeldUp("device_write")
    await using nodes = await openNodes({ database, turned: true, onTheWay: held.onTheWay })
    using _ = await nodes.connect(nodes.one, { ledger: false })
    const writing = nodes.two.face.devices.call(await placeOf(nodes), insert(), WRITE)
    await nodes.pass(held.came)
    await nodes.clocks[0]!.turn(5000)
    await held.letGo()
    await expect(nodes.pass(writing)).rejects.toMatchObject({ code: "device_offline" })
    expect(effects(nodes)).toEqual([0, 0])
  })

  test("is not carried out any more once it counts as not done, however late it arrives", async () => {
    const held = new HeldUp("device_write")
    await using nodes = await openNodes({ database, turned: true, onTheWay: held.onTheWay })
    using _ = await nodes.connect(nodes.one)
    const [place, call] = [await placeOf(nodes), insert()]
    const writing = nodes.two.face.devices.call(place, call, WRITE)
    await nodes.pass(held.came)
    // The node that takes over the conversation, either one, asks for the outcome of the call.
    const began = nodes.clocks[0]!.now()
    expect(await nodes.pass(nodes.one.face.devices.outcome(place, call.callId))).toBe("not-applied")
    expect(nodes.clocks[0]!.now() - began).toBeGreaterThanOrEqual(5000)
    await held.letGo()
    await expect(nodes.pass(writing)).rejects.toMatchObject({ code: "device_offline" })
    expect(effects(nodes)).toEqual([0, 0])
  })

  test("is found in the device's ledger if the answer is lost between the nodes", async () => {
    const lost: string[] = []
    const onTheWayBack: OnTheWay = async (message, send) => {
      if (message.type !== "device_answer" || message.answer.is !== "outcome") return send()
      lost.push(message.id)
      return true
    }
    await using nodes = await openNodes({ database, turned: true, onTheWayBack })
    using _ = await nodes.connect(nodes.one)
    const writing = nodes.two.face.devices.call(await placeOf(nodes), insert(), WRITE)
    await nodes.pass(expect.poll(() => lost.length).toBe(1))
    // The waiting node's clock moves in one step: its next question then has all the time that it needs.
    await nodes.clocks[1]!.turn(35_000)
    expect(await nodes.pass(writing)).toMatchObject({ row: MILK })
    expect(effects(nodes)).toEqual([1, 1])
  })

  test("is in doubt if its answer is lost and the device keeps no ledger", async () => {
    const onTheWayBack: OnTheWay = async (message, send) =>
      message.type === "device_answer" && message.answer.is !== "ticket" ? true : send()
    await using nodes = await openNodes({ database, turned: true, onTheWayBack })
    using device = await nodes.connect(nodes.one, { ledger: false })
    const writing = nodes.two.face.devices.call(await placeOf(nodes), insert(), WRITE)
    await nodes.pass(device.next("tool_call"))
    await expect(nodes.pass(writing, { step: 1000 })).rejects.toMatchObject({ code: "outcome_unknown" })
    expect(effects(nodes)).toEqual([1, 1])
  })

  test("follows the device to the node where it reconnects, and is carried out once", async () => {
    await using nodes = await openNodes({ database, script: [calls("create_task", MILK), says("Done.")] })
    const { ada, machine } = nodes
    const device = await nodes.connect(nodes.one, { deals: (call) => void machine.deal(call) })
    const id = await ada.begin({ deviceId: "laptop", mode: "auto" })
    const told = ada.say(id, "milk")
    await device.next("tool_call")
    device.socket.terminate()
    using _ = await nodes.connect(nodes.two)
    expect((await told).body.run.status).toBe("completed")
    expect((await ada.get("/api/agent/proposals")).body.items).toMatchObject([{ status: "applied" }])
    expect([machine.effects, machine.calls.map((call) => call.id)]).toEqual([1, Array(2).fill(machine.calls[0]!.id)])
  })

  test("is found in the device's ledger if its node has died and it reconnects to another", async () => {
    await using nodes = await openNodes({ database, turned: true })
    const { machine, one, two, clocks } = nodes
    using device = await nodes.connect(one, { deals: (call) => void machine.deal(call) })
    const writing = two.face.devices.call(await placeOf(nodes), insert(), WRITE)
    await nodes.pass(device.next("tool_call"))
    await nodes.strikeOff(one) // and from here on its clock stands still: it does nothing any more
    using _ = await nodes.connect(two)
    const began = clocks[1]!.now()
    expect(await nodes.pass(writing, { some: [clocks[1]!] })).toMatchObject({ row: MILK })
    expect([machine.effects, machine.calls.length]).toEqual([1, 2])
    expect(clocks[1]!.now() - began).toBeLessThan(10_000) // not when the device has been silent for too long
  })

  test("is in doubt if its node has died and the device does not come back, or has no ledger", async () => {
    await using nodes = await openNodes({ database, turned: true })
    const { machine, one, two, clocks } = nodes
    for (const ledger of [true, false]) {
      using device = await nodes.connect(one, { ledger, deals: (call) => void machine.deal(call) })
      const writing = two.face.devices.call(await placeOf(nodes), insert(), WRITE)
      await nodes.pass(device.next("tool_call"))
      await nodes.strikeOff(one)
      await expect(nodes.pass(writing, { some: [clocks[1]!] })).rejects.toMatchObject({ code: "outcome_unknown" })
      device.socket.terminate()
    }
    expect(effects(nodes)).toEqual([2, 2])
  })

  test("a write counts as not sent, rather than in doubt, if the device's node does not accept the request", async () => {
    await using nodes = await openNodes({ database, turned: true })
    const { one, two, clocks, machine } = nodes
    using _ = await nodes.connect(one)
    const writing = two.face.devices.call(await placeOf(nodes), insert(), WRITE)
    await expect(nodes.pass(writing, { some: [clocks[1]!] })).rejects.toMatchObject({ code: "device_offline" })
    expect(machine.calls).toEqual([])
  })

  test("is refused with the same message when the device is overloaded", async () => {
    await using nodes = await openNodes({ database, turned: true })
    const { one, two } = nodes
    using _ = await nodes.connect(one, { deals: () => undefined })
    const [place, stopping] = [await placeOf(nodes), new AbortController()]
    const read = { action: "select", table: "tasks", callId: newId("call") as CallId }
    const reads = Array.from({ length: 256 }, () =>
      one.face.devices.call(place, read, { effect: "read", signal: stopping.signal }).catch(() => "stopped"),
    )
    await expect.poll(() => one.face.devices.size.calls).toBe(256)
    const writing = two.face.devices.call(place, insert(), WRITE)
    await expect(nodes.pass(writing)).rejects.toMatchObject({ code: "too_many" })
    stopping.abort()
    expect(new Set(await Promise.all(reads))).toEqual(new Set(["stopped"]))
  })

  test("a call is no longer sent if the caller has stopped before the other node has agreed to it", async () => {
    const said: string[] = []
    const listening: OnTheWay = (message, send) => (said.push(message.type), send())
    await using nodes = await openNodes({ database, turned: true, onTheWay: listening, onTheWayBack: listening })
    const { one, two, machine } = nodes
    using _ = await nodes.connect(one)
    const stopping = new AbortController()
    const writing = two.face.devices.call(await placeOf(nodes), insert(), { effect: "write", signal: stopping.signal })
    await expect.poll(() => said).toEqual(["device_ticket"])
    stopping.abort(new Error("stopped"))
    await expect(writing).rejects.toThrow("stopped")
    // The ticket arrives anyway and is not used.
    const taken = async () => said.length > 1 && (await nodes.rows("node_mail")).length === 0
    await nodes.pass(expect.poll(taken).toBe(true))
    expect([said, machine.calls]).toEqual([["device_ticket", "device_answer"], []])
  })
})
