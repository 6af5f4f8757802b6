import { describe, expect, test } from "vitest"
import { titleFromReply } from "../../core/engine/ask/title.ts"
import type { Model } from "../../core/engine/model.ts"
import { fails, hangs, says } from "../../core/models/scripted/script.ts"
import { always, type ScriptedModel } from "../../core/models/scripted/model.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { SqlBudget } from "../../core/store/journal/budget.ts"
import { openStore } from "../../core/store/store.ts"
import { anyDatabase } from "../support/databases.ts"
import { of, openChecked, repliesOf } from "../support/loop/checked-world.ts"
import { COST, Priced } from "../support/loop/priced.ts"
import { named, severalModels } from "../support/loop/several-models.ts"
import { message, openWorld, type World } from "../support/loop/world.ts"

const answers = () => named("a", always(says("Ten days, of which three are over.")))
const small = (...replies: Parameters<typeof named> extends [string, ...infer Rest] ? Rest : never) =>
  named("small", ...replies)

async function begin(world: World, title?: string, words = "How many days are left?"): Promise<ConversationId> {
  const beginning = { user: world.user, agent: "test", ...(title ? { title } : {}) }
  const { id } = await world.pawl.runtime.begin(beginning, message(words))
  await world.pawl.runtime.rest(id)
  return id
}

const titleIn = async (world: World, id: ConversationId) => (await world.load(id)).title
const made = (world: World, id: ConversationId) =>
  expect.poll(async () => of(await world.events(id), "settings").filter(({ titledBy }) => titledBy).length)

/** Resolves when a title was requested, or could not be. */
const over = (world: World, id: ConversationId) =>
  expect
    .poll(
      async () => world.problems.length + of(await world.events(id), "settings").filter((each) => each.titledBy).length,
    )
    .toBe(1)

/** Lets the model answer when the test says so. */
function held(model: ScriptedModel): { model: Model; answer: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  const stream: Model["stream"] = async function* (request, signal) {
    const replies = model.stream(request, signal)
    await promise
    yield* replies
  }
  return { model: Object.assign(Object.create(model), { stream }) as Model, answer: resolve }
}

