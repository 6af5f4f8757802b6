import { describe, expect, test } from "vitest"
import { databases } from "../support/databases.ts"
import { type Death, dyingAt, timingOutAt } from "../support/loop/faults.ts"
import { type AfterCrash, Bank, Payer, payingModel } from "./payments.ts"
import { openWorld, outlive, TurnedClock, type World } from "../support/loop/world.ts"
import { isLong, seedOf } from "../support/sizes.ts"

const START = Date.UTC(2026, 0, 1)
const MINUTE = 60_000

/** Asserts what must hold when everything is over, whatever happened on the way. */
async function expectTheTruth(world: World, bank: Bank, payer: Payer): Promise<void> {
  const id = await payer.insist(world)
  const conversation = await world.load(id)
  expect(conversation.run).toMatchObject({ status: "completed" })
  expect(bank.paid).toEqual([1])
  const rows = await world.store.engine.query<{ status: string }>("SELECT status FROM proposals ORDER BY id", [])
  expect(rows.map((row) => row.status).sort()).toEqual(["applied", "rejected"])
  const said = await world.store.engine.query("SELECT content FROM messages WHERE role = 'user'", [])
  expect(said).toHaveLength(1)
  const places = (await world.events(id)).map((event) => event.position)
  expect(places).toEqual(places.map((_, index) => index + 1))
  const left = await world.store.engine.query(
    "SELECT id FROM conversation WHERE status = 'running' OR owner IS NOT NULL",
    [],
  )
  expect(left).toEqual([])
  const messages = await world.store.engine.query<{ seq: number }>("SELECT seq FROM messages ORDER BY seq", [])
  expect(messages.map(({ seq }) => seq)).toEqual(messages.map((_, index) => index + 1))
}

async function countWrites(url: string, afterCrash: AfterCrash): Promise<number> {
  const bank = new Bank()
  let writes = () => 0
  await using world = await openWorld({
    url,
    model: payingModel(),
    tools: bank.tools(afterCrash),
    between(journal) {
      const counted = dyingAt({ at: Number.POSITIVE_INFINITY, when: "before" }, journal)
      writes = () => counted.writes
      return counted
    },
  })
  await expectTheTruth(world, bank, new Payer(bank))
  return writes()
}

/** The number of concurrent cases: most of the time is waiting for PostgreSQL to copy a database. */
const AT_ONCE = 4

async function inTurns<Case>(cases: readonly Case[], each: (one: Case) => Promise<void>): Promise<void> {
  for (let at = 0; at < cases.length; at += AT_ONCE) await Promise.all(cases.slice(at, at + AT_ONCE).map(each))
}

