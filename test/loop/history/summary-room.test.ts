import { describe, expect, test } from "vitest"
import type { Journal } from "../../../core/engine/journal.ts"
import { answer } from "../../../core/engine/definition/tool.ts"
import { calls, fails, says } from "../../../core/models/scripted/script.ts"
import { always, type ScriptedModel, scripted } from "../../../core/models/scripted/model.ts"
import { of, openChecked, repliesOf } from "../../support/loop/checked-world.ts"
import { anyDatabase } from "../../support/databases.ts"
import { dyingAt } from "../../support/loop/faults.ts"
import { named, severalModels } from "../../support/loop/several-models.ts"
import { asksForSummary, askForSummary, compactionsOf, LONG_WORDS } from "../summaries.ts"
import { talkative, talkAtLength } from "../summaries.ts"
import { read } from "../../support/loop/tools.ts"
import { message, openWorld, TurnedClock } from "../../support/loop/world.ts"

/** Models of 2,000 tokens that answer at length; the first is overloaded when it must summarize. */
function overloadedAndOther() {
  const reply = "y".repeat(600)
  const a = named(
    "a",
    always((request) => (asksForSummary(request) ? fails("overloaded") : says(reply))),
  )
  const b = named(
    "b",
    always((request) => says(asksForSummary(request) ? "By b." : reply)),
  )
  a.contextTokens = b.contextTokens = 2000
  return { a, b, model: severalModels(a, b) }
}