describe.each(anyDatabase)("a title on $name", ({ create }) => {
  test("is requested from the small model once, after the first answer, and recorded with its usage", async () => {
    await using database = await create()
    const [a, b] = [answers(), small(says('# "Days that are left"\n\nShall I go on?'))]
    await using world = await openChecked({ url: database.url, model: severalModels(a, b), titleModel: "small" })
    const id = await begin(world)
    await made(world, id).toBe(1)
    expect(await titleIn(world, id)).toBe("Days that are left")
    expect((await world.load(id)).titled).toBe("model")
    const [row] = await world.store.engine.query("SELECT title FROM conversations WHERE id = ?", [id])
    expect(row).toEqual({ title: "Days that are left" })
    await world.send(id, "And now?")
    expect([a.received.length, b.received.length]).toEqual([2, 1])
    expect(JSON.stringify(b.received[0]?.history)).toMatch(/How many days.*Ten days/)
  })

  test("made by the page from the first message is replaced; one that the user chose stays, and the model is not asked", async () => {
    await using database = await create()
    const b = small(always(says("Better")))
    await using world = await openChecked({
      url: database.url,
      model: severalModels(answers(), b),
      titleModel: "small",
    })
    const own = await begin(world, "My days")
    const [id, bare] = [await begin(world, "How many days are left?"), await begin(world)]
    await made(world, id).toBe(1)
    await made(world, bare).toBe(1)
    expect(await Promise.all([own, id, bare].map((each) => titleIn(world, each)))).toEqual([
      "My days",
      "Better",
      "Better",
    ])
    expect(b.received).toHaveLength(2)
  })

  test("never replaces a person's own, whenever that was set; its cost is recorded in any case", async () => {
    await using database = await create()
    const { model: b, answer } = held(small(says("Mine")))
    const model = severalModels(answers(), b as ScriptedModel)
    await using world = await openChecked({ url: database.url, model, titleModel: "small" })
    const id = await begin(world)
    await world.pawl.runtime.submit(id, { type: "settings", title: "The person's" })
    answer()
    await made(world, id).toBe(1)
    expect(await titleIn(world, id)).toBe("The person's")
  })

  test("blocks nothing: the next message is answered, and another node does not ask for one too", async () => {
    await using database = await create()
    const { model: b, answer } = held(small(says("Late")))
    const spy = small(always(says("Twice")))
    const shared = { url: database.url, titleModel: "small" }
    await using world = await openChecked({ ...shared, model: severalModels(answers(), b as ScriptedModel) })
    await using other = await openWorld({ ...shared, model: severalModels(answers(), spy) })
    const id = await begin(world)
    await world.send(id, "And now?")
    await other.send(id, "And there?")
    expect(await repliesOf(world, id)).toHaveLength(3)
    answer()
    await made(world, id).toBe(1)
    expect([await titleIn(world, id), spy.received.length]).toEqual(["Late", 0])
  })

  test.each([
    ["fails", small(fails("overloaded"))],
    ["says nothing of use", small(says("…\n***"))],
    ["is not there", named("another")],
  ])("stays the first message if the small model %s", async (_, b) => {
    await using database = await create()
    await using world = await openChecked({
      url: database.url,
      model: severalModels(answers(), b),
      titleModel: "small",
    })
    const id = await begin(world, "How many days are left?")
    await over(world, id)
    expect(await titleIn(world, id)).toBe("How many days are left?")
    world.problems.length = 0
  })

  test("is not made if the process shuts down, which does not wait for a model that hangs", async () => {
    await using database = await create()
    const model = severalModels(answers(), small(hangs()))
    await using world = await openChecked({ url: database.url, model, titleModel: "small" })
    const id = await begin(world, "How many days are left?")
    await world.pawl.runtime.close()
    expect(await titleIn(world, id)).toBe("How many days are left?")
    expect(world.problems).toEqual([])
  })

  test("is charged like every request, and not requested if a ceiling is reached", async () => {
    for (const [dailyUsd, asked] of [
      [100, 2],
      [0.33, 1],
    ] as const) {
      await using database = await create()
      await using store = await openStore({ url: database.url, durability: "normal" })
      const budget = new SqlBudget(store.engine, { dailyUsd, now: () => Date.now() })
      const model = new Priced()
      await using world = await openWorld({ url: database.url, model, budget, titleModel: "priced" })
      const id = await begin(world)
      await over(world, id)
      const sql = "SELECT count(*) AS n, sum(cost) AS cost, (SELECT count(*) FROM reservation) AS held FROM usage"
      const [row] = await store.engine.query<{ n: number; cost: number; held: number }>(sql, [])
      expect({ n: Number(row?.n), held: Number(row?.held) }).toEqual({ n: asked, held: 0 })
      expect(Number(row?.cost) / 1_000_000).toBeCloseTo(asked * COST, 8)
      expect((await world.load(id)).titled).toBe(asked === 2 ? "model" : undefined)
      // The usage of the run includes the title's tokens and its cost.
      const { usage } = (await world.store.conversations.runs(id, { limit: 1 })).items[0]!
      expect(usage).toMatchObject({ inputTokens: asked * 1000, outputTokens: asked * 100 })
      expect(usage?.cost).toBeCloseTo(asked * COST, 8)
    }
  })
})

test.each([
  ["Plain words", "Plain words"],
  ["\n\n  **Bold words.**\nmore", "Bold words"],
  ["Title: “In quotes”", "In quotes"],
  ["Evil\u202etitle", "Evil⟨U+202E⟩title"],
  ["word ".repeat(40), `${"word ".repeat(12).trim()}…`],
  ["", undefined],
  ["***\n---", undefined],
])("the model's reply %j gives the title %j", (text, title) => {
  expect(titleFromReply(text)).toBe(title)
})
