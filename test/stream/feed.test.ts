import { describe, expect, test, vi } from "vitest"
import type { Journal } from "../../core/engine/journal.ts"
import { feedFrames, type FeedFrameType } from "../../core/protocol/frames.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { calls, says, scripted } from "../../core/testing.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"
import { readFrames, type SeenFrame } from "../support/server/stream.ts"
import { Held, write } from "../support/loop/tools.ts"

const parse = (frames: SeenFrame[]) =>
  frames.map((frame) => ({
    ...frame,
    data: feedFrames[frame.type as FeedFrameType].parse(frame.data) as SeenFrame["data"],
  }))

describe.each(anyDatabase)("the feed on $name", ({ create }) => {
  const open = async () => {
    const { url } = await create()
    const model = scripted(calls("change", { q: "a" }), says("Done."), says("For bob."))
    return Face.open({ url, model, tools: [write("change")] })
  }

  test("sends the current state first, then what waits for the person, and that it no longer does", async () => {
    await using face = await open()
    const ada = await face.as("ada")
    const old = await ada.begin({ title: "Old" })
    const id = await ada.begin({ agent: "test" })
    const waits = Promise.withResolvers<void>()
    const feed = readFrames(await ada.send("GET", "/api/feed"), (seen) => {
      const { type, data } = seen.at(-1) ?? {}
      if (data?.conversation?.status === "awaiting_confirmation") waits.resolve()
      return type === "conversation" && data.conversation.status === "active"
    })
    const { body } = await ada.say(id, "go")
    await waits.promise
    await ada.post(`/api/agent/proposals/${body.proposals[0].id}/commit`)
    const [snapshot, ...changes] = parse(await feed)
    expect(snapshot?.data.conversations.map((conversation: { id: string }) => conversation.id)).toEqual([id, old])
    const paused = changes.find(({ data }) => data.conversation.status === "awaiting_confirmation")
    expect(paused?.data.proposals).toMatchObject([{ tool: "change", status: "pending" }])
    expect(changes.every(({ data }) => data.conversation.id === id)).toBe(true)

    const again = await readFrames(await ada.send("GET", "/api/feed"), (seen) => seen.length === 1)
    expect(again[0]?.data.proposals).toEqual([])
  })

  test("contains only the person's own conversations", async () => {
    await using face = await open()
    const ada = await face.as("ada")
    const bob = await face.as("bob")
    const id = await ada.begin({ agent: "test" })
    const feed = readFrames(await bob.send("GET", "/api/feed"), (seen) => seen.length === 2)
    await ada.say(id, "go")
    const own = await bob.begin({ agent: "test" })
    const frames = await feed
    expect(frames[0]?.data).toEqual({ conversations: [], proposals: [] })
    expect(frames[1]?.data.conversation.id).toBe(own)
  })

  test("reports that a write waits again after its grant was revoked", async () => {
    const { url } = await create()
    const held = [new Held(), new Held()] as const
    let begun = 0
    const tools = [write("slow", (...given) => held[begun++]!.run(...given)), write("change")]
    const both = calls(["slow"], ["change"])
    await using face = await Face.open({ url, model: scripted(both, says("Done."), both), tools })
    const ada = await face.as("ada")
    const id = (await ada.begin({ agent: "test" })) as ConversationId
    held[0].end("Done.")
    for (const { id: proposal } of (await ada.say(id, "go")).body.proposals)
      await ada.post(`/api/agent/proposals/${proposal}/commit`, { always: true })
    await face.pawl.runtime.rest(id)

    // The row that revokes the grant is recorded only after all other rows have been sent.
    const [taken, told] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const journal = face.pawl.ports.journal as Journal
    const append = journal.append.bind(journal)
    vi.spyOn(journal, "append").mockImplementation(async (conversation, events, options) => {
      if (events.some(({ type }) => type === "grant_revoked")) {
        taken.resolve()
        await told.promise
      }
      return append(conversation, events, options)
    })
    const toldBefore = Promise.withResolvers<void>()
    const feed = readFrames(await ada.send("GET", "/api/feed"), (seen) => {
      const titles = seen.map(({ data }) => data.conversation?.title)
      if (titles.includes("Before")) toldBefore.resolve()
      return titles.includes("After")
    })

    const said = ada.say(id, "again")
    await held[1].begun
    await ada.ask("DELETE", `/api/conversations/${id}/grants/change`)
    held[1].end("Done.")
    await taken.promise
    await ada.begin({ title: "Before" })
    await toldBefore.promise
    told.resolve()
    await said
    await ada.begin({ title: "After" })
    const frames = parse(await feed)
    const after = frames.slice(frames.findIndex(({ data }) => data.conversation?.title === "Before"))
    expect(after.filter(({ data }) => data.conversation.id === id).at(-1)?.data).toMatchObject({
      conversation: { status: "awaiting_confirmation" },
      proposals: [{ tool: "change", status: "pending" }],
    })
  })
})
