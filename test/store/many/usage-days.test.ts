import { describe, expect, test } from "vitest"
import type { UserId } from "../../../core/protocol/ids.ts"
import { USAGE_COLUMNS } from "../../../core/store/engine/operations.ts"
import { openStore, type Store } from "../../../core/store/store.ts"
import { databases } from "../../support/databases.ts"
import { TurnedClock } from "../../support/loop/world.ts"

const NOON = Date.UTC(2026, 2, 20, 12)
const [FROM, TO] = ["2026-03-01", "2026-03-20"]

interface Call {
  readonly day: string
  readonly conversation: string
  readonly model: string
  readonly cost: number | null
}

/** Model calls on every other day, in three conversations, by two models, some without a price. */
const calls: readonly Call[] = Array.from({ length: 200 }, (_, at) => ({
  day: `2026-03-${String(1 + 2 * (at % 10) + (at % 20 === 19 ? 1 : 0)).padStart(2, "0")}`,
  conversation: `conv_${at % 3}`,
  model: `model ${at % 2}`,
  cost: at % 7 === 0 ? null : 1000 + at,
}))

async function record({ engine }: Store, user: UserId, used: readonly Call[], first = 0): Promise<void> {
  const sql = `INSERT INTO usage (${USAGE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
  const statements = used.map(({ conversation, model, day, cost }, at) => {
    const values = [`run_${first + at}`, "m", conversation, user, model, "p", "shared", day, 10, 2, null, cost, null]
    return { sql, values }
  })
  await engine.change({ type: "statements", statements })
}

/** The expected report, computed from the calls. */
function expected(used: readonly Call[]) {
  const add = (some: readonly Call[]) => ({
    ...{ calls: some.length, inputTokens: 10 * some.length, outputTokens: 2 * some.length, cachedTokens: 0 },
    cost: some.reduce((sum, { cost }) => sum + (cost ?? 0), 0) / 1_000_000,
    unpricedCalls: some.filter(({ cost }) => cost === null).length,
  })
  const by = (key: "day" | "model" | "conversation") =>
    Object.fromEntries([...Map.groupBy(used, (call) => call[key])].map(([name, some]) => [name, add(some)]))
  return { totals: add(used), byDay: by("day"), byModel: by("model"), byConversation: by("conversation") }
}

async function report(store: Store, user: UserId) {
  const { totals, byDay, byModel, byConversation } = await store.usage.read(user, { from: FROM, to: TO })
  return {
    totals,
    byDay: Object.fromEntries(byDay.map(({ day, ...used }) => [day, used])),
    byModel: Object.fromEntries(byModel.map(({ model, provider: _, paidBy: __, ...used }) => [model, used])),
    byConversation: Object.fromEntries(byConversation.map(({ conversationId, ...used }) => [conversationId, used])),
  }
}

const summed = async ({ engine }: Store) =>
  (await engine.query<{ day: string }>("SELECT day FROM usage_summed ORDER BY day", [])).map(({ day }) => day)

describe.each(databases)("on $name", ({ create }) => {
  async function open(url: string) {
    const clock = new TurnedClock(NOON)
    const store = await openStore({ url, clock, durability: "normal" })
    const { id: user } = await store.people.ensure("ada", NOON)
    const { id: other } = await store.people.ensure("eve", NOON)
    await record(store, user, calls)
    await record(store, other, [{ day: "2026-03-05", conversation: "conv_9", model: "model 9", cost: 7 }], 1000)
    return { store, user, clock }
  }

  test("a usage report is the same before and after its days are summed, and past days are not read again", async () => {
    await using database = await create()
    const { store, user, clock } = await open(database.url)
    await using _ = store
    expect(await summed(store)).toEqual([])
    expect(await report(store, user)).toEqual(expected(calls))
    const days = [...new Set(calls.map(({ day }) => day))].sort()
    expect(await summed(store)).toEqual(days.filter((day) => day <= "2026-03-18"))
    // Calls of yesterday may still be added, and today's are.
    const later = [...calls, ...["2026-03-19", "2026-03-20"].map((day) => ({ ...calls[1]!, day }))]
    await record(store, user, later.slice(calls.length), 2000)
    expect(await report(store, user)).toEqual(expected(later))
    const sql = "UPDATE usage SET cost = 0, input_tokens = 0 WHERE person = ? AND day <= '2026-03-18'"
    await store.engine.change({ type: "statements", statements: [{ sql, values: [user] }] })
    expect(await report(store, user), "by what was added up").toEqual(expected(later))
    await clock.advance(2 * 24 * 60 * 60 * 1000)
    expect(await report(store, user)).toEqual(expected(later))
    expect((await summed(store)).slice(-2)).toEqual(["2026-03-19", "2026-03-20"])
  })

  test("a day that was summed by a clock that ran ahead is read from its calls again, and summed again when it is over", async () => {
    await using database = await create()
    const { store, user, clock } = await open(database.url)
    await using _ = store
    const week = 7 * 24 * 60 * 60 * 1000
    await clock.advance(week)
    expect(await report(store, user)).toEqual(expected(calls))
    expect((await summed(store)).at(-1)).toBe("2026-03-20")
    await clock.advance(-week)
    const later = [...calls, ...["2026-03-19", "2026-03-20"].map((day) => ({ ...calls[1]!, day }))]
    await record(store, user, later.slice(calls.length), 2000)
    expect(await report(store, user)).toEqual(expected(later))
    expect((await summed(store)).at(-1)).toBe("2026-03-17")
    await clock.advance(week)
    expect(await report(store, user)).toEqual(expected(later))
    expect((await summed(store)).at(-1)).toBe("2026-03-20")
    expect(await report(store, user), "by what was added up").toEqual(expected(later))
  })

  test("many concurrent reports are all right, and each day is summed once", async () => {
    await using database = await create()
    const { store, user } = await open(database.url)
    await using _ = store
    const reports = await Promise.all(Array.from({ length: 8 }, () => report(store, user)))
    for (const each of reports) expect(each).toEqual(expected(calls))
    expect(await report(store, user)).toEqual(expected(calls))
  })

  test("without writes the report is computed from the calls", async () => {
    await using database = await create()
    const { store, user } = await open(database.url)
    await using _ = store
    const { change } = store.engine
    Object.assign(store.engine, { change: () => Promise.reject(new Error("the disk is full")) })
    expect(await report(store, user)).toEqual(expected(calls))
    Object.assign(store.engine, { change })
    expect(await summed(store)).toEqual([])
  })
})
