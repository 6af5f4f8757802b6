import { expect, test } from "vitest"
import { databases, type TestDatabase } from "../../../test/support/databases.ts"
import { openStore } from "../store.ts"
import { SqlBuckets } from "./buckets.ts"

const EACH_MS = 10
const [READ_AT_ONCE, MORE] = [10_000, 50]
/** Commits of other nodes may become visible after their time, so this many of the newest rows are read again. */
const OVERLAPPING = 5000 / EACH_MS

const postgres = databases.filter(({ name }) => name === "postgres")

/** A node that has read none of many rows with these times. */
async function openWith(create: TestDatabase["create"], changedAt: string) {
  await using opening = new AsyncDisposableStack()
  const database = opening.use(await create())
  const { engine } = opening.use(await openStore({ ...database, durability: "normal" }))
  const sql = `INSERT INTO bucket (kind, who, full_at, changed_at)
    SELECT 'people', 'p' || n, ${engine.serverTime} + 3600000, ${changedAt}
    FROM generate_series(1, ${READ_AT_ONCE + MORE}) AS n`
  await engine.change({ type: "statements", statements: [{ sql, values: [] }] })
  const buckets = new SqlBuckets(engine)
  const told = async () => (await buckets.exchange([])).map(({ who }) => Number(who.slice(1)))
  const closing = opening.move()
  return { told, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}
const from = (first: number, count: number) => Array.from({ length: count }, (_, at) => first + at)

test.each(databases)("are shared if the database is a server, on $name", async ({ name, create }) => {
  await using database = await create()
  await using store = await openStore({ ...database, durability: "normal" })
  expect(store.buckets.shared).toBe(name === "postgres")
})

test.each(postgres)(
  "more buckets than one read returns are all read in order, and then only the newest again, on $name",
  async ({ create }) => {
    await using someone = await openWith(create, `1000000 + n * ${EACH_MS}`)
    expect(await someone.told()).toEqual(from(1, READ_AT_ONCE))
    expect(await someone.told()).toEqual(from(READ_AT_ONCE + 1, MORE))
    const newest = from(READ_AT_ONCE + MORE - OVERLAPPING + 1, OVERLAPPING)
    expect([await someone.told(), await someone.told()]).toEqual([newest, newest])
  },
)

test.each(postgres)("changes of one moment are all read, also if they exceed one read, on $name", async (of) => {
  await using someone = await openWith(of.create, "1000000")
  const told = [...(await someone.told()), ...(await someone.told())]
  expect(told.toSorted((a, b) => a - b)).toEqual(from(1, READ_AT_ONCE + MORE))
})