describe.each(anyDatabase)("the room that a summary makes, on $name", ({ create }) => {
  test("avoids a summary in every turn, whatever the language and the length of its text", async () => {
    await using database = await create()
    await using world = await openChecked({ url: database.url, model: talkative("汉".repeat(5000)) })
    const id = await talkAtLength(world, 10)
    const turns = (await world.events(id)).reduce<string[]>((told, event) => {
      if (event.type === "message" && event.role === "user") told.push("")
      if (event.type === "compaction") told.push(`${told.pop()}${event.what} `)
      return told
    }, [])
    expect(turns.filter((turn) => turn.includes("summary")).length).toBeGreaterThan(1)
    turns.forEach((turn, n) => expect(turn && turns[n + 1], `turns ${n} and ${n + 1}`).toBeFalsy())
  })

  test("is reported in its event, so that a meter shows the same live and later", async () => {
    await using database = await create()
    const model = scripted(says("y".repeat(4000)), says("Two."), says("z".repeat(400)))
    await using world = await openChecked({ url: database.url, model })
    const id = await world.begin("First?")
    await world.send(id, "Second?")
    const before = (await world.load(id)).tokens
    await askForSummary(world, id)
    const made = (await compactionsOf(world, id)).at(-1)
    expect((await world.load(id)).tokens).toBe(before - (made?.tokens ?? 0))
  })

  test("one limit holds for the whole summary: text, decisions and sources together", async () => {
    await using database = await create()
    const sources = Array.from({ length: 60 }, (_, n) => ({ id: `s${n}`, passage: "p", title: "t".repeat(100) }))
    const cites = sources.map((_, n) => `[${n + 1}]`).join(" ")
    const model = scripted(...[calls("look"), says(cites), says("Two."), says("汉".repeat(5000)), says("Three.")])
    model.contextTokens = 8000
    const tools = [read("look", () => answer("Found.", { data: { kind: "sources", sources } }))]
    await using world = await openChecked({ url: database.url, model, tools })
    const id = await world.begin("Look.")
    await world.send(id, "Second?")
    await askForSummary(world, id)
    const { marks } = await world.load(id)
    const made = (await compactionsOf(world, id)).at(-1)
    expect(made?.kept?.sources.at(-1)).toMatchObject({ number: 60 })
    expect(made?.summary?.length).toBeGreaterThan(500)
    expect(marks[0]).toMatchObject({ isSummary: true })
    expect(marks[0]?.tokens).toBeLessThanOrEqual(8000 * 0.15)
  })

  test("is made by the next model of the list if the conversation's own model cannot, and nothing is cut", async () => {
    await using database = await create()
    const { b, model } = overloadedAndOther()
    await using world = await openChecked({ url: database.url, model, fallback: ["b"] })
    const id = await talkAtLength(world, 6)
    const events = await world.events(id)
    const told = events.flatMap((event) => (event.type === "compaction" ? [event.what] : []))
    expect(told.slice(0, 3)).toEqual(["due", "due", "summary"]) // whether there is room was another question for b
    expect(told).not.toContain("failed")
    expect(events.map(({ type }) => type)).not.toContain("history_cut")
    expect(of(events, "fallback")[0]).toMatchObject({ from: "a", to: "b", because: "overloaded" })
    expect(b.received.filter(({ request }) => asksForSummary(request)).length).toBeGreaterThan(0)
    expect(await repliesOf(world, id)).toHaveLength(6)
  })

  test("is not needed if the next model of the list can read the whole history", async () => {
    await using database = await create()
    const { b, model } = overloadedAndOther()
    b.contextTokens = 100_000
    await using world = await openChecked({ url: database.url, model, fallback: ["b"] })
    const id = await talkAtLength(world, 6)
    expect((await compactionsOf(world, id)).map(({ what }) => what)).toEqual(["due"])
    expect(await world.types(id)).not.toContain("history_cut")
    expect(b.received.at(-1)?.history.at(-1)).toMatchObject({ text: `5 ${LONG_WORDS}` })
  })

  test("a summary that is requested while the own model is skipped is made by the other one at once", async () => {
    await using database = await create()
    const [a, b] = [named("a", fails("overloaded")), named("b", says("One."), says("Two."), says("By b."))]
    await using world = await openChecked({ url: database.url, model: severalModels(a, b), fallback: ["b"] })
    const id = await world.begin("First?")
    await world.send(id, "Second?")
    await askForSummary(world, id)
    expect((await compactionsOf(world, id)).at(-1)).toMatchObject({ what: "summary", asked: { model: "b" } })
    expect(a.received).toHaveLength(1)
  })

  test.each(["before", "after"] as const)(
    "a crash %s the row by which another model is asked for it: it continues, with one summary",
    async (when) => {
      await using place = await create()
      const clock = new TurnedClock()
      const { model } = overloadedAndOther()
      const options = { url: place.url, model, clock, fallback: ["b"] }
      const id = await (async () => {
        await using world = await openChecked(options)
        return await talkAtLength(world, 5)
      })()
      {
        const between = (journal: Journal) => dyingAt({ at: 3, when }, journal)
        await using world = await openWorld({ ...options, between })
        await world.pawl.runtime.submit(id, message(`5 ${LONG_WORDS}`)).catch(() => {})
        await world.pawl.runtime.rest(id)
      }
      await clock.turn(60_000)
      await using world = await openChecked(options)
      await world.pawl.runtime.recover()
      await world.pawl.runtime.rest(id)
      expect((await compactionsOf(world, id)).map(({ what }) => what)).toEqual(["due", "due", "summary"])
      expect(await repliesOf(world, id)).toHaveLength(6)
    },
  )

  describe("if the configured summary model cannot make it", () => {
    const choosing = (small: ScriptedModel) => {
      const own = Object.assign(talkative("By its own."), { name: "own" })
      const options = { model: severalModels(own, small), summaryModel: "small" }
      return { own, small, options }
    }

    test.each([
      ["is overloaded", fails("overloaded"), "overloaded"],
      ["refuses", fails("refused"), "refused"],
      ["says nothing", says(" "), "empty_reply"],
    ])("because it %s, the conversation's own does, once, on record, and nothing is cut", async (_, reply, problem) => {
      await using database = await create()
      const { own, small, options } = choosing(named("small", always(reply)))
      await using world = await openChecked({ url: database.url, ...options })
      const id = await talkAtLength(world, 6)
      const made = await compactionsOf(world, id)
      expect(made.slice(0, 3)).toMatchObject([
        { what: "due", because: "full" },
        { what: "due", because: "full", problem },
        { what: "summary", summary: "By its own.", asked: { model: "own" } },
      ])
      const summaries = made.filter(({ what }) => what === "summary").length
      const asked = own.received.filter(({ request }) => asksForSummary(request)).length
      expect([small.received.length, asked]).toEqual([summaries, summaries])
      expect(await world.types(id)).not.toContain("history_cut")
    })

    test("because it does not exist, the conversation's own does, also in a requested run", async () => {
      await using database = await create()
      const { options } = choosing(named("small"))
      await using world = await openChecked({ url: database.url, ...options, summaryModel: "locked" })
      const id = await world.begin("First?")
      await world.send(id, "Second?")
      await askForSummary(world, id)
      expect((await compactionsOf(world, id)).map(({ what, problem }) => problem ?? what)).toEqual([
        ...["due", "not_configured", "summary"],
      ])
      expect((await world.load(id)).run).toMatchObject({ status: "completed", reason: "compaction" })
    })

    test("and the conversation's own cannot either, each is asked once, and the history is cut instead", async () => {
      await using database = await create()
      const small = named("small", always(fails("refused")))
      const own = named(
        "own",
        always((request) => (asksForSummary(request) ? fails("refused") : says("y".repeat(600)))),
      )
      own.contextTokens = 2000
      await using world = await openChecked({
        ...{ url: database.url, model: severalModels(own, small), summaryModel: "small" },
      })
      const id = await talkAtLength(world, 6)
      const told = (await world.events(id)).flatMap((event) => {
        if (event.type === "history_cut") return ["cut"]
        return event.type === "compaction" ? [event.problem ? `${event.what} ${event.problem}` : event.what] : []
      })
      expect(told.slice(0, 4)).toEqual(["due", "due refused", "failed refused", "cut"])
      const failed = told.filter((what) => what === "failed refused").length
      expect(small.received).toHaveLength(failed)
      expect(own.received.filter(({ request }) => asksForSummary(request))).toHaveLength(failed)
      expect(await repliesOf(world, id)).toHaveLength(6)
    })

    test("because of a ceiling, no other model is asked, which may cost more", async () => {
      await using database = await create()
      const { own, options } = choosing(named("small", always(fails("over_budget"))))
      await using world = await openChecked({ url: database.url, ...options })
      const id = await talkAtLength(world, 6)
      expect((await compactionsOf(world, id))[1]).toMatchObject({ what: "failed", problem: "over_budget" })
      expect(own.received.some(({ request }) => asksForSummary(request))).toBe(false)
      expect(await world.types(id)).toContain("history_cut")
    })

    test.each(["before", "after"] as const)(
      "a crash %s the row that says so: it continues, with one summary",
      async (when) => {
        await using place = await create()
        const clock = new TurnedClock()
        const { small, options } = choosing(named("small", always(fails("overloaded"))))
        const given = { url: place.url, clock, ...options }
        const id = await (async () => {
          await using world = await openChecked(given)
          return await talkAtLength(world, 5)
        })()
        {
          const between = (journal: Journal) => dyingAt({ at: 3, when }, journal)
          await using world = await openWorld({ ...given, between })
          await world.pawl.runtime.submit(id, message(`5 ${LONG_WORDS}`)).catch(() => {})
          await world.pawl.runtime.rest(id)
        }
        await clock.turn(60_000)
        await using world = await openChecked(given)
        await world.pawl.runtime.recover()
        await world.pawl.runtime.rest(id)
        const made = await compactionsOf(world, id)
        expect(made.map(({ what }) => what)).toEqual(["due", "due", "summary"])
        expect(small.received).toHaveLength(when === "before" ? 2 : 1)
        expect(await repliesOf(world, id)).toHaveLength(6)
      },
    )
  })

  test("may take longer than a minute if a model writes slowly", async () => {
    await using database = await create()
    const clock = new TurnedClock()
    const held = Promise.withResolvers<void>()
    const model = scripted(says("One."), says("Two."), says("Slowly."))
    const stream = model.stream.bind(model)
    model.stream = async function* (request, signal) {
      if (asksForSummary(request)) await held.promise
      yield* stream(request, signal)
    }
    await using world = await openChecked({ url: database.url, model, clock })
    const id = await world.begin("First?")
    await world.send(id, "Second?")
    await world.pawl.runtime.submit(id, { type: "compact", by: world.user })
    await expect.poll(() => world.pawl.runtime.isWorking(id)).toBe(true)
    await clock.turn(100_000)
    held.resolve()
    await world.pawl.runtime.rest(id)
    expect((await compactionsOf(world, id)).at(-1)).toMatchObject({ what: "summary", summary: "Slowly." })
  })

  test("if the history was cut instead, the model gets the tools that search it", async () => {
    await using database = await create()
    const model = talkative()
    await using world = await openChecked({ url: database.url, model, tools: [read("look")], summaryModel: "none" })
    const id = await talkAtLength(world, 6)
    expect(await world.types(id)).toContain("history_cut")
    expect(model.received.at(-1)?.request.tools.map(({ name }) => name)).toEqual([
      "look",
      "find_earlier",
      "read_earlier",
    ])
  })
})
