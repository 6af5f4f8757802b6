import { describe, expect, test } from "vitest"
import { answer } from "../../core/engine/definition/tool.ts"
import type { Model, ModelRequest, ReplyPart, StatusPart } from "../../core/engine/model.ts"
import { calls, fails, says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { SqlBudget } from "../../core/store/journal/budget.ts"
import { of, openChecked } from "../support/loop/checked-world.ts"
import { anyDatabase, databases } from "../support/databases.ts"
import { Mortal } from "../support/loop/faults.ts"
import { Priced } from "../support/loop/priced.ts"
import { read } from "../support/loop/tools.ts"
import { openWorld } from "../support/loop/world.ts"

const settingsIn = (model: { readonly received: readonly { readonly request: ModelRequest }[] }) =>
  model.received.map(({ request }) => request.settings)

describe.each(databases)("on $name, the settings of a reply", ({ create }) => {
  test("come from the message, else the conversation, else the agent, else the server", async () => {
    await using database = await create()
    const model = scripted(always(says("Yes.")))
    await using world = await openChecked({
      url: database.url,
      model,
      settings: { effort: "low", temperature: 0, stop: ["a"], maxOutputTokens: 100 },
      agent: { settings: { temperature: 0.1, stop: ["b"], maxOutputTokens: 200 } },
    })
    const id = await world.begin("One.")
    await world.pawl.runtime.submit(id, { type: "settings", settings: { stop: ["c"], maxOutputTokens: 300 } })
    await world.send(id, "Two.", { settings: { maxOutputTokens: 400 } })
    await world.send(id, "Three.")
    await world.pawl.runtime.submit(id, { type: "settings", settings: { stop: null } })
    await world.send(id, "Four.")
    expect(settingsIn(model)).toEqual([
      { effort: "low", temperature: 0.1, stop: ["b"], maxOutputTokens: 200 },
      { effort: "low", temperature: 0.1, stop: ["c"], maxOutputTokens: 400 },
      { effort: "low", temperature: 0.1, stop: ["c"], maxOutputTokens: 300 },
      { effort: "low", temperature: 0.1, stop: ["b"], maxOutputTokens: 300 },
    ])
    const view = await world.store.conversations.find(world.user, id)
    expect(view?.settings).toEqual({ maxOutputTokens: 300 })
    const [, second] = (await world.store.conversations.messages(id, { limit: 10 })).items.filter(
      ({ role }) => role === "user",
    )
    expect(second).toMatchObject({ content: "Two.", settings: { maxOutputTokens: 400 } })
  })

  test("are not lost if the process crashes in the middle of the run", async () => {
    await using database = await create()
    const mortal = new Mortal()
    const look = read("look", () => {
      mortal.kill()
      return answer("")
    })
    const first = await openWorld({
      url: database.url,
      model: scripted(calls("look")),
      tools: [look],
      between: mortal.between,
    })
    const id = await first.begin("Look.", { settings: { effort: "high" } })
    await first[Symbol.asyncDispose]()
    const model = scripted(calls("look"), says("Seen."), says("Again."))
    await using second = await openChecked({ url: database.url, model, tools: [read("look")] })
    await second.pawl.runtime.recover()
    await second.pawl.runtime.rest(id)
    await second.send(id, "And now?")
    const seen = settingsIn(model)
    expect(seen.slice(0, -1).every((settings) => settings?.effort === "high")).toBe(true)
    expect(seen.length).toBeGreaterThan(1)
    expect(seen.at(-1)).toEqual({})
  })
})

describe.each(anyDatabase)("on $name", ({ create }) => {
  test("a resumed run uses the settings of its message", async () => {
    await using database = await create()
    const model = scripted(fails("auth"), says("Now."))
    await using world = await openChecked({ url: database.url, model })
    const id = await world.begin("Try.", { settings: { temperature: 1 } })
    await world.pawl.runtime.submit(id, { type: "resume", by: world.user })
    await world.pawl.runtime.rest(id)
    expect(settingsIn(model)).toEqual([{ temperature: 1 }, { temperature: 1 }])
  })

  test("a setting that a model leaves out is reported once, and the run continues", async () => {
    await using database = await create()
    const because = "it is fixed"
    const model: Model = {
      name: "strict",
      provider: "test",
      contextTokens: 10_000,
      async *stream({ settings = {} }): AsyncGenerator<ReplyPart | StatusPart> {
        const left = settings.temperature === undefined ? [] : [{ name: "temperature", because } as const]
        if (left.length > 0) yield { type: "left_out", settings: left }
        yield { type: "text", text: "Yes." }
        yield { type: "finish", finish: "stop", usage: { inputTokens: 1, outputTokens: 1 } }
      },
    }
    await using world = await openChecked({ url: database.url, model })
    const id = await world.begin("One.", { settings: { temperature: 1 } })
    await world.send(id, "Two.", { settings: { temperature: 1 } })
    const events = await world.events(id)
    const told = [{ step: "left_out", detail: { model: "strict", settings: [{ name: "temperature", because }] } }]
    expect(of(events, "step")).toMatchObject(told)
    expect(of(events, "run_ended")).toMatchObject([{ status: "completed" }, { status: "completed" }])
    const { steps } = await world.store.conversations.messages(id, { limit: 10 })
    expect(steps).toMatchObject([{ ...told[0], after: 1 }])
  })

  test("under a ceiling the budget reserves the longest reply that was requested, and the reply is limited to it", async () => {
    await using database = await create()
    const model = new Priced()
    await using world = await openChecked({ url: database.url, model })
    Object.assign(world.pawl.ports, { budget: new SqlBudget(world.store.engine, { runUsd: 0.1, now: Date.now }) })
    // 16,384 tokens would cost 33 cents, 1,000 cost two.
    const short = await world.begin("Hello.", { settings: { maxOutputTokens: 1000 } })
    const usual = await world.begin("Hello.")
    const long = await world.begin("Hello.", { settings: { maxOutputTokens: 100_000 } })
    expect(model.requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([1000])
    const endings = await Promise.all([short, usual, long].map(async (id) => of(await world.events(id), "run_ended")))
    expect(endings.flat().map(({ status, error }) => error?.code ?? status)).toEqual([
      "completed",
      "over_budget",
      "over_budget",
    ])
  })
})
