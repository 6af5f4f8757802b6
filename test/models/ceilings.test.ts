import { describe, expect, test } from "vitest"
import { systemClock } from "../../core/shared/time/clock.ts"
import { SqlBudget } from "../../core/store/journal/budget.ts"
import { newId } from "../../core/protocol/ids.ts"
import { openStore, type Store } from "../../core/store/store.ts"
import { databasesInTurn } from "../support/databases.ts"
import { Mortal } from "../support/loop/faults.ts"
import { COST, Priced, type Pricing } from "../support/loop/priced.ts"
import { read } from "../support/loop/tools.ts"
import { openWorld, outlive, TurnedClock, type World, type WorldOptions } from "../support/loop/world.ts"

/** More than the longest reply costs, and less than twice that. */
const ONE_CALL = 0.4

interface Options extends Pricing {
  readonly url: string
  readonly dailyUsd?: number
  readonly runUsd?: number
  readonly model?: Priced
  readonly clock?: TurnedClock
  readonly between?: WorldOptions["between"]
}

async function open({ url, dailyUsd, runUsd, model, clock, between, ...pricing }: Options) {
  const priced = model ?? new Priced(pricing)
  const store = await openStore({ url, durability: "normal", ...(clock ? { clock } : {}) })
  const now = () => (clock ?? systemClock).now()
  const ceilings = { ...(dailyUsd === undefined ? {} : { dailyUsd }), ...(runUsd === undefined ? {} : { runUsd }) }
  const world = await openWorld({
    url,
    model: priced,
    tools: [read("look")],
    budget: new SqlBudget(store.engine, { ...ceilings, now, holdSeconds: 240 }),
    ...(clock ? { clock } : {}),
    ...(between ? { between } : {}),
  })
  const close = async () => {
    await world[Symbol.asyncDispose]()
    await store[Symbol.asyncDispose]()
  }
  return { world, store, model: priced, [Symbol.asyncDispose]: close }
}

const errorOf = async (world: World, id: never) => (await world.load(id)).run?.error
const heldIn = async ({ engine }: Store) =>
  (await engine.query<{ n: number }>("SELECT count(*) AS n FROM reservation", []))[0]?.n
const spentIn = async ({ engine }: Store) =>
  Number((await engine.query<{ n: number }>("SELECT coalesce(sum(cost), 0) AS n FROM usage", []))[0]?.n) / 1_000_000

