import { describe, expect, test } from "vitest"
import { answer } from "../../core/engine/definition/tool.ts"
import { calls, replies, says, thinks } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { of, openChecked, repliesOf } from "../support/loop/checked-world.ts"
import { anyDatabase } from "../support/databases.ts"
import { dyingAt } from "../support/loop/faults.ts"
import { read, write } from "../support/loop/tools.ts"
import { TurnedClock } from "../support/loop/world.ts"

/** A model that calls tools as long as it may, each time with other arguments, and answers when it must. */
function tireless() {
  let n = 0
  return scripted(
    always(({ toolChoice }) => (toolChoice === "auto" ? calls("look", { q: `${++n}` }) : says("That is all I know."))),
  )
}

describe.each(anyDatabase)("on $name", ({ create }) => {
  test("a run that only calls tools must answer after five replies with calls, and the reason is recorded", async () => {
    await using database = await create()
    const model = tireless()
    await using world = await openChecked({ url: database.url, model, tools: [read("look"), write("note")] })
    const id = await world.begin("Find out.")
    const asked = model.received.map(({ request }) => request)
    expect(asked.map(({ toolChoice }) => toolChoice)).toEqual(["auto", "auto", "auto", "auto", "auto", "none"])
    expect(asked.at(-1)?.tools.map(({ name }) => name)).toEqual(["look", "note"])
    expect(of(await world.events(id), "run_ended")).toMatchObject([{ status: "completed", reason: "iteration_limit" }])
    expect((await world.load(id)).run).toMatchObject({ status: "completed", iteration: 5, maxIterations: 5 })
    expect((await repliesOf(world, id)).at(-1)).toBe("That is all I know.")
  })

  test.each([1, 2, 20])("a message may set the limit to %i", async (maxIterations) => {
    await using database = await create()
    const model = tireless()
    await using world = await openChecked({ url: database.url, model, tools: [read("look")] })
    await world.begin("Find out.", { maxIterations })
    expect(model.received).toHaveLength(maxIterations + 1)
  })

  test("an agent may set its own, and a message overrides it", async () => {
    await using database = await create()
    const model = tireless()
    await using world = await openChecked({
      url: database.url,
      model,
      tools: [read("look")],
      agent: { maxIterations: 8 },
    })
    const id = await world.begin("Find out.")
    expect(model.received).toHaveLength(9)
    await world.send(id, "Once more.", { maxIterations: 2 })
    expect(model.received).toHaveLength(9 + 3)
  })

  test("a run makes exactly one request for each reply, and no other", async () => {
    await using database = await create()
    const model = scripted(calls(["look"], ["look", { q: "2" }], ["look", { q: "3" }]), calls("note"), says("Done."))
    await using world = await openChecked({ url: database.url, model, tools: [read("look"), write("note")] })
    const id = await world.begin("Go.", { mode: "auto" })
    expect(model.received).toHaveLength(3)
    expect((await world.load(id)).run).toMatchObject({ iteration: 2 })
    expect(of(await world.events(id), "run_ended")).not.toMatchObject([{ reason: expect.anything() }])
  })

  test("the limit spans the pauses of a run", async () => {
    await using database = await create()
    const model = scripted(calls("note"), calls("note", { q: "2" }), says("Enough."))
    await using world = await openChecked({ url: database.url, model, tools: [write("note")] })
    const id = await world.begin("Go.", { maxIterations: 2 })
    for (let pause = 0; pause < 2; pause++) {
      const [open] = await world.proposals(id)
      await world.decide(id, open!.proposed.id, "commit")
    }
    expect(model.received.map(({ request }) => request.toolChoice)).toEqual(["auto", "auto", "none"])
  })

  test("the calls of a model that must answer are left out, and the next turn works", async () => {
    await using database = await create()
    let ran = 0
    const look = read("look", () => answer(`${++ran}`))
    const model = scripted(calls("look"), replies(says("Wait, "), calls("look", { q: "again" })), says("Better."))
    await using world = await openChecked({ url: database.url, model, tools: [look] })
    const id = await world.begin("Go.", { maxIterations: 1 })
    expect(ran).toBe(1)
    expect((await world.load(id)).run).toMatchObject({ status: "completed", iteration: 1 })
    await world.send(id, "And?")
    expect(await repliesOf(world, id)).toEqual(["", "Wait, ", "Better."])
  })

  test("one that only calls tools is asked once more with a note that it must answer, and that reply is the answer", async () => {
    await using database = await create()
    let ran = 0
    const look = read("look", () => answer(`${++ran}`))
    const again = replies(thinks("I look again"), calls("look", { q: "again" }))
    const model = scripted(calls("look"), again, says("That is all."))
    await using world = await openChecked({ url: database.url, model, tools: [look] })
    const id = await world.begin("Go.", { maxIterations: 1 })
    expect(ran).toBe(1)
    const asked = model.received.map(({ request }) => request)
    expect(asked.map(({ toolChoice }) => toolChoice)).toEqual(["auto", "none", "none"])
    expect(asked[2]?.history.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"])
    expect(asked[2]?.history.at(-1)).toMatchObject({ isNote: true, text: expect.stringMatching(/in words/) })
    expect(of(await world.events(id), "run_ended")).toMatchObject([{ status: "completed", reason: "iteration_limit" }])
    expect(await repliesOf(world, id)).toEqual(["", "", "That is all."])
  })

  test("is asked once more only: then the run fails without an answer, and the next turn works", async () => {
    await using database = await create()
    const model = scripted(calls("look"), calls("look", { q: "2" }), calls("look", { q: "3" }), says("Here."))
    await using world = await openChecked({ url: database.url, model, tools: [read("look")] })
    const id = await world.begin("Go.", { maxIterations: 1 })
    expect(model.received).toHaveLength(3)
    expect(of(await world.events(id), "run_ended")).toMatchObject([{ status: "completed", reason: "empty_reply" }])
    const last = of(await world.events(id), "message").at(-1)
    expect(last).toMatchObject({ finish: "calls", parts: [] })
    await world.send(id, "And?")
    expect((await repliesOf(world, id)).at(-1)).toBe("Here.")
    const roles = model.received.at(-1)?.history.map(({ role }) => role)
    expect(roles).toEqual(["user", "assistant", "tool", "user"])
  })

  const deaths = [3, 4, 5, 6].flatMap((at) => (["before", "after"] as const).map((when) => ({ at, when })))
  test.each(deaths)("a crash $when write $at does not add a request", async (death) => {
    await using database = await create()
    const clock = new TurnedClock()
    const tools = [read("look")]
    const asked: string[] = []
    const stubborn = () =>
      scripted(
        always(({ toolChoice }) => {
          if (toolChoice === "none") asked.push("for words")
          return toolChoice === "none" ? calls("look", { q: "again" }) : calls("look")
        }),
      )
    let id: ConversationId
    {
      const between = (journal: Parameters<typeof dyingAt>[1]) => dyingAt(death, journal)
      await using world = await openChecked({ url: database.url, model: stubborn(), tools, clock, between })
      id = (await world.start("Go.", { maxIterations: 1 })).id
      await world.pawl.runtime.rest(id)
      world.store.journal.drop(id)
      // Checked when the second process has ended.
      Object.assign(world, {
        [Symbol.asyncDispose]: () => world.pawl[Symbol.asyncDispose]().then(() => world.store[Symbol.asyncDispose]()),
      })
    }
    await clock.turn(60_000)
    await using world = await openChecked({ url: database.url, model: stubborn(), tools, clock })
    await world.pawl.runtime.recover()
    await world.pawl.runtime.rest(id)
    expect(of(await world.events(id), "run_ended")).toMatchObject([{ status: "completed", reason: "empty_reply" }])
    const wordless = of(await world.events(id), "message").filter(({ finish, parts }) => finish && parts.length === 0)
    expect(wordless).toHaveLength(2)
    expect(asked.length).toBeLessThanOrEqual(3) // a request whose answer was lost is sent again
  })
})
