import { describe, expect, test } from "vitest"
import { type Answer, answer, failed, type Tool } from "../../../core/engine/definition/tool.ts"
import { calls, says, type Script } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { openChecked, resultsOf, woken } from "../../support/loop/checked-world.ts"
import { anyDatabase } from "../../support/databases.ts"
import { Held, read, write } from "../../support/loop/tools.ts"
import { message, openWorld, TurnedClock } from "../../support/loop/world.ts"

/** A read that counts its runs, and returns the number. */
class Counted {
  times = 0
  readonly run = (): Answer => answer(`look ${++this.times}`, { data: { times: this.times } })
}

const look = (input = {}) => calls("look", input)

describe.each(anyDatabase)("on $name", ({ create }) => {
  /** Runs these replies in one run, in auto mode, and returns the answers of the reads. */
  async function runAll(...replies: Script[]) {
    const database = await create()
    const counted = new Counted()
    const model = scripted(...replies, says("Done."))
    const tools = [
      read("look", counted.run),
      read("count", () => answer(`count ${++counted.times}`, { state: { counted: counted.times } })),
      { ...read("page", counted.run), taint: "untrusted" } as Tool,
      read("sorry", () => failed(`sorry ${++counted.times}`)),
      write("note", () => answer(`noted ${++counted.times}`)),
      write("bad_note", () => Promise.reject(new Error("torn"))),
    ]
    await using _database = database
    await using world = await openChecked({ url: database.url, model, tools })
    const id = await world.begin("Go.", { mode: "auto", maxIterations: 20 })
    const results = await resultsOf(world, id)
    return { results, texts: results.map(({ text }) => text) }
  }

  test("a read with the same arguments is reused in its run, marked with the call it repeats", async () => {
    const { results } = await runAll(look({ q: "a" }), look({ q: "a" }))
    const [first, second] = results
    expect(second).toMatchObject({ status: "ok", text: "look 1", data: { times: 1 }, reusedFrom: first?.callId })
    expect(first?.reusedFrom).toBeUndefined()
  })

  test("a read that adds to the state runs again, because its previous answer may be out of date", async () => {
    expect((await runAll(calls("count"), calls("count"))).texts).toEqual(["count 1", "count 2"])
  })

  test("untrusted text stays untrusted when it is repeated", async () => {
    const [first, second] = (await runAll(calls("page"), calls("page"))).results
    expect([first?.brings, second?.brings, second?.reusedFrom]).toEqual(["outside", "outside", first?.callId])
  })

  test("a read with other arguments is not", async () => {
    expect((await runAll(look({ q: "a" }), look({ q: "b" }))).texts).toEqual(["look 1", "look 2"])
  })

  test("a read that failed is tried again", async () => {
    expect((await runAll(calls("sorry"), calls("sorry"))).texts).toEqual(["sorry 1", "sorry 2"])
  })

  test("a write is never reused", async () => {
    expect((await runAll(calls("note"), calls("note"))).texts).toEqual(["noted 1", "noted 2"])
  })

  test("a read runs again once a write was applied", async () => {
    const { texts, results } = await runAll(look(), calls("note"), look(), look())
    expect(texts).toEqual(["look 1", "noted 2", "look 3", "look 3"])
    expect(results[3]).toMatchObject({ reusedFrom: results[2]?.callId })
  })

  test("a read runs again also when the write failed, because it may have been half done", async () => {
    expect((await runAll(look(), calls("bad_note"), look())).texts).toEqual([
      "look 1",
      "bad_note failed: torn",
      "look 2",
    ])
  })

  test("a read is reused when the write was rejected, also by the next process", async () => {
    await using database = await create()
    const counted = new Counted()
    const tools = [read("look", counted.run), write("note")]
    const id = await (async () => {
      const model = scripted(look(), calls("note"))
      await using world = await openChecked({ url: database.url, model, tools })
      return await world.begin("Go.")
    })()
    await using world = await openChecked({ url: database.url, model: scripted(look(), says("Done.")), tools })
    const [open] = await world.proposals(id)
    await world.decide(id, open!.proposed.id, "reject")
    expect(counted.times).toBe(1)
    expect((await resultsOf(world, id)).map(({ text }) => text)).toContain("look 1")
  })

  test("the next run reads again", async () => {
    await using database = await create()
    const counted = new Counted()
    const model = scripted(look(), says("One."), look(), says("Two."))
    await using world = await openChecked({ url: database.url, model, tools: [read("look", counted.run)] })
    const id = await world.begin("Look.")
    await world.send(id, "Look again.")
    expect(counted.times).toBe(2)
  })

  test("a read runs again once a write that was given up has been applied after all", async () => {
    await using database = await create()
    const counted = new Counted()
    const [late, wait] = [new Held(), new Held()]
    const clock = new TurnedClock()
    const model = scripted(calls("late_note"), look(), calls("wait"), look(), says("Done."))
    const tools = [
      read("look", counted.run),
      read("wait", wait.run, { timeoutSeconds: 999 }),
      write("late_note", late.run),
    ]
    await using world = await openChecked({ url: database.url, model, tools, clock, limits: { runSeconds: 9999 } })
    const { id } = await world.start("Go.", { mode: "auto" })
    await late.begun
    await clock.turn(32_000)
    await world.pawl.runtime.rest(id)
    const [open] = await world.proposals(id)
    await world.pawl.runtime.submit(id, {
      type: "resolve",
      proposalId: open!.proposed.id,
      choice: "abandon",
      by: world.user,
    })
    await wait.begun
    const arrived = woken(world, id)
    late.end("Noted after all.")
    await arrived
    wait.end("waited")
    await world.pawl.runtime.rest(id)
    expect(await world.types(id)).toContain("late_result")
    expect(counted.times).toBe(2)
  })

  describe("a read that declares a cache time", () => {
    async function open(more: readonly Tool[] = []) {
      const database = await create()
      const clock = new TurnedClock()
      const counted = new Counted()
      const cached = read("look", counted.run, { cacheSeconds: 60 })
      const fails = read("sorry", () => failed(`sorry ${++counted.times}`), { cacheSeconds: 60 })
      const last = always(({ history }) => {
        const turn = history.at(-1)
        return turn?.role === "user" ? calls(turn.text) : says("Done.")
      })
      const world = await openWorld({
        url: database.url,
        model: scripted(last),
        tools: [cached, fails, write("note"), ...more],
        clock,
      })
      return {
        ...{ clock, counted, world },
        async [Symbol.asyncDispose]() {
          await world[Symbol.asyncDispose]()
          await database[Symbol.asyncDispose]()
        },
      }
    }

    test("is reused by other runs and conversations of the same user, for that time", async () => {
      await using scene = await open()
      const { world, clock, counted } = scene
      const id = await world.begin("look")
      await world.send(id, "look")
      const other = await world.begin("look")
      expect(counted.times).toBe(1)
      expect(await resultsOf(world, other)).toMatchObject([{ status: "ok", text: "look 1", data: { times: 1 } }])
      await clock.turn(60_000)
      await world.send(id, "look")
      expect(counted.times).toBe(2)
    })

    test("is not reused by another user", async () => {
      await using scene = await open()
      const { world, counted } = scene
      await world.begin("look")
      const bob = await world.store.people.ensure("bob", 0)
      const { id } = await world.pawl.runtime.begin({ user: bob.id, agent: "test" }, message("look"))
      await world.pawl.runtime.rest(id)
      expect(counted.times).toBe(2)
    })

    test("is not reused after that user has written anything", async () => {
      await using scene = await open()
      const { world, counted } = scene
      await world.begin("look")
      await world.begin("note", { mode: "auto" })
      await world.begin("look")
      expect(counted.times).toBe(2)
    })

    test("is not reused if it ran while a write of that user was running", async () => {
      const held = new Held()
      await using scene = await open([write("slow_note", held.run)])
      const { world, counted } = scene
      const { id } = await world.start("slow_note", { mode: "auto" })
      await held.begun
      await world.begin("look")
      held.end("Noted.")
      await world.pawl.runtime.rest(id)
      await world.begin("look")
      expect(counted.times).toBe(2)
    })

    test("is not reused when it failed", async () => {
      await using scene = await open()
      const { world, counted } = scene
      await world.begin("sorry")
      await world.begin("sorry")
      expect(counted.times).toBe(2)
    })
  })
})
