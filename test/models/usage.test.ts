import { describe, expect, test } from "vitest"
import { costOf } from "../../core/engine/ask/ask-decision.ts"
import type { JournalEvent } from "../../core/protocol/events.ts"
import type { Usage } from "../../core/protocol/conversation/message.ts"
import { finishes, replies, says, scripted } from "../../core/testing.ts"
import { openStore } from "../../core/store/store.ts"
import { anyDatabase, databases } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"
import { dyingAt, timingOutAt } from "../support/loop/faults.ts"
import { COST, PRICE, Priced, USAGE } from "../support/loop/priced.ts"
import { read } from "../support/loop/tools.ts"
import { openWorld, TurnedClock } from "../support/loop/world.ts"

test.each([
  [PRICE, USAGE, COST],
  [{ input: 1, output: 2 }, { inputTokens: 10, outputTokens: 5, cachedTokens: 4, cacheWriteTokens: 2 }, 0.00002],
  [{ input: 0, output: 0 }, USAGE, 0],
  [null, USAGE, null],
  [PRICE, { inputTokens: null, outputTokens: 1 }, null],
  [PRICE, { inputTokens: 1, outputTokens: 0, cachedTokens: 9 }, 0.000004],
])("%j for %j is %s dollars", (price, usage, cost) => {
  expect(costOf(price, usage)).toBe(cost)
})

describe.each(databases)("invalid token counts, on $name", ({ create }) => {
  const odd: [sent: Usage, told: Usage][] = [
    [
      { inputTokens: 12.5, outputTokens: 3 },
      { inputTokens: 13, outputTokens: 3 },
    ],
    [
      { inputTokens: -1, outputTokens: 3 },
      { inputTokens: null, outputTokens: 3 },
    ],
    [
      { inputTokens: 7, outputTokens: 1e20 },
      { inputTokens: 7, outputTokens: null },
    ],
    [
      { inputTokens: Number.NaN, outputTokens: 3 },
      { inputTokens: null, outputTokens: 3 },
    ],
  ]

  test("fail no reply: it is recorded with the valid ones, and its model was asked once", async () => {
    await using database = await create()
    const script = odd.map(([usage]) => replies(says("Hi."), finishes("stop", usage)))
    const model = Object.assign(scripted(...script), { price: null })
    await using face = await Face.open({ ...database, model })
    const ada = await face.as("ada")
    for (const [, told] of odd) {
      const { body } = await ada.say(await ada.begin({ agent: "test" }), "Hello.")
      expect(body.run).toMatchObject({ status: "completed", usage: told })
    }
    expect((await ada.get("/api/usage")).body.totals).toMatchObject({ calls: 4, inputTokens: 20, outputTokens: 9 })
  })
})

