import { describe, expect, test } from "vitest"
import { calls, replies, says } from "../src/models/script.ts"
import { always, scripted } from "../src/models/scripted.ts"
import { of, openChecked, repliesOf } from "./checked-world.ts"
import { databases } from "./databases.ts"
import { read, write } from "./tools.ts"

/** A model that calls for as long as it may, each time with other arguments, and answers when it must. */
function tireless() {
  let n = 0
  return scripted(
    always(({ toolChoice }) => (toolChoice === "auto" ? calls("look", { q: `${++n}` }) : says("That is all I know."))),
  )
}

describe.each(databases)("on $name", ({ create }) => {
  test("a run that only calls is asked for words after five replies with calls, and the reason is kept", async () => {
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

  test("an agent may set its own, and a message goes before it", async () => {
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

  test("a run makes exactly one request for each reply, and none besides", async () => {
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

  test("a model that calls although it must answer has its calls left out, and the next turn works", async () => {
    await using database = await create()
    let ran = 0
    const look = read("look", () => ({ status: "ok", text: `${++ran}` }))
    const model = scripted(calls("look"), replies(says("Wait, "), calls("look", { q: "again" })), says("Better."))
    await using world = await openChecked({ url: database.url, model, tools: [look] })
    const id = await world.begin("Go.", { maxIterations: 1 })
    expect(ran).toBe(1)
    expect((await world.load(id)).run).toMatchObject({ status: "completed", iteration: 1 })
    await world.send(id, "And?")
    expect(await repliesOf(world, id)).toEqual(["", "Wait, ", "Better."])
  })
})
