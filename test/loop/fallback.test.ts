import { describe, expect, test } from "vitest"
import { streamReply } from "../../core/engine/ask/reply.ts"
import { answer } from "../../core/engine/definition/tool.ts"
import type { Budget } from "../../core/engine/ports.ts"
import { calls, type ScriptedFailureOptions, fails, replies, says, thinks } from "../../core/models/scripted/script.ts"
import { always } from "../../core/models/scripted/model.ts"
import { type ErrorCode, failure } from "../../core/protocol/errors.ts"
import { anyDatabase } from "../support/databases.ts"
import { of, openChecked, repliesOf, resultsOf } from "../support/loop/checked-world.ts"
import { dyingAt } from "../support/loop/faults.ts"
import { named, severalModels } from "../support/loop/several-models.ts"
import { scores, stages } from "../support/loop/stages.ts"
import { read } from "../support/loop/tools.ts"
import { message, openWorld, TurnedClock } from "../support/loop/world.ts"

const MINUTE = 60_000
const overloaded = () => always(fails("overloaded", { retriable: true }))

describe.each(anyDatabase)("if a model cannot answer, on $name", ({ create }) => {
  test("the next one of the list answers, on record and under its own name", async () => {
    await using database = await create()
    const [a, b] = [named("a", overloaded()), named("b", says("Here I am."))]
    const model = severalModels(a, b)
    await using world = await openChecked({ url: database.url, model, fallback: ["locked", "b"] })
    const id = await world.begin("Hello?")
    const events = await world.events(id)
    expect(of(events, "fallback")).toMatchObject([
      { from: "a", to: "b", because: "overloaded", passed: [{ model: "locked", because: "not_configured" }] },
    ])
    expect(of(events, "message").at(-1)).toMatchObject({ model: "b", parts: [{ text: "Here I am." }] })
    expect((await world.load(id)).run).toMatchObject({ status: "completed", model: "b" })
    expect((await world.load(id)).model).toBeNull() // the chosen model stays chosen
    expect([a.received.length, b.received.length]).toEqual([1, 1])
  })

  test("the next run skips it for five minutes and then starts with it again", async () => {
    await using database = await create()
    const clock = new TurnedClock()
    const [a, b] = [named("a", fails("quota_spent"), says("Back.")), named("b", always(says("For a.")))]
    const model = severalModels(a, b)
    await using world = await openChecked({ url: database.url, model, clock, fallback: ["b"] })
    const id = await world.begin("1")
    await clock.turn(4 * MINUTE)
    await world.send(id, "2")
    expect(a.received).toHaveLength(1)
    expect(of(await world.events(id), "fallback").map(({ earlier }) => earlier)).toEqual([undefined, true])
    await clock.turn(2 * MINUTE)
    await world.send(id, "3")
    expect(await repliesOf(world, id)).toEqual(["For a.", "For a.", "Back."])
  })

  test("a model that is chosen again answers at once", async () => {
    await using database = await create()
    const [a, b] = [named("a", fails("overloaded"), says("Back.")), named("b", says("For a."))]
    await using world = await openChecked({ url: database.url, model: severalModels(a, b), fallback: ["b"] })
    const id = await world.begin("1")
    await world.pawl.runtime.submit(id, { type: "settings", model: "a", provider: "a" })
    await world.send(id, "2")
    expect(await repliesOf(world, id)).toEqual(["For a.", "Back."])
  })

  test("a skipped model is the last resort of a run", async () => {
    await using database = await create()
    const [a, b] = [named("a", fails("overloaded"), says("Back.")), named("b", says("For a."), overloaded())]
    await using world = await openChecked({ url: database.url, model: severalModels(a, b), fallback: ["b"] })
    const id = await world.begin("1")
    await world.send(id, "2")
    expect(await repliesOf(world, id)).toEqual(["For a.", "Back."])
  })

  test("the list of the conversation counts before its agent's, and that before the server's; an empty one turns fallback off", async () => {
    await using database = await create()
    const [a, b, c, d] = ["a", "b", "c", "d"].map((name) =>
      named(name, name === "a" ? overloaded() : always(says(`I am ${name}.`))),
    )
    const model = severalModels(a!, b!, c!, d!)
    const agent = { fallback: ["c"] }
    await using world = await openChecked({ url: database.url, model, agent, fallback: ["d"] })
    const { runtime } = world.pawl
    const answered = async (list?: string[]) => {
      const beginning = { user: world.user, agent: "test", ...(list ? { fallback: list } : {}) }
      const { id } = await runtime.begin(beginning, message("Who?"))
      await runtime.rest(id)
      return { id, said: await repliesOf(world, id) }
    }
    expect((await answered(["b"])).said).toEqual(["I am b."])
    const { id, said } = await answered()
    expect(said).toEqual(["I am c."])
    expect((await answered([])).said).toEqual([])
    await runtime.submit(id, { type: "settings", fallback: ["d"] })
    await world.send(id, "And now?")
    expect((await repliesOf(world, id)).at(-1)).toBe("I am d.")
  })

  test.each<[ErrorCode, ScriptedFailureOptions, boolean]>([
    ["overloaded", {}, true],
    ["rate_limited", {}, true],
    ["quota_spent", {}, true],
    ["model_silent", {}, true],
    ["auth", {}, true],
    ["provider_error", { retriable: true }, true],
    ["provider_error", {}, false],
    ["refused", {}, false],
    // Never in the middle of a reply, nor if its restart fails after some text was shown.
    ["overloaded", { after: "Once up" }, false],
    ["overloaded", { after: "Once up", retriable: true }, false],
  ])("%s %j: another one is asked: %s", async (code, failing, moves) => {
    await using database = await create()
    const [a, b] = [named("a", always(fails(code, failing))), named("b", says("I do."))]
    await using world = await openChecked({ url: database.url, model: severalModels(a, b), fallback: ["b"] })
    const id = await world.begin("Who answers?")
    expect(b.received).toHaveLength(moves ? 1 : 0)
    expect((await world.load(id)).run).toMatchObject(
      moves ? { status: "completed" } : { status: "failed", error: { code } },
    )
  })

  test("a restarted reply that then fails without text stays with its model", async () => {
    await using database = await create()
    const a = named("a", fails("overloaded", { after: "Once up", retriable: true }), overloaded())
    const b = named("b", says("I do."))
    await using world = await openChecked({ url: database.url, model: severalModels(a, b), fallback: ["b"] })
    const id = await world.begin("A story.")
    expect(b.received).toHaveLength(0)
    expect(await repliesOf(world, id)).toEqual(["Once up"])
  })

  test("if none can, the run fails with the error of the first, and names the others; each was asked once", async () => {
    await using database = await create()
    const models = [
      named("a", overloaded()),
      named("b", always(fails("auth"))),
      named("c", always(fails("quota_spent"))),
    ]
    await using world = await openChecked({
      url: database.url,
      model: severalModels(...models),
      fallback: ["b", "c", "a"],
    })
    const id = await world.begin("Anybody?")
    const { run } = await world.load(id)
    expect(run).toMatchObject({ status: "failed", error: { code: "overloaded" } })
    expect(run?.error?.message).toMatch(/b, which rejected the API key; c, which had no quota left/)
    expect(models.map(({ received }) => received.length)).toEqual([1, 1, 1])
  })

  test("a chosen model without a key is skipped if another of the list can answer, otherwise it is an error at once", async () => {
    await using database = await create()
    const b = named("b", always(says("For it.")))
    await using world = await openChecked({ url: database.url, model: severalModels(b) })
    const begin = (fallback: string[]) =>
      world.pawl.runtime.begin({ user: world.user, agent: "test", model: "locked", fallback }, message("Hi."))
    await expect(begin([])).rejects.toMatchObject({ code: "not_configured" })
    const { id } = await begin(["b"])
    await world.pawl.runtime.rest(id)
    expect(await repliesOf(world, id)).toEqual(["For it."])
  })

  test("the history fits the other model: results in their places, no reasoning of the first, nothing cut for it", async () => {
    await using database = await create()
    const look = read("look", () => answer(`42 ${"x".repeat(4000)}`))
    const a = named("a", replies(thinks("hm", { signature: "secret" }), calls("look")), overloaded())
    const small = Object.assign(named("small", says("Too small.")), { contextTokens: 800 })
    const b = named("b", says("It is 42."))
    const model = severalModels(a, small, b)
    await using world = await openChecked({ url: database.url, model, tools: [look], fallback: ["small", "b"] })
    const id = await world.begin("Look.")
    const history = b.received[0]?.history ?? []
    expect(history.map(({ role }) => role)).toEqual(["user", "assistant", "tool"])
    expect(JSON.stringify(history)).not.toContain("secret")
    const events = await world.events(id)
    expect(of(events, "fallback")).toMatchObject([{ passed: [{ model: "small", because: "context_overflow" }] }])
    expect(of(events, "history_cut")).toEqual([])
    expect(of(events, "message").map(({ model: by }) => by)).toEqual([undefined, "a", "b"])
  })

  test("cost limits apply to each model: a fallback over the limit is skipped, a chosen model over the limit fails the run", async () => {
    await using database = await create()
    const budget: Budget = {
      async reserve({ model: { name } }) {
        if (name === "dear") throw failure("over_budget", { problem: "too dear", provider: name })
        return undefined
      },
      settle: async () => {},
    }
    const [a, dear, c] = [named("a", overloaded()), named("dear", says("Pay!")), named("c", always(says("Free.")))]
    const model = severalModels(a, dear, c)
    await using world = await openChecked({ url: database.url, model, budget, fallback: ["dear", "c"] })
    expect(await repliesOf(world, await world.begin("Hi."))).toEqual(["Free."])
    const { runtime } = world.pawl
    const { id } = await runtime.begin({ user: world.user, agent: "test", model: "dear" }, message("Hi."))
    await runtime.rest(id)
    expect((await world.load(id)).run?.error?.code).toBe("over_budget")
    expect(dear.received).toHaveLength(0)
  })

  test("decisions and tool questions move to it as well", async () => {
    await using database = await create()
    const think = read("think", async (_, context) => {
      const request = { system: "in", history: [{ role: "user", text: "?" }], tools: [], toolChoice: "none" } as const
      let text = ""
      const hear = (part: { type: string; text?: string }) => void (text += part.type === "text" ? part.text : "")
      await streamReply({ model: await context.model(), request, signal: context.signal }, hear)
      return answer(text)
    })
    const a = named("a", overloaded())
    const b = named("b", scores(90), calls("think"), overloaded())
    const c = named("c", says("a thought"), says("Done."))
    const agent = { stages: { guardrail: stages.guardrail! } }
    const model = severalModels(a, b, c)
    await using world = await openChecked({ url: database.url, model, tools: [think], agent, fallback: ["b", "c"] })
    const id = await world.begin("Papers, please.")
    const events = await world.events(id)
    expect(of(events, "fallback").map(({ from, to }) => `${from}>${to}`)).toEqual(["a>b", "b>c"])
    expect(of(events, "step").map(({ step, asked }) => [step, asked?.model])).toContainEqual(["guardrail", "b"])
    expect((await resultsOf(world, id)).map(({ text }) => text)).toEqual(["a thought"])
    expect((await repliesOf(world, id)).at(-1)).toBe("Done.")
  })
})