describe.each(databasesInTurn(import.meta.filename))("a ceiling on $name", ({ create }) => {
  test("for three lets exactly three of twenty concurrent requests, on two nodes, reach the model", async () => {
    await using database = await create()
    const gate = Promise.withResolvers<void>()
    const model = new Priced({ gate: gate.promise })
    await using one = await open({ ...database, dailyUsd: 3.5 * ONE_CALL * 0.85, model })
    await using two = await open({ ...database, dailyUsd: 3.5 * ONE_CALL * 0.85, model })
    const worlds = Array.from({ length: 20 }, (_, i) => (i % 2 ? one.world : two.world))
    const begun = await Promise.all(worlds.map(async (world) => ({ world, id: (await world.start("Hello.")).id })))
    const refused = Promise.withResolvers<void>()
    let rested = 0
    for (const { world, id } of begun) {
      void world.pawl.runtime.rest(id).then(() => (++rested === 17 ? refused.resolve() : undefined))
    }
    await refused.promise
    expect(model.requests).toHaveLength(3)
    gate.resolve()
    for (const { world, id } of begun) await world.pawl.runtime.rest(id)
    const statuses = await Promise.all(begun.map(async ({ world, id }) => (await world.load(id)).run?.status))
    expect(statuses.filter((status) => status === "completed")).toHaveLength(3)
    const codes = await Promise.all(begun.map(async ({ world, id }) => (await world.load(id)).run?.error?.code))
    expect(codes.filter((code) => code === "over_budget")).toHaveLength(17)
    expect([await heldIn(one.store), await spentIn(one.store)]).toEqual([0, 3 * COST])
  }, 120_000)

  test("counts what calls have cost, not what was reserved for them", async () => {
    await using database = await create()
    await using opened = await open({ ...database, dailyUsd: ONE_CALL })
    const { world, store, model } = opened
    const id = await world.begin("One.")
    for (const text of ["Two.", "Three."]) await world.send(id, text)
    expect(await errorOf(world, id as never)).toBeUndefined()
    expect(model.requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([16_384, 16_384, 16_384])
    expect([await heldIn(store), await spentIn(store)]).toEqual([0, Math.round(3 * COST * 1e6) / 1e6])
  })

  test("that is exceeded ends the run with instructions, sends nothing, and ends with the day", async () => {
    await using database = await create()
    const clock = new TurnedClock(Date.UTC(2026, 5, 1, 23, 59))
    await using opened = await open({ ...database, dailyUsd: 0.33, clock })
    const { world, model } = opened
    const id = await world.begin("One.")
    await world.send(id, "Two.")
    expect(await errorOf(world, id as never)).toMatchObject({
      code: "over_budget",
      message: expect.stringMatching(
        /PAWL_DAILY_LIMIT_USD.*midnight UTC.*Add your own API key for this provider in the settings/,
      ),
    })
    expect(model.requests).toHaveLength(1)
    await clock.turn(61_000)
    await world.send(id, "Three.")
    expect(await errorOf(world, id as never)).toBeUndefined()
    expect(model.requests).toHaveLength(2)
  })

  test("for a run ends an endless one", async () => {
    await using database = await create()
    await using opened = await open({ ...database, runUsd: ONE_CALL })
    const { world, model } = opened
    const id = await world.begin("Look for ever.", { maxIterations: 20 })
    expect(await errorOf(world, id as never)).toMatchObject({
      code: "over_budget",
      message: expect.stringContaining("PAWL_RUN_LIMIT_USD"),
    })
    expect(model.requests.length).toBeGreaterThan(5)
    expect(model.requests.length * COST).toBeLessThan(ONE_CALL)
  })

  test.each<[what: string, pricing: Pricing]>([
    ["own keys", { paidBy: "own" }],
    ["own keys of unknown price", { paidBy: "own", price: null }],
    ["what is free", { price: { input: 0, output: 0 } }],
  ])("does not apply to %s", async (_what, pricing) => {
    await using database = await create()
    await using opened = await open({ ...database, dailyUsd: 0, runUsd: 0, ...pricing })
    const id = await opened.world.begin("Hello.")
    expect(await errorOf(opened.world, id as never)).toBeUndefined()
    expect(opened.model.requests).toMatchObject([expect.not.objectContaining({ maxOutputTokens: expect.anything() })])
  })

  test("does not count what a user's own keys have paid for in the same run or on the same day", async () => {
    await using database = await create()
    await using store = await openStore({ url: database.url })
    const budget = new SqlBudget(store.engine, { dailyUsd: ONE_CALL, runUsd: ONE_CALL, now: () => systemClock.now() })
    const { id: user } = await store.people.ensure("ada", 1)
    const call = { conversation: newId("conv"), run: newId("run"), user, model: new Priced({}), inputTokens: 10 }
    const spent = { model: "priced", provider: "test", inputTokens: 1, outputTokens: 1, cost: 5 }
    const first = await budget.reserve(call)
    await budget.settle(first!, { ...spent, paidBy: "own" })
    const second = await budget.reserve(call)
    await budget.settle(second!, { ...spent, paidBy: "shared" })
    await expect(budget.reserve(call)).rejects.toMatchObject({ code: "over_budget" })
  })

  test("refuses shared keys for a model of unknown price", async () => {
    await using database = await create()
    await using opened = await open({ ...database, dailyUsd: 1000, price: null })
    const id = await opened.world.begin("Hello.")
    expect(await errorOf(opened.world, id as never)).toMatchObject({ code: "over_budget" })
    expect(opened.model.requests).toEqual([])
  })

  test("assumes the worst case for a provider that reports no usage", async () => {
    await using database = await create()
    const usage = { inputTokens: null, outputTokens: null }
    await using opened = await open({ ...database, dailyUsd: ONE_CALL * 1.5, usage })
    const id = await opened.world.begin("One.")
    expect(await spentIn(opened.store)).toBeGreaterThan(0.3)
    await opened.world.send(id, "Two.")
    expect(await errorOf(opened.world, id as never)).toMatchObject({ code: "over_budget" })
  })

  test("counts the input and the received output of a cancelled reply", async () => {
    await using database = await create()
    const gate = Promise.withResolvers<void>()
    await using opened = await open({ ...database, dailyUsd: ONE_CALL, gate: gate.promise })
    const { world, store } = opened
    const { id } = await world.start("Hello.")
    await world.seen(id, (live) => live.type === "text_delta")
    await world.pawl.runtime.submit(id, { type: "cancel", by: world.user })
    await world.pawl.runtime.rest(id)
    gate.resolve()
    const spent = await spentIn(store)
    expect(spent).toBeGreaterThan(0)
    expect(spent).toBeLessThan(0.01)
    expect(await heldIn(store)).toBe(0)
  })

  test("releases the reservations of failed nodes when their run continues, or after a while", async () => {
    await using database = await create()
    const noon = Date.UTC(2026, 5, 1, 12)
    const clock = new TurnedClock(noon)
    const gate = Promise.withResolvers<void>()
    const mortal = new Mortal()
    // Time stands still for the failed node.
    const still = new TurnedClock(noon)
    const dead = await open({
      ...database,
      dailyUsd: ONE_CALL,
      clock: still,
      gate: gate.promise,
      between: mortal.between,
    })
    const { id } = await dead.world.start("Hello.")
    await dead.world.seen(id, (live) => live.type === "text_delta")
    mortal.kill()

    await using alive = await open({ ...database, dailyUsd: ONE_CALL, clock })
    const other = await alive.world.begin("Another.")
    expect(await errorOf(alive.world, other as never)).toMatchObject({ code: "over_budget" })
    await outlive(alive.world, clock)
    await alive.world.pawl.runtime.rest(id)
    expect((await alive.world.load(id)).run?.status).toBe("completed")
    expect(await heldIn(alive.store)).toBe(0)

    // The reservation of a run that never continues.
    const sql = "INSERT INTO reservation (conversation, id, person, cost, expires_at) VALUES (?, ?, ?, ?, ?)"
    const values = ["conv_gone", "hold_gone", alive.world.user, 400_000, clock.now() + 240_000]
    await alive.store.engine.change({ type: "statements", statements: [{ sql, values }] })
    await alive.world.send(other, "Again.")
    expect(await errorOf(alive.world, other as never)).toMatchObject({ code: "over_budget" })
    await clock.turn(240_000)
    await alive.world.send(other, "And again.")
    expect(await errorOf(alive.world, other as never)).toBeUndefined()
    gate.resolve()
    await dead[Symbol.asyncDispose]()
    expect(await heldIn(alive.store)).toBe(0)
  })
})
