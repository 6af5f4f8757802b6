import { describe, expect, test } from "vitest"
import { databases } from "../../../test/support/databases.ts"
import { TurnedClock } from "../../../test/support/loop/world.ts"
import { openStore } from "../store.ts"

const HOUR = 3_600_000

describe.each(databases.filter(({ name }) => name === "postgres"))("on $name", ({ create }) => {
  test("nodes are listed with the time since their last heartbeat and their clock offset, by the database's clock", async () => {
    await using database = await create()
    const clock = new TurnedClock(Date.now() + HOUR)
    await using store = await openStore({ ...database, durability: "normal" })
    await using fast = await openStore({ ...database, durability: "normal", clock })
    await fast.node.heartbeat()
    await store.node.heartbeat()
    // Both may have started in the same millisecond, so they are found by their ids.
    const read = async ({ node }: typeof store) => (await store.nodes.read()).find(({ id }) => id === node.id)
    expect(await store.nodes.read()).toHaveLength(2)
    const [first, second] = [await read(fast), await read(store)]
    expect(Math.round((first?.aheadMs ?? 0) / HOUR)).toBe(1)
    expect(Math.abs(second?.aheadMs ?? HOUR)).toBeLessThan(HOUR / 60)
    expect(second).toMatchObject({ leases: 0, silentMs: expect.any(Number), since: expect.any(Number) })
    const since = first?.since
    await fast.node.heartbeat()
    expect((await read(fast))?.since).toBe(since)
    expect(Math.round(((await fast.nodes.aheadMs(() => clock.now())) ?? 0) / HOUR)).toBe(1)
  })
})

describe.each(databases.filter(({ name }) => name === "sqlite"))("on $name", ({ create }) => {
  test("SQLite has no other nodes and no other clock", async () => {
    await using database = await create()
    await using store = await openStore({ ...database, durability: "normal" })
    await store.node.heartbeat()
    expect([await store.nodes.read(), await store.nodes.aheadMs(Date.now)]).toEqual([[], undefined])
  })
})
