import { describe, expect, test } from "vitest"
import { openPostgres, postgresWords } from "../../src/store/engine/open-postgres.ts"
import { partitionedEvent } from "../../src/store/engine/partitioned.ts"
import { migrate } from "../../src/store/migrations/migrate.ts"
import { databases } from "../support/databases.ts"
import { TurnedClock } from "../support/loop/world.ts"
import { connect, listening, openOlderEvents, SIZE, toInsert, withParts } from "../support/older-events.ts"

const STEP = "040_event_partitions"
const NO_BOUND = "SELECT conname FROM pg_constraint WHERE conname = 'event_bound'"
/** Two ranges, since there are conversations, and one ahead. */
const UPGRADED = [
  `event_0 FOR VALUES FROM (MINVALUE) TO ('${2 * SIZE}')`,
  `event_2 FOR VALUES FROM ('${2 * SIZE}') TO ('${3 * SIZE}')`,
  "event_rest DEFAULT",
]

describe.each(databases.filter(({ name }) => name === "postgres"))(
  "the events of $name",
  ({ createCopy, createEmpty }) => {
    test("of a new database have their parts at once", async () => {
      await using database = await createEmpty()
      const engine = openPostgres({ url: database.url, durability: "normal", connections: 2 })
      await migrate(engine, postgresWords)
      const sql = "SELECT relid::regclass::text AS part FROM pg_partition_tree('event') WHERE isleaf ORDER BY 1"
      expect(await engine.query(sql, [])).toEqual([{ part: "event_0" }, { part: "event_1" }, { part: "event_rest" }])
      await engine.close()
    })

    test("of an older version are there after the upgrade, in order, in the files in which they were", async () => {
      await using older = await openOlderEvents(createCopy)
      const { engine, query } = older
      const read = () => Promise.all([1, 2, 3].map((key) => engine.events(key, { after: 0, upTo: 9, limit: 9 })))
      const messages = "SELECT * FROM messages ORDER BY conversation_id, seq"
      const files = (table: string) =>
        query<{ relfilenode: number }>("SELECT relfilenode FROM pg_class WHERE relname = $1", [table])
      const before = [await read(), await query(messages), await files("event"), await files("event_place")]
      expect(await older.upgrade()).toEqual([STEP])
      expect([await read(), await query(messages), await files("event_0"), await files("event_0_unique")]).toEqual(
        before,
      )
      expect(await older.allParts()).toEqual(UPGRADED)
      expect(await query(NO_BOUND)).toEqual([])
      expect(await query("SELECT indisvalid FROM pg_index WHERE indexrelid = 'event_place'::regclass")).toEqual([
        { indisvalid: true },
      ])
      await expect(older.say(1, 4)).rejects.toThrow("duplicate key")
    })

    test("are read once for that, while others write, and not again under the lock", async () => {
      await using older = await openOlderEvents(createCopy)
      const node = older.openOther()
      await migrate(node, postgresWords)
      await older.close(node) // what its sessions have counted is told when they end
      const rows = "SELECT seq_tup_read::int AS read FROM pg_stat_user_tables WHERE relname = 'event_0'"
      await expect.poll(() => older.query(rows)).not.toEqual([{ read: 0 }])
      expect(await older.query(rows)).toEqual([{ read: 12 }])
    })

    test("are written and read by a node that has prepared its statements before", async () => {
      await using older = await openOlderEvents(createCopy)
      const node = older.openOther()
      const count = async (key: number) => (await node.events(key, { after: 0, upTo: 99, limit: 99 })).length
      // More than five times: then PostgreSQL keeps the plan as well.
      for (let position = 5; position < 15; position++) {
        await older.say(1, position)
        expect(await count(1)).toBe(position)
      }
      expect(await older.upgrade()).toEqual([STEP])
      await older.say(1, 15)
      expect(await count(1)).toBe(15)
      // The table that it was prepared for could not take this one.
      await older.say(2 * SIZE, 1)
      expect(await older.partsOf(2 * SIZE)).toEqual(["event_2"])
      expect(await count(2 * SIZE)).toBe(1)
    })

    test("wait for nobody who waits: one who has them locked delays the upgrade, and breaks nothing", async () => {
      await using older = await openOlderEvents(createCopy)
      await older.other.query("BEGIN")
      await older.other.query("SELECT * FROM event")
      const { log, told } = listening("migration_waits")
      const done = older.upgrade(log)
      expect(await told).toMatchObject({ migrations: [STEP] })
      expect(await older.engine.query("SELECT count(*) AS n FROM event", [])).toEqual([{ n: 12 }])
      await older.other.query("COMMIT")
      expect(await done).toEqual([STEP])
      expect(await older.allParts()).toEqual(UPGRADED)
    })

    test("get their parts once from nodes that come at the same time", async () => {
      await using older = await openOlderEvents(createCopy)
      const nodes = [older.engine, older.openOther(), older.openOther()]
      const done = await Promise.all(nodes.map((node) => migrate(node, postgresWords, { known: withParts })))
      expect(done.flat()).toEqual([STEP])
      expect(await older.allParts()).toEqual(UPGRADED)
      expect(await older.query(NO_BOUND)).toEqual([])
    })

    test("are served as they are by a node that cannot get the lock for a minute, and get their parts later", async () => {
      await using older = await openOlderEvents(createCopy)
      await older.query("BEGIN")
      await older.query("SELECT * FROM event")
      const clock = new TurnedClock()
      const hear = (event: string) => void (event === "migration_waits" && setImmediate(() => void clock.turn(61_000)))
      const log = { info: hear, warn: hear, error: hear }
      expect(await migrate(older.engine, postgresWords, { clock, log, known: withParts })).toEqual([])
      expect(await older.engine.events(1, { after: 0, upTo: 9, limit: 9 })).toHaveLength(4)
      await older.query("COMMIT")
      expect(await older.upgrade()).toEqual([STEP])
      expect(await older.allParts()).toEqual(UPGRADED)
    })

    test.each([
      ["a bound", "SELECT 1"],
      ["the switch", `ALTER TABLE event ADD CONSTRAINT event_bound CHECK (conversation < ${2 * SIZE})`],
    ])("get their parts once from nodes that wait for the same lock, for %s", async (_, done) => {
      await using older = await openOlderEvents(createCopy)
      await older.query(done)
      await older.query("BEGIN")
      await older.query("SELECT * FROM event")
      const nodes = [1, 2, 3].map(() => older.openOther().partition(partitionedEvent, 30_000))
      const waiting = `SELECT count(*)::int AS n FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`
      await expect.poll(() => older.engine.query(waiting, [])).toEqual([{ n: 3 }])
      await older.query("COMMIT")
      expect((await Promise.all(nodes)).flat()).toEqual([])
      expect(await older.allParts()).toEqual(UPGRADED)
      expect(await older.query(NO_BOUND)).toEqual([])
    })

    test("keep to their index that is valid, and without one nothing is changed", async () => {
      await using older = await openOlderEvents(createCopy)
      const { other } = older
      await other.query("DROP INDEX event_place")
      await older.say(1, 4)
      const build = "CREATE UNIQUE INDEX CONCURRENTLY event_place ON event (conversation, position)"
      await expect(other.query(build)).rejects.toThrow("event_place") // and leaves one that is not valid
      expect(await older.upgrade()).toEqual([])
      const parts = older.engine.partition(partitionedEvent, 2000)
      await expect(parts).rejects.toThrow("no valid unique index on (conversation, position)")
      expect(await older.query("SELECT relkind FROM pg_class WHERE relname = 'event'")).toEqual([{ relkind: "r" }])
      expect(await older.query(NO_BOUND)).toEqual([])
      await other.query("DELETE FROM event WHERE content = 'later'")
      await other.query("CREATE UNIQUE INDEX CONCURRENTLY event_again ON event (conversation, position)")
      await other.query("DROP INDEX event_place")
      expect(await older.upgrade()).toEqual([STEP])
      await expect(older.say(1, 4)).rejects.toThrow("event_0_unique")
    })

    test("take what was written while their rows were read", async () => {
      await using older = await openOlderEvents(createCopy)
      await using writer = { client: await connect(older.url), [Symbol.asyncDispose]: () => writer.client.end() }
      let done = false
      const upgraded = older.upgrade().finally(() => (done = true))
      let position = 4
      do await writer.client.query(toInsert(2, ++position))
      while (!done)
      await upgraded
      expect(await older.partsOf(2)).toEqual(Array.from({ length: position }, () => "event_0"))
    })
  },
)