describe.each(anyDatabase)("killed during the switch to the next model, on $name", ({ create }) => {
  test("at any write the run continues with the same model, and the list has an end", async () => {
    for (let at = 2, died = true; died; at++) {
      for (const when of ["before", "after"] as const) {
        await using database = await create()
        const models = [named("a", overloaded()), named("b", overloaded()), named("c", always(says("At last.")))]
        const shared = { url: database.url, model: severalModels(...models), fallback: ["b", "c"] }
        let dying: ReturnType<typeof dyingAt> | undefined
        const first = await openWorld({ ...shared, between: (journal) => (dying = dyingAt({ at, when }, journal)) })
        const id = await first.begin("Hello?")
        died = dying?.dead === true
        await first[Symbol.asyncDispose]()
        await using second = await openChecked(shared)
        await second.pawl.runtime.recover()
        await second.pawl.runtime.rest(id)
        const moves = of(await second.events(id), "fallback").map(({ from, to }) => `${from}>${to}`)
        expect([at, when, moves]).toEqual([at, when, ["a>b", "b>c"]])
        expect(await repliesOf(second, id)).toEqual(["At last."])
        // Models that the journal has passed are not asked again; the one that was being asked is, once.
        expect(models.reduce((sum, { received }) => sum + received.length, 0)).toBeLessThanOrEqual(died ? 4 : 3)
      }
    }
  }, 60_000)
})
