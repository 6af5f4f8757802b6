import { describe, expect, test } from "vitest"
import type { ServerFrame } from "../../core/protocol/socket.ts"
import { breaksOff, calls, fails, hangs, replies, says, scripted, type ScriptedReply } from "../../core/testing.ts"
import { anyDatabase } from "../support/databases.ts"
import { openServer } from "../support/server/socket.ts"
import { isOver, readFrames, transcriptOf } from "../support/server/stream.ts"
import { read, write } from "../support/loop/tools.ts"

const CONVERSATION = expect.stringMatching(/^conv_/)

const LONG = "Ünïcödé 😀 and words, ".repeat(12)
const SIX = ["text_chunk", "tool_call", "final", "ping"]
const isFinal = ({ type }: ServerFrame) => type === "final"

describe.each(anyDatabase)("chat requests over a socket on $name", (database) => {
  const open = (...script: readonly ScriptedReply[]) =>
    openServer({ database, model: scripted(...script), tools: [read("look"), write("change")] })
  const say = (message: string, context: Record<string, unknown> = {}) => ({
    type: "chat_request",
    message,
    context: { agent: "test", ...context },
  })

  test("a client that knows only the first six frames gets streamed text and one final, last", async () => {
    await using server = await open(says(LONG, { chunks: 20 }))
    using peer = await server.socket("ada")
    peer.send({ type: "chat_request", message: "go", context: { agent: "test", screen: { theme: "dark" } } })
    expect(await peer.next("final")).toEqual({ type: "final", response: LONG, conversationId: CONVERSATION })
    expect(peer.text()).toBe(LONG)
    expect(peer.types().filter((type) => !SIX.includes(type))).toEqual([])
    expect(peer.seen.findIndex(isFinal)).toBe(peer.seen.length - 1)
  })

  test("a run is the same as JSON, as a stream and over a socket", async () => {
    const script = [replies(says("Let me look. "), calls("look", { q: "a" })), says(LONG, { chunks: 9 })]
    await using server = await open(...script, ...script, ...script)
    const ada = await server.visitor("ada")
    const [json, sse, ws] = [
      await ada.begin({ agent: "test" }),
      await ada.begin({ agent: "test" }),
      await ada.begin({ agent: "test" }),
    ] as [string, string, string]
    const answer = (await ada.say(json, "go")).body
    const sent = { body: { text: "go" }, headers: { accept: "text/event-stream" } }
    const streamed = await readFrames(await ada.send("POST", `/api/conversations/${sse}/messages`, sent), () => false)
    using peer = await server.socket("ada")
    peer.send({ type: "attach", conversationId: ws, after: "1" })
    peer.send(say("go", { conversationId: ws }))
    await peer.next("final")
    await peer.until(() => isOver(peer.events(ws)))
    const contents = (messages: { role: string; content: string }[]) =>
      messages.map(({ role, content }) => [role, content])
    for (const id of [sse, ws]) {
      expect(contents((await ada.get(`/api/conversations/${id}`)).body.messages)).toEqual(contents(answer.messages))
    }
    const bare = (frames: readonly { type: string; id: string }[]) =>
      frames.flatMap(({ type, id }) => (type === "text_delta" ? [] : [`${id} ${type}`]))
    expect(bare(peer.events(ws))).toEqual(bare(streamed))
    expect(transcriptOf(peer.events(ws)).shown).toEqual(transcriptOf(streamed).shown)
    expect(peer.text()).toBe(`Let me look. ${LONG}`)
  })

  test("a pending approval is reported, and the rest follows when another client has decided", async () => {
    await using server = await open(calls("change", { q: "b" }), says("Done."))
    const ada = await server.visitor("ada")
    using peer = await server.socket("ada", "read", "chat")
    peer.send(say("change it"))
    const { proposals } = await peer.next("awaiting_confirmation")
    expect(proposals).toMatchObject([{ tool: "change", status: "pending" }])
    expect(await peer.next("final")).toMatchObject({ status: "paused" })
    const told = peer.seen.length
    expect((await ada.post(`/api/agent/proposals/${proposals[0]?.id}/commit`)).body.status).toBe("applied")
    expect(await peer.next("final", told)).toEqual({ type: "final", response: "Done.", conversationId: CONVERSATION })
  })

  test("a decision over the socket counts as one over HTTP does: once, by its person, with the scope", async () => {
    await using server = await open(calls("change", { q: "b" }), says("Done."))
    using peer = await server.socket("ada")
    peer.send(say("change it"))
    const [proposal] = (await peer.next("awaiting_confirmation")).proposals
    const id = proposal?.id ?? ""
    const decide = { type: "decide", proposalId: id, decision: "commit" }
    using powerless = await server.socket("ada", "read", "chat")
    powerless.send(decide)
    expect(await powerless.next("error")).toMatchObject({ code: "forbidden", id })
    using eve = await server.socket("eve")
    eve.send(decide)
    const foreign = await eve.next("error")
    eve.send({ ...decide, proposalId: "prop_missing" })
    await eve.until((seen) => seen.length === 2)
    expect(foreign).toEqual({ ...eve.seen[1], id })
    expect(foreign).toMatchObject({ code: "not_found" })
    await peer.next("final")
    const told = peer.seen.length
    for (let i = 0; i < 5; i++) peer.send(decide)
    expect(await peer.next("final", told)).toEqual({ type: "final", response: "Done.", conversationId: CONVERSATION })
    await peer.until((seen) => seen.filter(({ type }) => type === "error").length === 4)
    expect(peer.seen.filter(({ type }) => type === "error")).toEqual(
      Array(4).fill(expect.objectContaining({ code: "proposal_decided", id })),
    )
  })

  test("a rejection with its reason reaches the model", async () => {
    await using server = await open(calls("change", { q: "b" }), says("As you like."))
    using peer = await server.socket("ada")
    peer.send(say("change it"))
    const [proposal] = (await peer.next("awaiting_confirmation")).proposals
    await peer.next("final")
    const told = peer.seen.length
    peer.send({ type: "decide", proposalId: proposal?.id, decision: "reject", reason: "not today" })
    expect(await peer.next("final", told)).toEqual({
      type: "final",
      response: "As you like.",
      conversationId: CONVERSATION,
    })
    const ada = await server.visitor("ada")
    const { messages } = (await ada.get(`/api/conversations/${proposal?.conversationId}`)).body
    expect(JSON.stringify(messages)).toContain("not today")
  })

  test("after a failure, after a cancel, and if nothing could start: an error, then final", async () => {
    await using server = await open(fails("refused"), hangs("Well, "), breaksOff("never"))
    using peer = await server.socket("ada")
    const ada = await server.visitor("ada")
    peer.send(say("one"))
    await peer.until((seen) => seen.filter(isFinal).length === 1)
    expect(peer.types()).toEqual(["error", "final"])
    expect(peer.seen[0]).toMatchObject({ code: "refused" })

    const id = await ada.begin({ agent: "test" })
    peer.send(say("two", { conversationId: id }))
    await peer.next("text_chunk")
    peer.send({ type: "cancel", conversationId: id })
    await peer.until((seen) => seen.filter(isFinal).length === 2)
    expect(peer.types().slice(2)).toEqual(["text_chunk", "error", "final"])
    expect(peer.seen.at(-2)).toMatchObject({ code: "cancelled" })

    peer.send(say("three", { conversationId: "conv_missing" }))
    await peer.until((seen) => seen.filter(isFinal).length === 3)
    expect(peer.seen.at(-2)).toMatchObject({ code: "not_found", id: "conv_missing" })
    peer.send(say("four", { model: "nonsense" }))
    await peer.until((seen) => seen.filter(isFinal).length === 4)
    expect(peer.seen.at(-2)).toMatchObject({ code: "unknown_model" })
  })

  test("the mode of a new conversation is chosen as over HTTP: auto needs the approve scope", async () => {
    await using server = await open(calls("change", { q: "b" }), says("Done at once."))
    using powerless = await server.socket("ada", "read", "chat")
    powerless.send(say("change it", { mode: "auto" }))
    await powerless.next("final")
    expect(powerless.seen[0]).toMatchObject({ type: "error", code: "forbidden" })
    using peer = await server.socket("ada")
    peer.send(say("change it", { mode: "auto" }))
    expect(await peer.next("final")).toEqual({ type: "final", response: "Done at once.", conversationId: CONVERSATION })
    expect(peer.types()).not.toContain("awaiting_confirmation")
  })

  test("an answer that waits for a person lets the next request start, and a new message ends it", async () => {
    await using server = await open(calls("change", { q: "b" }), says("Other."), says("Instead."))
    using peer = await server.socket("ada")
    peer.send(say("change it"))
    const [proposal] = (await peer.next("awaiting_confirmation")).proposals
    await peer.next("final")
    peer.send(say("something else", { newConversation: true }))
    expect(await peer.next("final", peer.seen.length)).toEqual({
      type: "final",
      response: "Other.",
      conversationId: CONVERSATION,
    })
    peer.send(say("make it 5", { conversationId: proposal?.conversationId }))
    await peer.until((seen) => seen.filter(isFinal).length === 3)
    expect(peer.seen.filter((frame) => frame.type === "final" || frame.type === "error")).toMatchObject([
      { status: "paused" },
      { response: "Other." },
      { response: "Instead." },
    ])
  })
})
