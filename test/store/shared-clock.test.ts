import { setImmediate } from "node:timers/promises"
import { describe, expect, test } from "vitest"
import { machineTimeOf, monotonicOf, systemClock } from "../../core/shared/time/clock.ts"
import type { Engine } from "../../core/store/engine/engine.ts"
import { SharedClock } from "../../core/store/shared-clock.ts"
import { openStore } from "../../core/store/store.ts"
import { databases } from "../support/databases.ts"
import { TurnedClock } from "../support/loop/world.ts"

const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000]

/** A database with a clock of its own, which is this much ahead of this machine's. */
class Database {
  readonly serverTime = "now"
  readonly machine = new TurnedClock()
  aheadMs = 0
  asked = 0
  isAway = false
  /** How long a query takes to arrive, and an answer to come back. */
  there: () => Promise<void> = async () => {}
  back: () => Promise<void> = async () => {}

  query = (async () => {
    this.asked++
    await this.there()
    if (this.isAway) throw new Error("away")
    const now = this.now
    await this.back()
    return [{ now }]
  }) as Engine["query"]

  get now(): number {
    return this.machine.monotonic() + this.aheadMs
  }

  async open(): Promise<SharedClock> {
    return (await SharedClock.open(this, this.machine)) as SharedClock
  }
}

describe("the clock that nodes share", () => {
  test("returns the database's time plus the time since, whatever the machine's time of day does", async () => {
    const database = new Database()
    database.machine.shift(HOUR)
    database.aheadMs = 5 * SECOND
    using clock = await database.open()
    expect([clock.now(), machineTimeOf(clock)]).toEqual([database.now, database.now - 5 * SECOND + HOUR])
    await database.machine.turn(30 * SECOND)
    database.machine.shift(-2 * HOUR)
    expect([clock.now(), monotonicOf(clock)]).toEqual([database.now, database.machine.monotonic()])
  })

  test("follows the database within a minute if its clock is set, or another one takes over", async () => {
    const database = new Database()
    using clock = await database.open()
    for (const aheadMs of [40, -40, HOUR, -HOUR]) {
      database.aheadMs = aheadMs
      await database.machine.turn(MINUTE + SECOND)
      expect(clock.now()).toBe(database.now)
    }
  })

  test("asks at once when the machine has slept", async () => {
    const database = new Database()
    using clock = await database.open()
    await database.machine.turn(10 * SECOND)
    // Monotonic time stands still meanwhile, on this machine alone.
    database.machine.shift(HOUR)
    database.aheadMs += HOUR
    clock.now()
    await setImmediate() // by then the clock has the answer
    expect([clock.now(), database.asked]).toEqual([database.now, 2])
    // From then on the difference between the two clocks of the machine is compared with its value at that time.
    clock.now()
    await database.machine.turn(5 * SECOND)
    clock.now()
    expect(database.asked).toBe(2)
  })

  test("asks again if the machine slept while the answer was on its way", async () => {
    const database = new Database()
    using clock = await database.open()
    database.back = async () => {
      database.machine.shift(HOUR)
      database.aheadMs += HOUR
      database.back = async () => {}
    }
    await database.machine.turn(MINUTE)
    clock.now()
    await setImmediate() // by then the clock has the answer
    expect(clock.now()).toBe(database.now)
  })

  test("asks at most once a second for a drift that stays while the database is away, and the clock still advances", async () => {
    const database = new Database()
    using clock = await database.open()
    await database.machine.turn(SECOND)
    database.isAway = true
    database.machine.shift(-HOUR)
    for (let looks = 0; looks < 100; looks++) {
      for (let calls = 0; calls < 10; calls++) expect(clock.now()).toBe(database.now)
      await database.machine.turn(100)
    }
    expect(database.asked).toBe(1 + 10)
    database.isAway = false
    await database.machine.turn(SECOND)
    clock.now()
    await database.machine.turn(SECOND)
    clock.now()
    expect(database.asked).toBe(1 + 11)
  })

  test("asks again after an answer that failed", async () => {
    const database = new Database()
    using clock = await database.open()
    database.isAway = true
    await database.machine.turn(MINUTE + SECOND)
    database.isAway = false
    database.aheadMs = 100
    await database.machine.turn(MINUTE + SECOND)
    expect([clock.now(), database.asked]).toEqual([database.now, 3])
  })

  test("takes the middle of a round trip for the moment of the answer", async () => {
    const database = new Database()
    const takes = (ms: number) => () => database.machine.turn(ms)
    ;[database.there, database.back] = [takes(200), takes(200)]
    using clock = await database.open()
    expect(clock.now()).toBe(database.now)
  })

  test("ignores a slow answer if only the answer may be wrong, and accepts it if the clock must be", async () => {
    const database = new Database()
    using clock = await database.open()
    const slow = async () => {
      const { there } = database
      database.there = async () => {
        await database.machine.turn(4 * SECOND)
        database.there = there
      }
      await database.machine.turn(MINUTE)
      await database.machine.turn(SECOND)
    }
    await slow()
    expect([clock.now(), database.asked]).toEqual([database.now, 2]) // by its middle it would be two seconds ahead
    database.aheadMs = HOUR
    await slow()
    expect([clock.now(), database.asked]).toEqual([database.now + 2 * SECOND, 3])
  })

  test("accepts a slow answer if nothing is known, until there is a better one", async () => {
    const database = new Database()
    const takes = (ms: number) => () => database.machine.turn(ms)
    ;[database.there, database.back] = [takes(SECOND), takes(2 * SECOND)]
    using clock = await database.open()
    expect(clock.now()).toBe(database.now - 500)
    // Slow too, but less so: the known time may still be right, and this one is more likely to be.
    ;[database.there, database.back] = [takes(750), takes(750)]
    await database.machine.turn(MINUTE + 2 * SECOND)
    expect(clock.now()).toBe(database.now)
  })

  test("can be taken apart, as the machine's can", async () => {
    const database = new Database()
    database.aheadMs = HOUR
    using clock = await database.open()
    const { now, monotonic, machine } = clock
    expect([now(), monotonic(), machine()]).toEqual([database.now, database.now - HOUR, database.machine.now()])
  })

  test("cannot be opened if the database does not answer", async () => {
    const database = new Database()
    database.isAway = true
    await expect(database.open()).rejects.toThrow("away")
  })

  test("asks no more once it is closed, neither by itself nor for a drift", async () => {
    const database = new Database()
    const clock = await database.open()
    clock[Symbol.dispose]()
    await database.machine.turn(10 * MINUTE)
    database.machine.shift(HOUR)
    expect([clock.now(), database.asked]).toEqual([database.now, 1])
  })
})

