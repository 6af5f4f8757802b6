import { describe, expect, test } from "vitest"
import { breaksOff, calls, fails, replies, says, type Script } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { AppError } from "../../core/protocol/errors.ts"
import { emptyTranscript, fromDetail, reduce } from "../../client/index.ts"
import { of, openChecked, repliesOf } from "../support/loop/checked-world.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"
import { isOver, readFrames } from "../support/server/stream.ts"
import { read } from "../support/loop/tools.ts"

const dies = (after: string) => fails("overloaded", { after, retriable: true })
const failing = (script: Script): Script => ({
  ...script,
  end: { type: "fail", error: new AppError("model_silent", "It sent nothing for 60 s.") },
})

describe.each(anyDatabase)("a reply that fails after its words were shown, on $name", ({ create }) => {
  test.each<[how: string, reply: Script]>([
    ["in silence", failing(says("Once upon a ti", { chunks: 3 }))],
    ["by an end without a finish", breaksOff("Once upon a ti")],
    ["by an error that no second try would mend", fails("refused", { after: "Once upon a ti" })],
  ])("%s keeps them, marked as interrupted, and the next turn continues from them", async (_, reply) => {
    await using database = await create()
    const model = scripted(reply, says("… time."))
    await using world = await openChecked({ url: database.url, model })
    const id = await world.begin("Tell a story.")
    const events = await world.events(id)
    expect(events.slice(-2)).toMatchObject([
      { type: "message", role: "assistant", finish: "broken", parts: [{ type: "text", text: "Once upon a ti" }] },
      { type: "run_ended", status: "failed" },
    ])
    await world.send(id, "Go on.")
    expect(model.received[1]?.history).toMatchObject([
      { text: "Tell a story." },
      { role: "assistant", parts: [{ text: "Once upon a ti" }] },
      { text: "Go on." },
    ])
  })

  test("keeps no text if only blanks were shown", async () => {
    await using database = await create()
    await using world = await openChecked({ url: database.url, model: scripted(fails("refused", { after: " \n" })) })
    const id = await world.begin("Tell a story.")
    expect(await repliesOf(world, id)).toEqual([])
  })

  test("drops the tool calls that it had started, and its thoughts", async () => {
    await using database = await create()
    const reply = failing(replies(says("I look."), calls("look"), says(" And then")))
    await using world = await openChecked({ url: database.url, model: scripted(reply), tools: [read("look")] })
    const id = await world.begin("Look.")
    expect(of(await world.events(id), "message").at(-1)?.parts).toEqual([
      { type: "text", text: "I look." },
      { type: "text", text: " And then" },
    ])
    expect(of(await world.events(id), "tool_start")).toEqual([])
  })

  test.each<[what: string, replies: Script[], kept: string]>([
    ["the words of the last attempt", [dies("One"), dies("Two"), dies("Three")], "Three"],
    ["the last words that were seen", [dies("One"), dies("Two"), fails("overloaded")], "Two"],
  ])("over several attempts keeps %s, once", async (_, attempts, kept) => {
    await using database = await create()
    await using world = await openChecked({ url: database.url, model: scripted(...attempts) })
    const id = await world.begin("Count.")
    expect(of(await world.events(id), "restarted")).toHaveLength(2)
    expect(of(await world.events(id), "message").slice(1)).toMatchObject([
      { finish: "broken", parts: [{ text: kept }] },
    ])
  })

  test("is forgotten when a later attempt succeeds", async () => {
    await using database = await create()
    const model = scripted(dies("One"), says("All."), fails("auth"))
    await using world = await openChecked({ url: database.url, model })
    const id = await world.begin("Count.")
    await world.send(id, "Again.")
    expect(await repliesOf(world, id)).toEqual(["All."])
  })

  test("is resumed after its text, and the question is not repeated", async () => {
    await using database = await create()
    const model = scripted(fails("refused", { after: "Once up" }), says("on a time."))
    await using world = await openChecked({ url: database.url, model })
    const id = await world.begin("Tell a story.")
    await world.pawl.runtime.submit(id, { type: "resume", by: world.user })
    await world.pawl.runtime.rest(id)
    expect(model.received[1]?.history.map(({ role }) => role)).toEqual(["user", "assistant", "user"])
    expect(await repliesOf(world, id)).toEqual(["Once up", "on a time."])
  })

  test("is the same for a client that watched it, live or later, and one that reads it as JSON", async () => {
    await using database = await create()
    await using face = await Face.open({
      url: database.url,
      model: scripted(dies("One"), fails("auth", { after: "Two, " })),
    })
    const ada = await face.as("ada")
    const id = await ada.begin({ agent: "test" })
    const live = ada.watch(id)
    await ada.say(id, "Count.")
    const told = [...(await readFrames(await live, isOver))]
    const late = [...(await readFrames(await ada.watch(id), isOver))]
    const seen = told.reduce(reduce, emptyTranscript).items
    expect(late.reduce(reduce, emptyTranscript).items).toEqual(seen)
    expect(JSON.stringify(told)).not.toContain('"shown"')
    const detail = fromDetail((await ada.get(`/api/conversations/${id}`)).body)
    const replied = { type: "message", message: { role: "assistant", content: "Two, ", finish: "broken" } }
    for (const items of [seen, detail.items])
      expect(items.filter((item) => item.type === "message").at(-1)).toMatchObject(replied)
  })
})
