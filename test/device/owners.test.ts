import { describe, expect, test } from "vitest"
import { type ConversationId, newId } from "../../core/protocol/ids.ts"
import { calls, says, scripted, type ScriptedReply } from "../../core/testing.ts"
import { databasesInTurn } from "../support/databases.ts"
import { connect, Machine } from "../support/server/device.ts"
import { openServer, Peer } from "../support/server/socket.ts"
import { TurnedClock } from "../support/loop/world.ts"

const HELLO = { type: "hello", deviceId: "laptop", ledger: true, offers: ["workspace"] } as const

describe.each(databasesInTurn(import.meta.filename))("the token that owns a device, on $name", (database) => {
  const open = async (...script: readonly ScriptedReply[]) => {
    const server = await openServer({ database, model: scripted(...script) })
    const ada = await server.visitor("ada")
    const as = async (token: string) => Peer.open(server.url, { authorization: `Bearer ${token}` })
    const ticketed = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` }
      const answer = await fetch(`${server.url}/api/auth/ticket`, { method: "POST", headers })
      return Peer.open(server.url, {}, [`pawl.ticket.${((await answer.json()) as { ticket: string }).ticket}`])
    }
    return { server, ada, as, ticketed, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
  }
  const requests = async ({ ada }: { ada: Awaited<ReturnType<typeof open>>["ada"] }) =>
    (await ada.get("/api/devices/requests")).body.items as { id: string; deviceId: string }[]

  test("another token of the same person does not become a device by its name: its calls stay where they were", async () => {
    await using world = await open(calls("list_tasks"), says("None."))
    const { server, ada } = world
    const machine = new Machine()
    using laptop = await connect(machine, { url: server.url, token: await server.tokenFor("ada"), deviceId: "laptop" })
    using thief = await world.as(await server.tokenFor("ada", "read", "chat"))
    thief.send(HELLO)
    expect(await thief.next("error")).toMatchObject({ code: "device_taken", id: "laptop" })
    expect(await laptop.next("device_claim")).toEqual({ type: "device_claim", deviceId: "laptop", status: "asked" })
    const id = await ada.begin({ deviceId: "laptop" })
    await ada.say(id, "look")
    expect(thief.types()).not.toContain("tool_call")
    expect(machine.calls).toHaveLength(1)
  })

  test("also not while the device is away, after a restart, or by a ticket", async () => {
    await using world = await open()
    const { server } = world
    const laptop = await connect(new Machine(), {
      url: server.url,
      token: await server.tokenFor("ada"),
      deviceId: "laptop",
    })
    laptop.socket.terminate()
    await using second = await openServer({ database, model: scripted(), url: server.place })
    const token = await second.tokenFor("ada", "chat", "read")
    for (const thief of [
      await Peer.open(second.url, { authorization: `Bearer ${token}` }),
      await world.ticketed(token),
    ]) {
      thief.send(HELLO)
      expect(await thief.next("error")).toMatchObject({ code: "device_taken" })
      thief[Symbol.dispose]()
    }
    expect(await requests(world)).toMatchObject([{ deviceId: "laptop", credential: { type: "token" } }])
  })

  test("the person allows it: the asker is the device from then on, and the former one is notified and gets no more calls", async () => {
    await using world = await open(calls("list_tasks"), says("None."))
    const { server, ada } = world
    const old = new Machine()
    using laptop = await connect(old, { url: server.url, token: await server.tokenFor("ada"), deviceId: "laptop" })
    const token = await server.tokenFor("ada", "read", "chat")
    using asker = await world.as(token)
    asker.send(HELLO)
    await asker.next("error")
    const [request] = await requests(world)
    expect((await ada.post(`/api/devices/requests/${request?.id}/allow`)).status).toBe(204)
    await laptop.until((seen) => seen.some((frame) => frame.type === "device_claim" && frame.status === "allowed"))
    const machine = new Machine()
    using _ = await connect(machine, { url: server.url, token, deviceId: "laptop" })
    await ada.say(await ada.begin({ deviceId: "laptop" }), "look")
    expect([old.calls.length, machine.calls.length]).toEqual([0, 1])
    expect(await requests(world)).toEqual([])
    laptop.send(HELLO)
    expect(await laptop.next("error")).toMatchObject({ code: "device_taken" })
  })

  test("a device connected to another node is notified at the next poll, and is no longer listed", async () => {
    await using world = await open(calls("list_tasks"), says("None."))
    const { server, ada } = world
    using laptop = await connect(new Machine(), {
      url: server.url,
      token: await server.tokenFor("ada"),
      deviceId: "laptop",
    })
    await using second = await openServer({ database, model: scripted(), url: server.place })
    using asker = await Peer.open(second.url, {
      authorization: `Bearer ${await second.tokenFor("ada", "read", "chat")}`,
    })
    asker.send(HELLO)
    await asker.next("error")
    const [request] = await requests(world)
    expect((await (await second.visitor("ada")).post(`/api/devices/requests/${request?.id}/allow`)).status).toBe(204)
    await server.face.devices.applyReassignments(server.face.store.deviceOwners)
    expect(await laptop.next("device_claim")).toMatchObject({ status: "allowed" })
    expect((await ada.get("/api/devices")).body.items).toEqual([])
  })

  test("a device's unknown for a call from before it changed owners does not prove that it was not done", async () => {
    const clock = new TurnedClock()
    await using server = await openServer({ database, model: scripted(), clock })
    const callId = newId("call", clock.now())
    const { deviceOwners, people } = server.face.store
    const user = (await people.ensure("ada", 0)).id
    await deviceOwners.claim(user, "laptop", { type: "token", id: "tok_before" })
    const token = await server.tokenFor("ada")
    using asker = await Peer.open(server.url, { authorization: `Bearer ${token}` })
    asker.send(HELLO)
    await asker.next("error")
    const [request] = await deviceOwners.requests(user)
    await deviceOwners.allow(user, request?.id as never, { type: "session", id: "sess_1" })
    using _ = await connect(new Machine(), { url: server.url, token, deviceId: "laptop" })
    const place = { user, conversation: "conv_1" as ConversationId, deviceId: "laptop", offer: "workspace" }
    await expect(server.face.devices.outcome(place, callId)).rejects.toMatchObject({ code: "outcome_unknown" })
    const later = newId("call", clock.now() + 60 * 60_000)
    expect(await server.face.devices.outcome(place, later)).toBe("not-applied")
  })

  test("a token cannot allow itself, nor one that it has created; a refused request is no longer listed", async () => {
    await using world = await open()
    const { server, ada } = world
    using _ = await connect(new Machine(), { url: server.url, token: await server.tokenFor("ada"), deviceId: "laptop" })
    const thief = await server.visitor("ada", "chat", "read", "manage")
    const { token } = (await thief.post("/api/tokens", { scopes: ["chat", "read", "manage"] })).body as {
      token: string
    }
    using peer = await world.as(token)
    peer.send(HELLO)
    await peer.next("error")
    const [request] = await requests(world)
    expect((await thief.post(`/api/devices/requests/${request?.id}/allow`)).body).toMatchObject({ code: "own_request" })
    const bob = await server.visitor("bob")
    expect((await bob.post(`/api/devices/requests/${request?.id}/allow`)).status).toBe(404)
    expect((await ada.delete(`/api/devices/requests/${request?.id}`)).status).toBe(204)
    expect(await requests(world)).toEqual([])
    expect((await ada.post(`/api/devices/requests/${request?.id}/allow`)).status).toBe(404)
  })

  test("a token that the device's own token created continues as the device", async () => {
    await using world = await open()
    const { server } = world
    const token = await server.tokenFor("ada")
    const first = await connect(new Machine(), { url: server.url, token, deviceId: "laptop" })
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
    const body = JSON.stringify({ scopes: ["chat", "read"] })
    const made = (await (await fetch(`${server.url}/api/tokens`, { method: "POST", headers, body })).json()) as {
      token: string
    }
    first.socket.terminate()
    using again = await world.ticketed(made.token)
    again.send(HELLO)
    expect(await again.next("hello")).toMatchObject({ deviceId: "laptop" })
  })

  test("when the newer socket of a device closes, the older open one is the device again", async () => {
    await using world = await open(calls("list_tasks"), says("None."))
    const { server, ada } = world
    const token = await server.tokenFor("ada")
    const machine = new Machine()
    using _ = await connect(machine, { url: server.url, token, deviceId: "laptop" })
    const newer = await connect(new Machine(), { url: server.url, token, deviceId: "laptop" })
    newer.socket.terminate()
    const metrics = async () => (await fetch(`${server.url}/metrics`)).text()
    await expect.poll(metrics).toMatch(/^pawl_open_streams 1$/m)
    expect((await ada.get("/api/devices")).body.items).toMatchObject([{ deviceId: "laptop" }])
    await ada.say(await ada.begin({ deviceId: "laptop" }), "look")
    expect(machine.calls).toHaveLength(1)
  })

  test("in a conversation without a named device, the socket that talks in it keeps the calls while it is open", async () => {
    await using world = await open(calls("list_tasks"), says("None."), says("Two."))
    const { server } = world
    using speaker = await world.as(await server.tokenFor("ada"))
    speaker.send({ type: "chat_request", message: "look" })
    const call = await speaker.next("tool_call")
    const { items } = (await world.ada.get("/api/conversations")).body as { items: { id: string }[] }
    using thief = await world.as(await server.tokenFor("ada", "read", "chat"))
    thief.send({ type: "chat_request", message: "mine", context: { conversationId: items[0]?.id as never } })
    expect(await thief.next("error")).toMatchObject({ code: "device_taken" })
    speaker.send({ type: "tool_result", id: call.id, rows: [] })
    await speaker.next("final")
    expect(thief.types()).not.toContain("tool_call")
  })
})
