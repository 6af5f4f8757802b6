import { describe, expect, test } from "vitest"
import { answer } from "../../core/engine/definition/tool.ts"
import type { Scope } from "../../core/protocol/account/sign-in.ts"
import type { ServerFrame } from "../../core/protocol/socket.ts"
import { always, calls, hangs, replies, says, scripted, type ScriptedReply } from "../../core/testing.ts"
import { anyDatabase } from "../support/databases.ts"
import { connect, Machine } from "../support/server/device.ts"
import { openServer, type Peer } from "../support/server/socket.ts"
import { write } from "../support/loop/tools.ts"
import { TurnedClock } from "../support/loop/world.ts"

const finals = (seen: readonly ServerFrame[]) => seen.filter(({ type }) => type === "final").length
const CHANGE = calls("change", { q: "b" })

/** Sends a message, and waits for the final: all that a client of the six frames can do. */
async function ask(peer: Peer, message: string, context: Record<string, unknown> = {}) {
  const from = peer.seen.length
  peer.send({ type: "chat_request", message, context: { agent: "test", ...context } })
  return peer.next("final", from)
}

describe.each(anyDatabase)("a client that only has text decides by text on $name", (database) => {
  const open = async (script: readonly ScriptedReply[], clock?: TurnedClock) => {
    const done: (string | undefined)[] = []
    const tool = write("change", ({ q }) => {
      done.push(q)
      return answer("Changed.")
    })
    const options = { database, model: scripted(...script), tools: [tool], ...(clock ? { clock } : {}) }
    const server = await openServer(options)
    const ada = await server.visitor("ada")
    const pending = async () => (await ada.get("/api/agent/proposals?status=pending")).body.items
    const socket = (...scopes: Scope[]) => server.socket("ada", ...scopes)
    return { server, ada, done, pending, socket, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
  }

  test("a final lists the pending changes as text; yes approves them, and the rest of the answer follows with one more final", async () => {
    await using world = await open([replies(says("I will. "), CHANGE), says("It is done.")])
    using peer = await world.socket()
    const asked = await ask(peer, "change it")
    expect(asked.response).toMatch(/^I will\. \n\nWaiting for your yes:\n1\. Run change\n {3}change \{"q":"b"\}/)
    expect(asked.response).toContain("Answer yes or no here")
    expect(peer.text()).toBe(asked.response)
    expect(asked).toMatchObject({ status: "paused" })
    expect(world.done).toEqual([])
    const answered = await ask(peer, "Yes!")
    expect(answered).toEqual({
      type: "final",
      response: "It is done.",
      conversationId: asked.conversationId,
    })
    expect(world.done).toEqual(["b"])
    expect(finals(peer.seen)).toBe(2)
    // It was a decision and is not stored as a message.
    const { messages } = (await world.ada.get(`/api/conversations/${asked.conversationId}`)).body
    expect(messages.filter(({ role }: { role: string }) => role === "user")).toHaveLength(1)
    expect((await world.ada.get("/api/agent/audit")).body.items).toMatchObject([{ decidedBy: expect.any(String) }])
  })

  test("no rejects the change, and the model continues from there", async () => {
    await using world = await open([CHANGE, says("As you like.")])
    using peer = await world.socket()
    await ask(peer, "change it")
    expect((await ask(peer, "no.")).response).toBe("As you like.")
    expect([world.done, await world.pending()]).toEqual([[], []])
  })

  test("any other text is a message as before, and ends what waits", async () => {
    await using world = await open([CHANGE, says("Five it is.")])
    using peer = await world.socket()
    await ask(peer, "change it")
    expect((await ask(peer, "yes, but make it 5")).response).toBe("Five it is.")
    expect([world.done, await world.pending()]).toEqual([[], []])
    expect(peer.types()).not.toContain("error")
  })

  test("yes twice: the second is no answer to the next question", async () => {
    await using world = await open([CHANGE, calls("change", { q: "second" }), always(says("Well."))])
    using peer = await world.socket()
    await ask(peer, "change it")
    peer.send({ type: "chat_request", message: "yes", context: {} })
    peer.send({ type: "chat_request", message: "yes", context: {} })
    await peer.until((seen) => finals(seen) === 3)
    expect(world.done).toEqual(["b"])
    expect(await peer.next("error")).toMatchObject({ code: "proposal_decided" })
    expect(await world.pending()).toMatchObject([{ arguments: { q: "second" } }])
  })

  test("a yes that was sent before the question approves nothing", async () => {
    await using world = await open([CHANGE, always(says("Well."))])
    using peer = await world.socket()
    peer.send({ type: "chat_request", message: "change it", context: { agent: "test" } })
    peer.send({ type: "chat_request", message: "yes", context: {} })
    await peer.next("final")
    const [proposal] = await world.pending()
    await world.ada.post(`/api/agent/proposals/${proposal.id}/reject`)
    await peer.until((seen) => finals(seen) >= 2)
    expect(world.done).toEqual([])
  })

  test("an edited change is shown before a yes counts for it", async () => {
    await using world = await open([CHANGE, says("Done.")])
    using peer = await world.socket()
    const { conversationId } = await ask(peer, "change it")
    const [proposal] = await world.pending()
    const from = peer.seen.length
    await world.ada.post(`/api/agent/proposals/${proposal.id}/edit`, { arguments: { q: "other" } })
    const retold = await peer.next("final", from)
    expect(retold.response).toContain('change {"q":"other"}')
    expect((await ask(peer, "yes")).response).toBe("Done.")
    expect(world.done).toEqual(["other"])
    expect(retold.conversationId).toBe(conversationId)
  })

  test("another socket has shown nothing yet: its yes asks first, and then decides", async () => {
    await using world = await open([CHANGE, says("Done.")])
    using peer = await world.socket()
    const { conversationId } = await ask(peer, "change it")
    using other = await world.socket()
    const asked = await ask(other, "yes", { conversationId })
    expect(asked.response).toContain("Waiting for your yes:")
    expect(world.done).toEqual([])
    expect((await ask(other, "yes")).response).toBe("Done.")
    expect(world.done).toEqual(["b"])
    await peer.until((seen) => finals(seen) === 2) // it sees how it went on
  })

  test("a change that was proposed again is approved by a yes, without a claim that the model gave no answer", async () => {
    const clock = new TurnedClock()
    await using world = await open([CHANGE, says("Then not.")], clock)
    using peer = await world.socket()
    const { conversationId } = await ask(peer, "change it")
    const [{ id }] = await world.pending()
    clock.shift(16 * 60_000)
    expect((await ask(peer, "yes")).response).toBe("Then not.")
    const again = await world.ada.post(`/api/agent/proposals/${id}/again`)
    expect(again.status, again.text).toBeLessThan(300)
    expect((await ask(peer, "yes", { conversationId })).response).toContain("Waiting for your yes:")
    expect((await ask(peer, "yes")).response).toBe("")
    expect(world.done).toEqual(["b"])
  })

  test("if another client decides one of two changes, the other is shown alone before a yes counts", async () => {
    await using world = await open([replies(CHANGE, calls("change", { q: "c" })), says("Done.")])
    using peer = await world.socket()
    expect((await ask(peer, "change both")).response).toContain('2. Run change\n   change {"q":"c"}')
    const all = await world.pending()
    const first = all.find(({ arguments: { q } }: { arguments: { q: string } }) => q === "b")
    await world.ada.post(`/api/agent/proposals/${first.id}/reject`)
    const again = await ask(peer, "yes")
    expect(again.response).not.toContain('{"q":"b"}')
    if (again.status === "paused") expect((await ask(peer, "yes")).response).toBe("Done.")
    expect(world.done).toEqual(["c"])
  })

  test("two questions at once: a bare yes decides neither, a named one its own", async () => {
    const one = ({ history }: { history: readonly unknown[] }) => (history.length === 1 ? CHANGE : says("Done."))
    await using world = await open([always(one)])
    using peer = await world.socket()
    peer.send({ type: "chat_request", message: "a", context: { agent: "test" } })
    peer.send({ type: "chat_request", message: "b", context: { agent: "test", newConversation: true } })
    await peer.until((seen) => finals(seen) === 2)
    const ids = peer.seen.flatMap((frame) => (frame.type === "final" ? [frame.conversationId] : []))
    expect((await ask(peer, "yes")).response).toContain("Waiting for your yes:")
    expect(world.done).toEqual([])
    expect((await ask(peer, "yes", { conversationId: ids[0] })).conversationId).toBe(ids[0])
    expect(world.done).toEqual(["b"])
  })

  test("a yes that needs a question waits behind the run at work; the word that stops it does not", async () => {
    await using world = await open([CHANGE, hangs("Let me think"), says("Done.")])
    const { ada } = world
    const id = await ada.begin({ agent: "test" })
    await ada.say(id, "change it")
    using peer = await world.socket()
    peer.send({ type: "chat_request", message: "think", context: { agent: "test", newConversation: true } })
    const { conversationId } = await peer.next("text_chunk")
    peer.send({ type: "chat_request", message: "yes", context: { conversationId: id } })
    peer.send({ type: "cancel", conversationId: conversationId as never })
    await peer.until((seen) => finals(seen) === 2)
    const [stopped, asked] = peer.seen.filter((frame) => frame.type === "final")
    expect(stopped).toMatchObject({ conversationId })
    expect(asked).toMatchObject({ conversationId: id, response: expect.stringContaining("Waiting for your yes:") })
    expect((await ask(peer, "yes", { conversationId: id })).response).toBe("Done.")
    expect(world.done).toEqual(["b"])
  })

  test("a change that another client decided before the question is reported as decided, with one final", async () => {
    await using world = await open([CHANGE, hangs("Let me think"), says("Done.")])
    const { ada } = world
    const id = await ada.begin({ agent: "test" })
    await ada.say(id, "change it")
    using peer = await world.socket()
    peer.send({ type: "chat_request", message: "think", context: { agent: "test", newConversation: true } })
    const { conversationId } = await peer.next("text_chunk")
    peer.send({ type: "chat_request", message: "yes", context: { conversationId: id } })
    peer.send({ type: "attach", conversationId: id })
    await peer.until(() => peer.events(id).length > 0) // it came after the yes, which waits by now
    const [proposal] = await world.pending()
    await ada.post(`/api/agent/proposals/${proposal.id}/reject`)
    peer.send({ type: "cancel", conversationId: conversationId as never })
    await peer.until((seen) => finals(seen) === 2)
    expect(peer.seen.findLast(({ type }) => type === "error")).toMatchObject({ code: "proposal_decided", id })
    expect(peer.seen.findLast(({ type }) => type === "final")).toMatchObject({ conversationId: id })
    expect(world.done).toEqual([])
  })

  test("a client that may not approve is sent where to decide, and its yes neither approves nor ends what waits", async () => {
    await using world = await open([CHANGE, says("Done.")])
    using peer = await world.socket("read", "chat")
    const asked = await ask(peer, "change it")
    expect(asked.response).toContain("this connection may not")
    expect((await ask(peer, "yes")).response).toMatch(/^Nothing was done: /)
    expect(world.done).toEqual([])
    expect(await world.pending()).toHaveLength(1)
  })

  test("an expired change is not approved: the yes is a message", async () => {
    const clock = new TurnedClock()
    await using world = await open([CHANGE, says("Too late, shall I ask again?")], clock)
    using peer = await world.socket()
    await ask(peer, "change it")
    clock.shift(16 * 60_000)
    expect((await ask(peer, "yes")).response).toBe("Too late, shall I ask again?")
    expect(world.done).toEqual([])
  })

  test("a device that comes back after a server restart is asked again, and nothing was approved in between", async () => {
    const insert = calls("create_task", { title: "Buy milk" })
    await using first = await open([insert])
    const token = await first.server.tokenFor("ada")
    const machine = new Machine()
    using device = await connect(machine, { url: first.server.url, token, deviceId: "phone" })
    const { conversationId } = await ask(device, "milk", { agent: "workspace" })
    const model = scripted(says("There."))
    await using second = await openServer({ database, model, url: first.server.place })
    using again = await connect(machine, { url: second.url, token, deviceId: "phone" })
    const asked = await ask(again, "yes", { agent: "workspace" })
    expect(asked).toMatchObject({ conversationId, response: expect.stringContaining("Buy milk") })
    expect(machine.effects).toBe(0)
    expect((await ask(again, "yes", { agent: "workspace" })).response).toBe("There.")
    expect(machine.effects).toBe(1)
  })
})
