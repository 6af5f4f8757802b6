import { describe, expect, test } from "vitest"
import type { ConversationId } from "../../core/protocol/ids.ts"
import type { ServerFrame } from "../../core/protocol/socket.ts"
import { always, says, scripted } from "../../core/testing.ts"
import { anyDatabase } from "../support/databases.ts"
import { connect, Machine } from "../support/server/device.ts"
import { openServer, type Peer } from "../support/server/socket.ts"

/** Sends a message, and waits for the final. */
async function ask(peer: Peer, message: string, context: Record<string, unknown> = {}) {
  const from = peer.seen.length
  peer.send({ type: "chat_request", message, context: { agent: "test", ...context } })
  return peer.next("final", from)
}

describe.each(anyDatabase)("a client of the six frames is remembered on $name", (database) => {
  const open = async () => {
    const model = scripted(always(({ history }) => says(`Turn ${history.length}.`)))
    const server = await openServer({ database, model, tools: [] })
    const token = await server.tokenFor("ada")
    const device = (deviceId?: string) =>
      connect(new Machine(), { url: server.url, token, ...(deviceId ? { deviceId } : {}) })
    return { server, model, device, token, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
  }

  test("earlier messages are known, and every frame of the answer names the conversation", async () => {
    await using world = await open()
    using peer = await world.server.socket("ada")
    const first = await ask(peer, "one")
    const second = await ask(peer, "two")
    expect([first.response, second.response]).toEqual(["Turn 1.", "Turn 3."])
    const named = peer.seen.map((frame: ServerFrame) => ("conversationId" in frame ? frame.conversationId : undefined))
    expect(new Set(named)).toEqual(new Set([first.conversationId]))
    expect(first.conversationId).toMatch(/^conv_/)
  })

  test("a client that asks for a new conversation gets it, and continues in it", async () => {
    await using world = await open()
    using peer = await world.server.socket("ada")
    const first = await ask(peer, "one")
    const second = await ask(peer, "two", { newConversation: true })
    const third = await ask(peer, "three", { newConversation: "maybe" }) // a key of the client's own
    expect([second.response, third.response]).toEqual(["Turn 1.", "Turn 3."])
    expect(second.conversationId).not.toBe(first.conversationId)
    expect(third.conversationId).toBe(second.conversationId)
  })

  test("a client that names another conversation continues in it from then on", async () => {
    await using world = await open()
    using peer = await world.server.socket("ada")
    const ada = await world.server.visitor("ada")
    await ask(peer, "one")
    const id = await ada.begin({ agent: "test" })
    await ask(peer, "two", { conversationId: id })
    expect((await ask(peer, "three")).conversationId).toBe(id)
  })

  test("an agent, a mode or a site that the last conversation lacks is never ignored: a new one starts with it", async () => {
    await using world = await open()
    using peer = await world.server.socket("ada")
    const { conversationId: first } = await ask(peer, "one")
    const { conversationId: second } = await ask(peer, "two", { mode: "read-only" })
    expect(second).not.toBe(first)
    const ada = await world.server.visitor("ada")
    expect((await ada.get(`/api/conversations/${second}`)).body.mode).toBe("read-only")
    expect((await ask(peer, "three", { mode: "read-only" })).conversationId).toBe(second)
    expect((await ask(peer, "four")).conversationId).toBe(second)
    const { conversationId: third } = await ask(peer, "five", { agent: "workspace" })
    expect((await ada.get(`/api/conversations/${third}`)).body.agent).toBe("workspace")
    expect((await ask(peer, "six", { agent: "workspace", model: "scripted" })).conversationId).toBe(third)
  })

  test("two sockets of one token, and two devices, have separate conversations", async () => {
    await using world = await open()
    using one = await world.device()
    using two = await world.device()
    using three = await world.device("phone")
    const answers = [await ask(one, "one"), await ask(two, "two"), await ask(three, "three")]
    expect(answers.map(({ response }) => response)).toEqual(["Turn 1.", "Turn 1.", "Turn 1."])
    expect((await ask(one, "again")).conversationId).toBe(answers[0]?.conversationId)
    expect((await ask(two, "again")).conversationId).toBe(answers[1]?.conversationId)
  })

  test("a device that has identified itself continues its conversation after a disconnect, and after a restart of the server", async () => {
    await using world = await open()
    let before: string | undefined
    {
      using device = await world.device("phone")
      before = (await ask(device, "one")).conversationId
    }
    {
      using device = await world.device("phone")
      expect(await ask(device, "two")).toMatchObject({ response: "Turn 3.", conversationId: before })
    }
    const model = scripted(says("After."))
    await using second = await openServer({ database, model, url: world.server.place, tools: [] })
    using device = await connect(new Machine(), { url: second.url, token: world.token, deviceId: "phone" })
    expect(await ask(device, "three")).toMatchObject({ conversationId: before })
  })

  test("if its last one was erased, or was never created because the server died, a new one starts", async () => {
    await using world = await open()
    const ada = await world.server.visitor("ada")
    using device = await world.device("phone")
    const { conversationId } = await ask(device, "one")
    expect((await ada.delete(`/api/conversations/${conversationId}`)).status).toBe(204)
    expect((await ask(device, "two")).response).toBe("Turn 1.")
    const { people, deviceOwners } = world.server.face.store
    const { id } = await people.ensure("ada", 0)
    await deviceOwners.speaksIn(id, "phone", "conv_neverbegan" as ConversationId)
    using again = await world.device("phone")
    expect((await ask(again, "three")).response).toBe("Turn 1.")
  })
})
