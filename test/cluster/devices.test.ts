import { describe, expect, test } from "vitest"
import { openPawl } from "../../core/index.ts"
import { calls, says, scripted } from "../../core/testing.ts"
import { databases } from "../support/databases.ts"
import { openNodes } from "./nodes.ts"
import { linked, linkedBy } from "./links.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { connect, Machine } from "../support/server/device.ts"
import { openServer, Peer } from "../support/server/socket.ts"

const MILK = { title: "Buy milk" }
const HELLO = { type: "hello", deviceId: "laptop", ledger: true, offers: ["workspace"] } as const

describe.each(linked)("a device that is connected to another node, on $name and $link", (database) => {
  const natsOf = linkedBy(database.link)
  test("is written to and read by a run", async () => {
    await using nodes = await openNodes({
      ...{ database, nats: natsOf() },
      script: [calls("create_task", MILK), calls("list_tasks"), says("There it is.")],
    })
    const { ada, machine } = nodes
    using device = await nodes.connect(nodes.one)
    const id = await ada.begin({ deviceId: "laptop", mode: "auto" })
    expect((await ada.say(id, "milk")).body.run.status).toBe("completed")
    const [created, listed] = await nodes.toolResults(id)
    expect([created, listed]).toEqual([
      expect.stringContaining("Task created"),
      expect.stringContaining("Found 1 task(s)"),
    ])
    expect([machine.effects, machine.calls.length]).toEqual([1, 2])
    expect(device.types().filter((type) => type === "tool_call")).toHaveLength(2)
  })

  test("is listed, is the newest that a conversation is bound to, and gets an approved write once", async () => {
    await using nodes = await openNodes({
      database,
      nats: natsOf(),
      script: [calls("create_task", MILK), says("Done.")],
    })
    const { ada, machine } = nodes
    using _ = await nodes.connect(nodes.one)
    expect((await ada.get("/api/devices")).body.items).toMatchObject([
      { deviceId: "laptop", ledger: true, offers: ["workspace"] },
    ])
    const { body: conversation } = await ada.post("/api/conversations", { site: "device" })
    expect(conversation).toMatchObject({ site: "device", deviceId: "laptop" })
    const { proposals } = (await ada.say(conversation.id, "milk")).body
    const decided = await ada.post(`/api/agent/proposals/${proposals[0].id}/commit`)
    expect([decided.status, decided.body.status]).toEqual([200, "applied"])
    expect([machine.effects, machine.calls.length]).toEqual([1, 1])
  })

  test("the device is asked to stop with the run, and what it did by then counts", async () => {
    await using nodes = await openNodes({ database, nats: natsOf(), script: [calls("create_task", MILK), says("No.")] })
    const { ada, machine } = nodes
    using device = await nodes.connect(nodes.one, { deals: () => undefined, knows: ["cancel"] })
    const id = await ada.begin({ deviceId: "laptop", mode: "auto" })
    const told = ada.say(id, "milk")
    const call = await device.next("tool_call")
    const stopped = ada.post(`/api/conversations/${id}/cancel`)
    expect(await device.next("tool_cancel")).toEqual({ type: "tool_cancel", id: call.id })
    device.send({ type: "tool_result", id: call.id, ...machine.deal(call) })
    expect([(await stopped).body, (await told).body.run.status]).toEqual([{ cancelled: true }, "cancelled"])
    expect(await nodes.toolResults(id)).toEqual([expect.stringContaining("Task created")])
  })

  test("a device that has left is no longer available to any node", async () => {
    await using nodes = await openNodes({ database, nats: natsOf(), script: [calls("create_task", MILK), says("No.")] })
    const { ada, two } = nodes
    const device = await nodes.connect(nodes.one)
    const id = await ada.begin({ deviceId: "laptop" })
    const { proposals } = (await ada.say(id, "milk")).body
    device.socket.terminate()
    await expect.poll(() => nodes.rows("connected_device")).toEqual([])
    expect((await ada.get("/api/devices")).body.items).toEqual([])
    const refused = await ada.post(`/api/agent/proposals/${proposals[0].id}/commit`)
    expect(refused.body).toMatchObject({ status: 409, code: "device_offline", proposal: { status: "pending" } })
    expect(two.face.devices.size).toMatchObject({ devices: 0, calls: 0, awaited: 0 })
  })

  test("if a device has several sockets, the newest is used, at whichever node, and when it closes the previous one", async () => {
    const look = calls("list_tasks")
    await using nodes = await openNodes({
      database,
      nats: natsOf(),
      script: [look, says("1."), look, says("2."), look, says("3.")],
    })
    const { ada } = nodes
    const asked = (peer: Peer) => peer.types().filter((type) => type === "tool_call").length
    using here = await nodes.connect(nodes.two)
    using there = await nodes.connect(nodes.one)
    const id = await ada.begin({ deviceId: "laptop" })
    await ada.say(id, "look")
    expect([asked(here), asked(there)]).toEqual([0, 1])
    expect((await ada.get("/api/devices")).body.items).toHaveLength(1)
    using newest = await nodes.connect(nodes.two)
    await ada.say(id, "look")
    expect([asked(here), asked(there), asked(newest)]).toEqual([0, 1, 1])
    newest.socket.terminate()
    await expect.poll(() => nodes.rows("connected_device")).toHaveLength(2)
    await ada.say(id, "look")
    expect([asked(here), asked(there)]).toEqual([0, 2])
  })

  test("a call without an answer is given up when its run is stopped", async () => {
    await using nodes = await openNodes({ database, nats: natsOf(), script: [calls("list_tasks")] })
    const { ada, one } = nodes
    using device = await nodes.connect(one, { deals: () => undefined })
    const id = await ada.begin({ deviceId: "laptop" })
    const told = ada.say(id, "look")
    await device.next("tool_call")
    expect(one.face.devices.size.calls).toBe(1)
    await ada.post(`/api/conversations/${id}/cancel`)
    expect((await told).body.run.status).toBe("cancelled")
    await expect.poll(() => one.face.devices.size.calls).toBe(0)
  })

  test("refusals and malformed answers read the same as at the device's own node", async () => {
    await using nodes = await openNodes({
      ...{ database, nats: natsOf() },
      script: [calls("list_tasks"), calls("list_tasks"), says("No."), calls("create_task", MILK)],
    })
    const { ada, one } = nodes
    let said: Record<string, unknown> = { error: "The disk is full." }
    using device = await nodes.connect(one, { deals: () => said, ledger: false })
    const id = await ada.begin({ deviceId: "laptop", mode: "auto" })
    await ada.say(id, "look")
    expect((await nodes.toolResults(id))[0]).toContain("The disk is full.")
    said = { ok: true }
    expect((await ada.say(id, "milk")).body.run).toMatchObject({ status: "paused", pauseReason: "in_doubt" })
    expect(device.closed).toBeUndefined()
  })

  test("a call without a device name uses the device of the conversation, also when another node continues it", async () => {
    await using nodes = await openNodes({ database, nats: natsOf(), script: [calls("list_tasks"), says("Two.")] })
    const { ada, one, two, machine } = nodes
    using speaker = await connect(machine, { url: one.url, token: nodes.token })
    speaker.send({ type: "chat_request", message: "Hello", context: {} })
    const { conversationId = "" } = await speaker.next("final")
    await ada.say(conversationId, "look")
    expect((await nodes.toolResults(conversationId)).at(-1)).toContain("No tasks found")
    expect(machine.calls).toHaveLength(1)
    // Another credential of the same person does not become the device by sending a message.
    using thief = await two.socket("ada")
    thief.send({ type: "chat_request", message: "Mine", context: { conversationId } })
    expect(await thief.next("error")).toMatchObject({ code: "device_taken" })
    speaker.socket.terminate()
    await expect.poll(() => nodes.rows("connected_device")).toEqual([])
    thief.send({ type: "chat_request", message: "Mine now", context: { conversationId } })
    await expect.poll(() => nodes.rows("connected_device")).toMatchObject([{ conversation: conversationId }])
  })

  test("is notified that another credential claims it, and gets no calls once the person has allowed that", async () => {
    await using nodes = await openNodes({ database, nats: natsOf(), script: [calls("list_tasks"), says("None.")] })
    const { ada, one, two, machine } = nodes
    using laptop = await nodes.connect(one)
    const other = await two.tokenFor("ada", "read", "chat")
    using thief = await Peer.open(two.url, { authorization: `Bearer ${other}` })
    thief.send(HELLO)
    expect(await thief.next("error")).toMatchObject({ code: "device_taken" })
    expect(await laptop.next("device_claim")).toMatchObject({ deviceId: "laptop", status: "asked" })
    const [{ id: request }] = (await ada.get("/api/devices/requests")).body.items
    expect((await ada.post(`/api/devices/requests/${request}/allow`)).status).toBe(204)
    // Immediately, before its own node has learned of it.
    expect((await ada.get("/api/devices")).body.items).toEqual([])
    await laptop.until((seen) => seen.some((frame) => frame.type === "device_claim" && frame.status === "allowed"))
    const taking = new Machine()
    using _ = await connect(taking, { url: one.url, token: other, deviceId: "laptop" })
    await ada.say(await ada.begin({ deviceId: "laptop" }), "look")
    expect([machine.calls.length, taking.calls.length]).toEqual([0, 1])
  })

  test("of a program that connects twice is reached at either node", async () => {
    const look = calls("list_tasks")
    await using nodes = await openNodes({ database, script: [look, says("One."), look, says("Two.")] })
    const { ada, machine, token } = nodes
    await using pawl = await openPawl({ store: nodes.two.place, models: scripted() })
    const listen = () => pawl.listen({ port: 0, dataFolder: dataFolder() })
    for (const { url } of [await listen(), await listen()]) {
      using _ = await connect(machine, { url, token, deviceId: "laptop" })
      const id = await ada.begin({ deviceId: "laptop" })
      await ada.say(id, "look")
      expect((await nodes.toolResults(id))[0]).toContain("No tasks found")
    }
  })

  test("of a node that was removed though it lives is available again, and is no newer than it was", async () => {
    await using nodes = await openNodes({ database })
    using _old = await nodes.connect(nodes.one)
    using _new = await nodes.connect(nodes.two)
    const before = await nodes.rows("connected_device")
    await nodes.strikeOff(nodes.one)
    expect(await nodes.rows("connected_device")).toHaveLength(1)
    const inOrder = async () =>
      (await nodes.rows("connected_device")).sort((a, b) => Number(a.number) - Number(b.number))
    await expect.poll(inOrder).toEqual(before)
  })
})

const [sqlite] = databases.filter(({ name }) => name === "sqlite")

test.runIf(sqlite)("a single process with its own database records no devices and notifies no other node", async () => {
  await using server = await openServer({ database: sqlite!, model: scripted(says("Hello.")) })
  const machine = new Machine()
  const token = await server.tokenFor("ada")
  using _ = await connect(machine, { url: server.url, token, deviceId: "laptop" })
  using speaker = await connect(machine, { url: server.url, token })
  speaker.send({ type: "chat_request", message: "Hello", context: {} })
  await speaker.next("final")
  const { engine } = server.face.store
  for (const table of ["connected_device", "node_mail"])
    expect(await engine.query(`SELECT 1 FROM ${table}`, [])).toEqual([])
})
