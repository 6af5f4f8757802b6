import { describe, expect, test } from "vitest"
import { feedFrames, type FeedFrameType } from "../../src/protocol/frames.ts"
import { calls, says, scripted } from "../../src/testing.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"
import { readFrames, type SeenFrame } from "../support/server/stream.ts"
import { write } from "../support/loop/tools.ts"

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

  test("tells first how things stand, then what waits for the person, and that it no longer does", async () => {
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

  test("is about nobody else", async () => {
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
})
