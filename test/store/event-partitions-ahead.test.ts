import { describe, expect, test } from "vitest"
import { listenOn, startServer } from "../../src/compose/start-server.ts"
import type { Engine } from "../../src/store/engine/engine.ts"
import { EVENTS, EVENTS_TO_FOLD } from "../../src/store/engine/event-rows.ts"
import { EVENTS_UNLESS_KEPT } from "../../src/store/engine/fold-source.ts"
import { numbered } from "../../src/store/engine/numbered.ts"
import { partitionedEvent } from "../../src/store/engine/partitioned.ts"
import { openStore } from "../../src/store/store.ts"
import { scripted } from "../../src/testing.ts"
import { databases } from "../support/databases.ts"
import { TurnedClock } from "../support/loop/world.ts"
import { connect, listening, openOlderEvents, SIZE } from "../support/older-events.ts"
import { Face } from "../support/server/face.ts"

const addParts = (engine: Engine) => engine.partition(partitionedEvent, 2000)
const inRange = (range: number) => `FOR VALUES FROM ('${range * SIZE}') TO ('${(range + 1) * SIZE}')`

type Older = Awaited<ReturnType<typeof openOlderEvents>>

/** As if so many conversations had been begun. */
const begin = (older: Older, key: number) => older.query("SELECT setval('conversation_key_seq', $1::bigint)", [key])

describe.each(databases.filter(({ name }) => name === "postgres"))(
  "the parts of events on $name",
  ({ create, createCopy }) => {
    test("are one ahead of the newest conversation, and nothing changes where that is there", async () => {
      await using older = await openOlderEvents(createCopy)
      await older.upgrade()
      const upgraded = await older.allParts()
      await addParts(older.engine)
      expect(await older.allParts()).toEqual(upgraded)
      await begin(older, 2 * SIZE - 1)
      await addParts(older.engine)
      expect(await older.allParts()).toEqual(upgraded)
      await begin(older, 2 * SIZE)
      await Promise.all([addParts(older.engine), addParts(older.openOther())])
      expect(await older.allParts()).toEqual([...upgraded.slice(0, 2), `event_3 ${inRange(3)}`, ...upgraded.slice(2)])
      await older.say(3 * SIZE, 1)
      await expect(older.say(3 * SIZE, 1)).rejects.toThrow("duplicate key")
      expect(await older.partsOf(3 * SIZE)).toEqual(["event_3"])
    })

    test("are looked for when a store is opened; one that cannot be made is told of, and keeps nobody out", async () => {
      await using database = await create()
      const { log, told } = listening("partitions_not_added")
      const other = await connect(database.url)
      await other.query(`SELECT setval('conversation_key_seq', ${SIZE}); CREATE TABLE event_2 (in_the_way TEXT)`)
      await using store = await openStore({ url: database.url, log })
      expect(String((await told).error)).toContain("event_2")
      await other.query("DROP TABLE event_2")
      await using _ = await openStore({ url: database.url })
      expect(await store.engine.query("SELECT count(*) AS n FROM event_2", [])).toEqual([{ n: 0 }])
      await other.end()
    })

    test("are looked for every hour by a server at work", async () => {
      await using database = await create()
      const clock = new TurnedClock()
      await using face = await Face.open({ url: database.url, model: scripted(), clock })
      const running = await startServer(face.server, await listenOn(face.server, 0))
      const { engine } = face.store
      const begun = { sql: `SELECT setval('conversation_key_seq', ${SIZE})`, values: [] }
      await engine.change({ type: "statements", statements: [begun] })
      // The look at the start may be at its end only after the first of these hours.
      const part = async () => {
        await clock.leap(60 * 60_000)
        return engine.query("SELECT to_regclass('event_2')::text AS part", [])
      }
      await expect.poll(part).toEqual([{ part: "event_2" }])
      await running.close(0)
    })

    test("are not made while the rest is too large to be read under a lock, and nobody waits for it", async () => {
      await using older = await openOlderEvents(createCopy)
      await older.upgrade()
      const parts = await older.allParts()
      await older.query(`INSERT INTO event (conversation, position, type, version, at, content)
        SELECT ${5 * SIZE}, n, 'message', 1, 0, repeat('x', 1900) FROM generate_series(1, 36000) AS n`)
      await expect(addParts(older.engine)).rejects.toThrow("event_rest has become too large")
      await older.query("TRUNCATE event_rest")
      await addParts(older.engine)
      expect(await older.allParts()).toEqual(parts)
    })

    test("are vacuumed as the last one before them", async () => {
      await using older = await openOlderEvents(createCopy)
      await older.upgrade()
      await older.query("ALTER TABLE event_2 SET (autovacuum_vacuum_threshold = 77, fillfactor = 90)")
      await begin(older, 2 * SIZE)
      await addParts(older.engine)
      expect(await older.query("SELECT reloptions FROM pg_class WHERE relname = 'event_3'")).toEqual([
        { reloptions: ["autovacuum_vacuum_threshold=77", "fillfactor=90"] },
      ])
    })

    test("need not be there: events lie in the rest, where they are found, and stay when parts are made behind them", async () => {
      await using older = await openOlderEvents(createCopy)
      await older.upgrade()
      const late = 5 * SIZE + 1
      await older.say(late, 1)
      expect(await older.engine.events(late, { after: 0, upTo: 9, limit: 9 })).toHaveLength(1)
      await addParts(older.engine)
      expect((await older.allParts()).slice(2)).toEqual([`event_6 ${inRange(6)}`, "event_rest DEFAULT"])
      await older.say(late, 2)
      expect(await older.partsOf(late)).toEqual(["event_rest", "event_rest"])
    })

    test("are read one at a time, however they are asked for", async () => {
      await using older = await openOlderEvents(createCopy)
      await older.upgrade()
      await older.query("CREATE TABLE kept_fold (conversation BIGINT, version TEXT)") // these are from before there was one
      await older.query("SET plan_cache_mode = force_generic_plan")
      for (const [sql, values] of asked) {
        const types = values.map((value) =>
          Array.isArray(value) ? "bigint[]" : typeof value === "string" ? "text" : "bigint",
        )
        await older.query(`PREPARE asked (${types.join(", ")}) AS ${sql}`)
        const given = values.map((value) => (Array.isArray(value) ? `'{${value.join(",")}}'` : `'${value}'`)).join(", ")
        const [plan] = await older.query<Record<string, unknown>>(
          `EXPLAIN (ANALYZE, COSTS OFF, FORMAT JSON) EXECUTE asked (${given})`,
        )
        expect(partsRead(plan), sql).toEqual(["event_0"])
        await older.query("DEALLOCATE asked")
      }
    })
  },
)