describe.each(anyDatabase)("usage on $name", ({ create }) => {
  const used = (calls: number) => ({
    calls,
    inputTokens: 1000 * calls,
    outputTokens: 100 * calls,
    cachedTokens: 400 * calls,
    cost: Math.round(COST * calls * 1_000_000) / 1_000_000,
    unpricedCalls: 0,
  })

  test("is reported by run, model, day and conversation, only to the user who caused it", async () => {
    await using database = await create()
    const clock = new TurnedClock(Date.UTC(2026, 2, 1, 23, 59))
    await using face = await Face.open({ ...database, model: new Priced(), tools: [read("look")], clock })
    const [ada, eve] = [await face.as("ada"), await face.as("eve")]
    const first = await ada.begin({ agent: "test" })
    const { body } = await ada.say(first, "Have a look.")
    expect(body.run.usage).toEqual({ inputTokens: 2000, outputTokens: 200, cost: 2 * COST })
    expect((await ada.get(`/api/runs/${body.run.id}`)).body.usage.cost).toBe(2 * COST)
    expect((await ada.get(`/api/conversations/${first}/state`)).body.usage.cost).toBe(2 * COST)
    await clock.turn(120_000)
    const second = await ada.begin({ agent: "test" })
    await ada.say(second, "Hello.")

    const answer = (await ada.get("/api/usage")).body
    expect(answer).toEqual({
      from: "2026-02-01",
      to: "2026-03-02",
      totals: used(3),
      byModel: [{ model: "priced", provider: "test", paidBy: "shared", ...used(3) }],
      byDay: [
        { day: "2026-03-01", ...used(2) },
        { day: "2026-03-02", ...used(1) },
      ],
      byConversation: [
        { conversationId: first, ...used(2) },
        { conversationId: second, ...used(1) },
      ],
    })
    expect((await ada.get("/api/usage?from=2026-03-02&to=2026-03-02")).body.totals).toEqual(used(1))
    expect((await eve.get("/api/usage")).body.totals).toEqual(used(0))
  })

  test("of a fork is not counted again", async () => {
    await using database = await create()
    await using face = await Face.open({ ...database, model: new Priced() })
    const ada = await face.as("ada")
    const id = await ada.begin({ agent: "test" })
    await ada.say(id, "Hello.")
    const { position } = (await ada.get(`/api/conversations/${id}`)).body
    expect((await ada.post(`/api/conversations/${id}/fork`, { position })).status).toBe(201)
    expect((await ada.get("/api/usage")).body.totals).toEqual(used(1))
  })

  test("without a known price has tokens and no cost; a model that reports none is left out", async () => {
    await using database = await create()
    await using face = await Face.open({ ...database, model: new Priced({ price: null, paidBy: "own" }) })
    const ada = await face.as("ada")
    const { body } = await ada.say(await ada.begin({ agent: "test" }), "Hello.")
    expect(body.run.usage).toEqual({ inputTokens: 1000, outputTokens: 100, cost: null })
    const { totals, byModel } = (await ada.get("/api/usage")).body
    expect(totals).toEqual({ ...used(1), cost: 0, unpricedCalls: 1 })
    expect(byModel[0].paidBy).toBe("own")

    await using silent = await Face.open({ ...(await create()), model: scripted() })
    const eve = await silent.as("eve")
    await eve.say(await eve.begin({ agent: "test" }), "Hello.")
    expect((await eve.get("/api/usage")).body.totals.calls).toBe(0)
  })

  test("is queried by valid days, and not by the century", async () => {
    await using database = await create()
    await using face = await Face.open({ ...database, model: new Priced() })
    const ada = await face.as("ada")
    for (const query of ["from=yesterday", "from=2026-02-30", "from=2026-03-02&to=2026-03-01", "from=2020-01-01"]) {
      expect((await ada.get(`/api/usage?${query}`)).status, query).toBe(400)
    }
    expect((await (await face.as("ada", "chat")).get("/api/usage")).status).toBe(403)
  })

  const faults = [1, 2, 3, 4].flatMap((at) => (["before", "after", "lost"] as const).map((when) => [at, when] as const))
  test.each(faults)("and the journal agree whatever happens at write %i (%s)", async (at, when) => {
    await using database = await create()
    const options = { ...database, tools: [read("look")], leaseSeconds: 0.1 }
    {
      await using world = await openWorld({
        ...options,
        model: new Priced(),
        between: (journal) => (when === "lost" ? timingOutAt(at, journal) : dyingAt({ at, when }, journal)),
      })
      await world.begin("Have a look.").catch(() => {})
    }
    await using world = await openWorld({ ...options, model: new Priced() })
    await world.pawl.runtime.recover()
    const conversations = await world.store.engine.query<{ id: never }>("SELECT id FROM conversation", [])
    for (const { id } of conversations) await world.pawl.runtime.rest(id)
    const replies = async ({ id }: { id: never }) =>
      (await world.events(id)).filter((event: JournalEvent) => event.type === "message" && event.usage)
    const recorded = (await Promise.all(conversations.map(replies))).flat()
    await using store = await openStore({ ...database, durability: "normal" })
    const rows = await store.engine.query<{ id: string }>("SELECT id FROM usage ORDER BY id", [])
    expect(rows.map(({ id }) => id)).toEqual(recorded.map((event) => (event as { id: string }).id).sort())
    if (conversations.length > 0) expect(rows).toHaveLength(2)
  })
})
