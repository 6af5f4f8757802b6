import { describe, expect, test } from "vitest"
import type { ServerFrame } from "../../core/protocol/socket.ts"
import { always, calls, replies, says, scripted, type ScriptedReply } from "../../core/testing.ts"
import { anyDatabase } from "../support/databases.ts"
import { openServer } from "../support/server/socket.ts"
import { Held, read } from "../support/loop/tools.ts"

const CONVERSATION = expect.stringMatching(/^conv_/)

const isFinal = ({ type }: ServerFrame) => type === "final"
const finals = (seen: readonly ServerFrame[]) => seen.filter(isFinal).length

interface Said {
  readonly role: string
  readonly content: string
}

// A client that knows only the first six frames waits for a `final` after each frame it sends.
describe.each(anyDatabase)("every chat_request ends with a final on $name", (database) => {
  const open = async (...script: readonly ScriptedReply[]) => {
    const held = new Held()
    const server = await openServer({ database, model: scripted(...script), tools: [read("wait", held.run)] })
    const ada = await server.visitor("ada")
    const id = await ada.begin({ agent: "test" })
    const say = (message: string) => ({ type: "chat_request", message, context: { conversationId: id } })
    return { server, ada, id, held, say, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
  }

  test("though its text cannot be stored", async () => {
    await using world = await open(says("Heard."))
    using peer = await world.server.socket("ada")
    peer.send(world.say("a\0b"))
    expect(await peer.next("final")).toMatchObject({ response: expect.stringContaining("cannot be stored") })
    expect(peer.types()).toEqual(["error", "final"])
    peer.send(world.say("a b"))
    await peer.until((seen) => finals(seen) === 2)
    expect(peer.seen.at(-1)).toEqual({ type: "final", response: "Heard.", conversationId: CONVERSATION })
  })

  test("though it was withdrawn before its run started", async () => {
    await using world = await open(calls("wait"), always(says("One.")))
    const { ada, id, held } = world
    using peer = await world.server.socket("ada")
    peer.send(world.say("one"))
    await held.begun
    peer.send(world.say("two"))
    const queue = async () => (await ada.get(`/api/conversations/${id}/queue`)).body.items as { id: string }[]
    await expect.poll(async () => (await queue()).length).toBe(1)
    const [queued] = await queue()
    expect((await ada.delete(`/api/conversations/${id}/queue/${queued?.id}`)).status).toBe(204)
    const withdrawn = peer.next("error")
    expect(await withdrawn).toMatchObject({ code: "message_withdrawn", id })
    held.end("found")
    await peer.until((seen) => finals(seen) === 2)
    peer.send(world.say("three"))
    await peer.until((seen) => finals(seen) === 3)
  })

  test("though the run before it was stopped, and it is held until the next message", async () => {
    await using world = await open(calls("wait"), always(says("Both.")))
    const { ada, id, held } = world
    using peer = await world.server.socket("ada")
    peer.send(world.say("one"))
    await held.begun
    peer.send(world.say("two"))
    await expect.poll(async () => (await ada.get(`/api/conversations/${id}/queue`)).body.items.length).toBe(1)
    peer.send({ type: "cancel", conversationId: id })
    await peer.until((seen) => finals(seen) === 2)
    expect(peer.seen.flatMap((frame) => (frame.type === "error" ? [frame.code] : []))).toEqual([
      "cancelled",
      "message_held",
    ])
    peer.send(world.say("three"))
    await peer.until((seen) => finals(seen) === 3)
    await expect
      .poll(async () => {
        const { messages } = (await ada.get(`/api/conversations/${id}`)).body as { messages: Said[] }
        return messages.filter(({ role }) => role === "user").map(({ content }) => content)
      })
      .toEqual(["one", "three", "two"])
  })

  test("which is sent in its turn, not in the middle of another answer", async () => {
    await using world = await open(replies(says("A first part. "), calls("wait")), says("The end."))
    using peer = await world.server.socket("ada")
    peer.send(world.say("go"))
    await peer.next("text_chunk")
    await world.held.begun
    peer.send({ type: "chat_request", message: "no", context: { conversationId: "conv_missing" } })
    peer.send({ type: "cancel", conversationId: "conv_missing" })
    await peer.next("error") // of the cancel, which came after it
    expect(finals(peer.seen)).toBe(0)
    world.held.end("found")
    await peer.until((seen) => finals(seen) === 2)
    expect(peer.types()).toEqual(["text_chunk", "error", "text_chunk", "final", "error", "final"])
    expect(peer.seen.at(3)).toEqual({ type: "final", response: "The end.", conversationId: CONVERSATION })
  })
})