describe.each(databases)("a store on $name", ({ name, create }) => {
  const shares = name === "postgres"

  test("uses the database's clock if it has one, and reports the error of the machine's", async () => {
    await using database = await create()
    const machineClock = new TurnedClock(Date.now() - HOUR)
    await using store = await openStore({ ...database, durability: "normal", machineClock })
    const [ahead, behind] = [store.clock.now() - machineClock.now(), await store.nodes.aheadMs(() => store.clock.now())]
    expect(Math.round(ahead / HOUR)).toBe(shares ? 1 : 0)
    expect(Math.abs(behind ?? 0)).toBeLessThan(MINUTE)
    await store.people.ensure("ada", store.clock.now())
    await store.node.heartbeat()
    const [listed] = await store.nodes.read()
    expect(listed && Math.round(listed.aheadMs / HOUR)).toBe(shares ? -1 : undefined)
    // A node that slept may have been considered failed, and only the machine's own time of day shows it.
    const beats = async () => (await store.engine.query<{ beats: number }>("SELECT beats FROM node", []))[0]?.beats
    await store.node.alive()
    expect(await beats()).toBe(1)
    machineClock.shift(HOUR)
    await store.node.alive()
    expect(await beats()).toBe(2)
  })

  test.runIf(shares)(
    "a device changes its owner by the time of the database, also if its cached state is old",
    async () => {
      await using database = await create()
      // As after a sleep: monotonic time has stood still since the store was opened.
      const machineClock = { ...systemClock, monotonic: () => 0 }
      await using store = await openStore({ ...database, durability: "normal", machineClock })
      const { id } = await store.people.ensure("ada", Date.now())
      const second = { type: "token", id: "two" } as const
      await store.deviceOwners.claim(id, "phone", { type: "token", id: "one" })
      await store.deviceOwners.claim(id, "phone", second)
      const [request] = await store.deviceOwners.requests(id)
      const [{ now }] = (await store.engine.query<{ now: number }>(
        `SELECT ${store.engine.serverTime} AS now FROM pg_sleep(0.05)`,
        [],
      )) as [{ now: number }]
      await store.deviceOwners.allow(id, request!.id, { type: "session", id: "page" })
      const claimed = await store.deviceOwners.claim(id, "phone", second)
      expect(claimed).toMatchObject({ owned: true })
      expect("takenAt" in claimed && claimed.takenAt).toBeGreaterThanOrEqual(now)
    },
  )

  test("uses a clock that is passed to it unchanged", async () => {
    await using database = await create()
    const clock = new TurnedClock()
    await using store = await openStore({ ...database, durability: "normal", clock })
    expect(store.clock).toBe(clock)
  })
})
