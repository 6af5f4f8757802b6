import { expect, test } from "vitest"
import { databases } from "../../../test/support/databases.ts"
import { openStore } from "../store.ts"
import { SqlBuckets } from "./buckets.ts"

const EACH_MS = 10
const [READ_AT_ONCE, MORE] = [10_000, 50]
/** What others commit may be seen later than its time says: so many of the newest are told again. */
const OVERLAPPING = 5000 / EACH_MS

test.each(databases.filter(({ name }) => name === "postgres"))(
  "of more buckets than are read at once all are told, in order, and then only the newest again, on $name",
  async ({ create }) => {
    await using database = await create()
    await using store = await openStore({ ...database, durability: "normal" })
    const { engine } = store
    const sql = `INSERT INTO bucket (kind, who, full_at, changed_at)
      SELECT 'people', 'p' || n, ${engine.serverTime} + 3600000, 1000000 + n * ${EACH_MS}
      FROM generate_series(1, ${READ_AT_ONCE + MORE}) AS n`
    await engine.change({ type: "statements", statements: [{ sql, values: [] }] })
    const buckets = new SqlBuckets(engine)
    const told = async () => (await buckets.exchange([])).map(({ who }) => Number(who.slice(1)))
    const from = (first: number, count: number) => Array.from({ length: count }, (_, at) => first + at)
    expect(await told()).toEqual(from(1, READ_AT_ONCE))
    expect(await told()).toEqual(from(READ_AT_ONCE + 1, MORE))
    const newest = from(READ_AT_ONCE + MORE - OVERLAPPING + 1, OVERLAPPING)
    expect([await told(), await told()]).toEqual([newest, newest])
  },
)
