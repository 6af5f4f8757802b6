import { describe, expect, test } from "vitest"
import type { Scope } from "../../core/protocol/account/sign-in.ts"
import type { ToolCall } from "../../core/protocol/socket.ts"
import { calls, says, scripted } from "../../core/testing.ts"
import { databases } from "../support/databases.ts"
import { connect, Machine } from "../support/server/device.ts"
import { Visitor } from "../support/server/face.ts"
import { openServer, type Peer, type ServerOptions } from "../support/server/socket.ts"

const USUAL: Scope[] = ["read", "chat", "approve", "manage"]

async function ask(peer: Peer, message: string, context: Record<string, unknown> = {}) {
  const from = peer.seen.length
  peer.send({ type: "chat_request", message, context })
  return peer.next("final", from)
}

describe.each(databases)("a device that an operator allows to approve by itself on $name", (database) => {
  const open = async (scopes: Scope[] = [...USUAL, "self-approve"], more: Partial<ServerOptions> = {}) => {
    const model = scripted(calls("create_task", { title: "Buy milk" }), says("There."))
    const server = await openServer({ database, model, ...more })
    const token = await server.tokenFor("ada", ...scopes)
    const machine = new Machine()
    const device = (deviceId?: string) =>
      connect(machine, { url: server.url, token, ...(deviceId ? { deviceId } : {}) })
    const own = new Visitor((sent) => server.face.fetch(sent), token)
    return { server, machine, device, own, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
  }

  test.each([["without a name"], ["phone"]])("%s: is not asked, and the audit says who approved", async (name) => {
    await using world = await open()
    using device = await world.device(name === "phone" ? name : undefined)
    // Context that the device itself sends is no reason to ask it.
    const answer = await ask(device, "milk", { user_profile: { name: "Ada" } })
    expect(answer.response).toBe("There.")
    expect([world.machine.effects, device.types().includes("awaiting_confirmation")]).toEqual([1, false])
    expect((await world.own.get("/api/agent/audit")).body.items).toMatchObject([{ decidedBy: "device" }])
    const events = await world.server.face.store.journal.read(answer.conversationId as never, { after: 0 })
    expect(events.find(({ type }) => type === "proposal")).toMatchObject({ approvedBy: "device" })
  })

  test.each<[string, Scope[], Record<string, unknown>, Partial<ServerOptions>]>([
    ["whose token has no such leave", USUAL, {}, {}],
    ["whose token may not approve at all", ["read", "chat", "self-approve"], {}, {}],
    [
      "where the operator forbids what is done unasked",
      [...USUAL, "self-approve"],
      {},
      { policy: { forbidAuto: true } },
    ],
    ["for what is written on the server", [...USUAL, "self-approve"], { site: "server" }, {}],
  ])("%s: is asked as usual", async (_, scopes, context, more) => {
    await using world = await open(scopes, more)
    using device = await world.device()
    expect(await ask(device, "milk", context)).toMatchObject({ status: "paused" })
    expect(world.machine.effects).toBe(0)
  })

  test("nothing is written in a read-only conversation", async () => {
    await using world = await open()
    using device = await world.device()
    await ask(device, "milk", { mode: "read-only" })
    expect(world.machine.effects).toBe(0)
  })

  test("it approves changes requested over its own socket, not those of other clients with the same token", async () => {
    await using world = await open()
    using _ = await world.device("phone")
    const id = await world.own.begin({ deviceId: "phone" })
    expect((await world.own.say(id, "milk")).body.run.status).toBe("paused")
    expect(world.machine.effects).toBe(0)
  })

  test("nor a change requested over its own socket that another client has edited while it waited", async () => {
    const milk = calls("create_task", { title: "Buy milk" })
    await using world = await open(undefined, { model: scripted(calls("list_tasks"), says("None."), milk) })
    const { server, machine, own } = world
    const token = await server.tokenFor("ada", ...USUAL, "self-approve")
    const held = Promise.withResolvers<ToolCall>()
    const deals = (call: ToolCall) => (call.action === "select" ? void held.resolve(call) : machine.deal(call))
    using device = await connect(machine, { url: server.url, token, deviceId: "phone", deals })
    device.send({ type: "chat_request", message: "look" })
    const call = await held.promise
    const queue = `/api/conversations/${call.conversationId}/queue`
    device.send({ type: "chat_request", message: "milk", context: { conversationId: call.conversationId } })
    await expect.poll(async () => (await own.get(queue)).body.items).toHaveLength(1)
    const [{ id }] = (await own.get(queue)).body.items
    expect((await own.patch(`${queue}/${id}`, { text: "more milk" })).status).toBe(200)
    device.send({ type: "tool_result", id: call.id, rows: [] })
    await device.next("awaiting_confirmation")
    expect(machine.effects).toBe(0)
  })

  test("nor a write on another device", async () => {
    await using world = await open()
    using _ = await world.device("phone")
    const id = await world.own.begin({ deviceId: "phone" })
    using nameless = await world.device()
    expect(await ask(nameless, "milk", { conversationId: id })).toMatchObject({ status: "paused" })
    expect(world.machine.effects).toBe(0)
  })

  test("nor anything under a name that it has lost to another credential, until it has another", async () => {
    const milk = calls("create_task", { title: "Buy milk" })
    await using world = await open([...USUAL, "self-approve"], { model: scripted(milk, milk, says("There.")) })
    using device = await world.device("laptop")
    const other = new Machine()
    const connecting = { url: world.server.url, token: await world.server.tokenFor("ada", ...USUAL) }
    using asker = await connect(other, connecting)
    asker.send({ type: "hello", deviceId: "laptop", ledger: true, offers: ["workspace"] })
    await asker.next("error")
    const id = await world.own.begin({ deviceId: "laptop" })
    const [{ id: request }] = (await world.own.get("/api/devices/requests")).body.items
    expect((await world.own.post(`/api/devices/requests/${request}/allow`, {})).status).toBe(204)
    await device.until((seen) => seen.some((frame) => frame.type === "device_claim" && frame.status === "allowed"))
    using _ = await connect(other, { ...connecting, deviceId: "laptop" })
    expect(await ask(device, "milk", { conversationId: id })).toMatchObject({ status: "paused" })
    expect([world.machine.effects, other.effects]).toEqual([0, 0])
    device.send({ type: "hello", deviceId: "desktop", ledger: true, offers: ["workspace"] })
    await device.until((seen) => seen.some((frame) => frame.type === "hello" && frame.deviceId === "desktop"))
    expect(await ask(device, "milk", { newConversation: true })).toMatchObject({ response: "There." })
    expect([world.machine.effects, other.effects]).toEqual([1, 0])
  })

  test("a token without this scope cannot pass it on", async () => {
    await using world = await open(USUAL)
    const minted = await world.own.post("/api/tokens", { scopes: ["read", "chat", "approve", "self-approve"] })
    expect([minted.status, minted.body.code]).toEqual([403, "forbidden"])
    expect((await world.own.post("/api/tokens", {})).body.scopes).not.toContain("self-approve")
  })
})
