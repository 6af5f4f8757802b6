import { describe, expect, test } from "vitest"
import { answer } from "../../core/engine/definition/tool.ts"
import { failure } from "../../core/protocol/errors.ts"
import { calls, hangs, says, scripted, type ScriptedReply } from "../../core/testing.ts"
import { anyDatabase } from "../support/databases.ts"
import { openServer, type Peer } from "../support/server/socket.ts"
import { write } from "../support/loop/tools.ts"

async function ask(peer: Peer, message: string) {
  const from = peer.seen.length
  peer.send({ type: "chat_request", message, context: { agent: "test" } })
  return peer.next("final", from)
}

describe.each(anyDatabase)("a write in doubt is settled over the socket on $name", (database) => {
  const open = async (...more: ScriptedReply[]) => {
    let tries = 0
    const fax = write("fax", () => {
      if (tries++ === 0) throw failure("outcome_unknown", { problem: "The line broke off." })
      return answer("Sent.")
    })
    const model = scripted(calls("fax", { q: "a" }), says("Settled."), ...more)
    const server = await openServer({ database, model, tools: [fax] })
    const ada = await server.visitor("ada")
    const proposal = async () => (await ada.get("/api/agent/proposals")).body.items[0]
    return { server, proposal, tries: () => tries, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
  }

  test.each([
    ["retry", "applied", 2],
    ["done", "applied", 1],
    ["abandon", "abandoned", 1],
  ] as const)("%s: it becomes %s, and the rest of the answer follows", async (choice, status, tries) => {
    await using world = await open()
    using peer = await world.server.socket("ada")
    await ask(peer, "fax it")
    const { id } = await world.proposal()
    const early = peer.seen.length
    peer.send({ type: "resolve", proposalId: id, choice })
    expect(await peer.next("error", early)).toMatchObject({ id })
    const doubt = await ask(peer, "yes")
    expect(doubt).toMatchObject({ status: "paused", response: expect.stringContaining("It is not known whether") })
    const from = peer.seen.length
    peer.send({ type: "resolve", proposalId: id, choice })
    expect((await peer.next("final", from)).response).toBe("Settled.")
    expect([(await world.proposal()).status, world.tries()]).toEqual([status, tries])
    peer.send({ type: "resolve", proposalId: id, choice: "done" })
    expect(await peer.next("error", from)).toMatchObject({
      code: expect.stringMatching(/^(not_in_doubt|bad_request)$/),
    })
  })

  test("messages sent meanwhile wait, and their sender gets the reason, and the answer when that is settled", async () => {
    await using world = await open(says("Hello."))
    using peer = await world.server.socket("ada")
    await ask(peer, "fax it")
    await ask(peer, "yes")
    const held = await ask(peer, "hi")
    expect(held).toMatchObject({ status: "paused", response: expect.stringContaining("It is not known whether") })
    expect(held.response).toContain("your words wait")
    const { id } = await world.proposal()
    const before = peer.seen.length
    peer.send({ type: "resolve", proposalId: id, choice: "done" })
    expect((await peer.next("final", before)).response).toBe("Settled.")
    await expect.poll(() => peer.seen.findLast(({ type }) => type === "final")).toMatchObject({ response: "Hello." })
  })

  test("a client that is active in another conversation can stop it while it receives the reason why its messages wait", async () => {
    await using world = await open(hangs("Let me think"))
    using peer = await world.server.socket("ada")
    const { conversationId: doubted } = await ask(peer, "fax it")
    await ask(peer, "yes")
    const elsewhere = { agent: "test", newConversation: true } as const
    peer.send({ type: "chat_request", message: "go", context: elsewhere })
    await peer.until((seen) => seen.some((frame) => frame.type === "final" && frame.response === "Settled."))
    const before = peer.seen.length
    peer.send({ type: "chat_request", message: "think", context: elsewhere })
    const { conversationId } = await peer.next("text_chunk", before)
    peer.send({ type: "chat_request", message: "hi", context: { conversationId: doubted as never } })
    peer.send({ type: "cancel", conversationId: conversationId as never })
    expect(await peer.next("final", before)).toMatchObject({ conversationId })
    await peer.until((seen) => seen.slice(before).filter(({ type }) => type === "final").length === 2)
    expect(peer.seen.at(-1)).toMatchObject({ response: expect.stringContaining("your words wait") })
  })

  test("only by a client with the scope, and for its own conversation: as over HTTP", async () => {
    await using world = await open()
    using peer = await world.server.socket("ada")
    await ask(peer, "fax it")
    await ask(peer, "yes")
    const { id } = await world.proposal()
    const resolve = { type: "resolve", proposalId: id, choice: "done" }
    using powerless = await world.server.socket("ada", "read", "chat")
    powerless.send(resolve)
    expect(await powerless.next("error")).toMatchObject({ code: "forbidden", id })
    using eve = await world.server.socket("eve")
    eve.send(resolve)
    expect(await eve.next("error")).toMatchObject({ code: "not_found", id })
    expect((await world.proposal()).status).toBe("in_doubt")
  })
})