const KEY = "(SELECT key FROM conversation WHERE id = $1)"
const asked: readonly [string, readonly (number | string | number[])[]][] = [
  [numbered(EVENTS, 4), [1, 0, 9, 9]],
  [numbered(EVENTS_TO_FOLD, 3), [1, 1, 1]],
  [numbered(EVENTS_UNLESS_KEPT, 2), ["1", "conv_1"]],
  [`SELECT max(position) FROM event WHERE conversation = ${KEY}`, ["conv_1"]],
  [`SELECT position FROM event WHERE conversation = ${KEY} AND message_id = 'msg_1_1'`, ["conv_1"]],
  [
    "SELECT c.id, (SELECT max(position) FROM event WHERE conversation = c.key) FROM conversation c WHERE c.key = $1",
    [1],
  ],
  [
    `SELECT given.key FROM unnest($1) AS given (key), conversation
      WHERE (SELECT coalesce(max(position), 0) FROM event WHERE event.conversation = given.key) = 4 AND conversation.key = given.key`,
    [[1, 2, 3]],
  ],
  [
    "SELECT e.position FROM conversation c JOIN event e ON c.key = e.conversation AND e.position = $2 WHERE c.id = $1",
    ["conv_1", 1],
  ],
]

/** Tables of a plan that were read when it was carried out. */
function partsRead(plan: unknown): string[] {
  const read = new Set<string>()
  const walk = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return
    const { "Relation Name": name, "Actual Loops": loops } = node as Record<string, unknown>
    if (typeof name === "string" && name.startsWith("event") && loops) read.add(name)
    Object.values(node).forEach(walk)
  }
  walk(plan)
  return [...read]
}