describe.each(databases)("on $name", ({ name, create }) => {
  /** On SQLite all of them. PostgreSQL takes ten times as long, so half: at each position before or after, in turn and by the seed. */
  const some = <Case>(cases: readonly Case[]): Case[] =>
    cases.filter((_, at) => isLong || name === "sqlite" || ((at >> 1) + at + seedOf("PAWL_TEST_SEED")) % 2 === 0)

  describe.each<AfterCrash>(["run-again", "ask-target", "in-doubt"])("with a target of the kind %s", (afterCrash) => {
    test("a process that dies before or after any write leaves nothing lost, doubled or stuck", async () => {
      await using counting = await create()
      const writes = await countWrites(counting.url, afterCrash)
      expect(writes).toBeGreaterThan(7)
      const deaths = Array.from({ length: writes }, (_, at) => at + 1).flatMap((at): Death[] => [
        { at, when: "before" },
        { at, when: "after" },
      ])
      await inTurns(some(deaths), (death) => surviveOne(death, afterCrash))
    }, 180_000)
  })

  async function surviveOne(death: Death, afterCrash: AfterCrash): Promise<void> {
    await using database = await create()
    const { url } = database
    const bank = new Bank()
    const payer = new Payer(bank)
    const tools = bank.tools(afterCrash)
    await using first = await openWorld({
      url,
      model: payingModel(),
      tools,
      clock: new TurnedClock(START),
      between: (journal) => dyingAt(death, journal),
    })
    await payer.insist(first).catch(() => {})
    const paid = bank.paid.length
    expect(paid, `${JSON.stringify(death)}`).toBeLessThanOrEqual(1)

    // Another process finds what the first one left, once it has missed its heartbeats for long enough.
    const clock = new TurnedClock(START + MINUTE)
    await using second = await openWorld({ url, model: payingModel(), tools, clock })
    await outlive(second, clock)
    await expectTheTruth(second, bank, payer)
    expect(second.problems, `${JSON.stringify(death)}`).toEqual([])
  }

  test("without a request, an interrupted run continues as far as it can", async () => {
    await using database = await create()
    const bank = new Bank()
    const tools = bank.tools("ask-target")
    const { url } = database
    const between = (journal: Parameters<NonNullable<Parameters<typeof openWorld>[0]["between"]>>[0]) =>
      dyingAt({ at: 2, when: "before" }, journal)
    await using first = await openWorld({ url, model: payingModel(), tools, clock: new TurnedClock(START), between })
    const { id } = await first.start("Pay 1, not 2.")
    await first.pawl.runtime.rest(id)
    expect(await first.types(id)).toEqual(["conversation_started", "run_started", "message"])

    const clock = new TurnedClock(START + MINUTE)
    await using second = await openWorld({ url, model: payingModel(), tools, clock })
    expect(await outlive(second, clock)).toBe(1)
    await second.pawl.runtime.rest(id)
    expect((await second.types(id)).slice(3)).toEqual([
      "restarted",
      "message",
      "tool_start",
      "tool_end",
      "tool_start",
      "tool_end",
      "awaiting_confirmation",
    ])
    expect(await second.pawl.runtime.recover()).toBe(0)
  })

  test.each<AfterCrash>(["run-again", "ask-target", "in-doubt"])(
    "a store that writes and reports a time-out never makes a payment twice (%s)",
    async (afterCrash) => {
      await using counting = await create()
      const writes = await countWrites(counting.url, afterCrash)
      const places = Array.from({ length: writes }, (_, at) => at + 1)
      await inTurns(some(places), async (at) => {
        await using database = await create()
        const bank = new Bank()
        const payer = new Payer(bank)
        await using world = await openWorld({
          url: database.url,
          model: payingModel(),
          tools: bank.tools(afterCrash),
          between: (journal) => timingOutAt(at, journal),
        })
        await payer.insist(world).catch(() => {}) // the caller may see the time-out; the next try finds what was done
        await world.pawl.runtime.recover()
        await expectTheTruth(world, bank, payer)
      })
    },
    60_000,
  )

  test("a run that fails three times at the same step is set aside, and resume tries again", async () => {
    await using database = await create()
    const bank = new Bank()
    const { url } = database
    let id: Awaited<ReturnType<Payer["insist"]>> | undefined
    for (let life = 0; life < 4; life++) {
      await using world = await openWorld({
        url,
        model: payingModel(),
        tools: bank.tools("run-again"),
        clock: new TurnedClock(START + life * MINUTE),
        between: (journal) => dyingAt({ at: 2, when: "before" }, journal),
      })
      if (id) await world.pawl.runtime.recover()
      else id = (await world.start("Pay 1, not 2.")).id
      await world.pawl.runtime.rest(id)
    }
    await using last = await openWorld({
      url,
      model: payingModel(),
      tools: bank.tools("run-again"),
      clock: new TurnedClock(START + 9 * MINUTE),
    })
    await last.pawl.runtime.recover()
    if (!id) throw new Error("never began")
    await last.pawl.runtime.rest(id)
    expect((await last.load(id)).run).toMatchObject({ status: "failed", error: { code: "set_aside" } })
    await last.pawl.runtime.submit(id, { type: "resume", by: last.user })
    await last.pawl.runtime.rest(id)
    expect(await last.proposals(id)).toHaveLength(2)
  })
})
