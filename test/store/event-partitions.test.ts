import { randomBytes } from "node:crypto"
import pg, { type PoolClient } from "pg"
import { describe, expect, test } from "vitest"
import { listenOn, startServer } from "../../core/compose/start-server.ts"
import type { Engine } from "../../core/store/engine/engine.ts"
import { EVENTS, EVENTS_TO_REPLAY } from "../../core/store/engine/event-rows.ts"
import { EVENTS_WITHOUT_SNAPSHOT } from "../../core/store/engine/state-source.ts"
import { numberPlaceholders } from "../../core/store/engine/numbered.ts"
import { openPostgres } from "../../core/store/engine/open-postgres.ts"
import { partitionedEvent } from "../../core/store/engine/schema-syntax.ts"
import { addPartition } from "../../core/store/engine/postgres/partitions.ts"
import { PostgresPool } from "../../core/store/engine/postgres/pool.ts"
import { shortTransaction } from "../../core/store/engine/postgres/short-transaction.ts"
import { openStore } from "../../core/store/store.ts"
import { scripted } from "../../core/testing.ts"
import { databases, type TestDatabase } from "../support/databases.ts"
import { TurnedClock } from "../support/loop/world.ts"
import { Face } from "../support/server/face.ts"

const SIZE = partitionedEvent.size
const inRange = (range: number) => `FOR VALUES FROM ('${range * SIZE}') TO ('${(range + 1) * SIZE}')`
/** The partitions of a new database: the first range, the next one, and the default. */
const NEW = [
  `event_0 FOR VALUES FROM (MINVALUE) TO ('${SIZE}')`,
  `event_1 FOR VALUES FROM ('${SIZE}') TO ('${2 * SIZE}')`,
  "event_rest DEFAULT",
]

describe.each(databases.filter(({ name }) => name === "postgres"))(
  "the partitions of events on $name",
  ({ create }) => {
    test("are one ahead of the newest conversation, and adding again changes nothing", async () => {
      await using db = await openEvents(create)
      expect(await db.partitions()).toEqual(NEW)
      await add(db.engine)
      await db.startConversation(SIZE - 1)
      await add(db.engine)
      expect(await db.partitions()).toEqual(NEW)
      await db.startConversation(SIZE)
      await Promise.all([add(db.engine), add(db.openOther())])
      expect(await db.partitions()).toEqual([...NEW.slice(0, 2), `event_2 ${inRange(2)}`, ...NEW.slice(2)])
      await db.say(2 * SIZE, 1)
      await expect(db.say(2 * SIZE, 1)).rejects.toThrow("duplicate key")
      expect(await db.partitionsOf(2 * SIZE)).toEqual(["event_2"])
    })

    test("are added at the start; a partition that cannot be created is logged, and the store opens", async () => {
      await using db = await openEvents(create)
      const logged: Record<string, unknown>[] = []
      const warn = (event: string, fields: Record<string, unknown> = {}) =>
        void (event === "partitions_not_added" && logged.push(fields))
      await db.query(`SELECT setval('conversation_key_seq', ${SIZE}); CREATE TABLE event_2 (in_the_way TEXT)`)
      await using store = await openStore({ url: db.url, log: { info() {}, warn, error: warn } })
      await store.addPartitions()
      expect(logged.map(({ error }) => String(error))).toEqual([expect.stringContaining("event_2")])
      await db.query("DROP TABLE event_2")
      await store.addPartitions()
      expect(await db.partitions()).toContain(`event_2 ${inRange(2)}`)
    })

    test("are added every hour by a running server", async () => {
      await using database = await create()
      const clock = new TurnedClock()
      await using face = await Face.open({ url: database.url, model: scripted(), clock })
      const running = await startServer(face.server, await listenOn(face.server, 0))
      const { engine } = face.store
      const started = { sql: `SELECT setval('conversation_key_seq', ${SIZE})`, values: [] }
      await engine.change({ type: "statements", statements: [started] })
      // The addition at the start may end only after the first of these hours.
      const added = async () => {
        await clock.advance(60 * 60_000)
        return engine.query("SELECT to_regclass('event_2')::text AS added", [])
      }
      await expect.poll(added).toEqual([{ added: "event_2" }])
      await running.close(0)
    })

    test.each(["before it", "after it, with its answer lost"] as const)(
      "are added by the next node if one is killed at any statement, %s",
      async (when) => {
        await using db = await openEvents(create)
        await db.startConversation(SIZE)
        for (let fatal = 1; !(await addUntil(db.url, { fatal, when })); fatal++) await db.say(1, 4 + fatal)
        expect(await db.partitions()).toHaveLength(4)
      },
    )

    test("are not added while the rest is too large to be read under a lock, and no writer waits for it", async () => {
      await using db = await openEvents(create)
      await db.query(`INSERT INTO event (conversation, position, type, version, at, content)
      SELECT ${5 * SIZE}, n, 'message', 1, 0, repeat('x', 1900) FROM generate_series(1, 36000) AS n`)
      await expect(add(db.engine)).rejects.toThrow("event_rest has become too large")
      await db.query("TRUNCATE event_rest")
      await add(db.engine)
      expect(await db.partitions()).toEqual(NEW)
    })

    test.each([
      ["FULL", "f"],
      ["NOTHING", "n"],
      ["USING INDEX event_1_conversation_position_idx", "i"],
    ])("copy the settings of the last one, with the replica identity %s", async (how, identity) => {
      await using db = await openEvents(create)
      await db.query(`ALTER TABLE event_1 SET (autovacuum_vacuum_threshold = 77, fillfactor = 90);
      ALTER TABLE event_1 REPLICA IDENTITY ${how}`)
      await db.startConversation(SIZE)
      await add(db.engine)
      const settings = "SELECT reloptions, relreplident::text AS identity FROM pg_class WHERE relname = 'event_2'"
      expect(await db.query(settings)).toEqual([
        { reloptions: ["autovacuum_vacuum_threshold=77", "fillfactor=90"], identity },
      ])
    })

    test("are not required: events go to the rest, are read there, and stay when later partitions are added", async () => {
      await using db = await openEvents(create)
      const key = 5 * SIZE + 1
      await db.say(key, 1)
      expect(await db.engine.events(key, { after: 0, upTo: 9, limit: 9 })).toHaveLength(1)
      await add(db.engine)
      expect((await db.partitions()).slice(2)).toEqual([`event_6 ${inRange(6)}`, "event_rest DEFAULT"])
      await db.say(key, 2)
      expect(await db.partitionsOf(key)).toEqual(["event_rest", "event_rest"])
    })

    test("are added only by the owner of the table, and another role is named in the error", async () => {
      await using db = await openEvents(create)
      const serving = `pawl_test_serving_${randomBytes(6).toString("hex")}`
      const url = new URL(db.url)
      url.searchParams.set("options", `-c role=${serving}`)
      try {
        await db.query(`CREATE ROLE ${serving}; GRANT SELECT ON event, conversation TO ${serving}`)
        const node = openPostgres({ url: url.href, durability: "full", connections: 1 })
        await add(node)
        await db.say(SIZE, 1)
        await expect(add(node)).rejects.toThrow("run pawl migrate as that role")
        await node.close()
      } finally {
        await db.query(`DROP OWNED BY ${serving}; DROP ROLE ${serving}`)
      }
    })

    test("are read one at a time, by every statement that reads events", async () => {
      await using db = await openEvents(create)
      await db.query("SET plan_cache_mode = force_generic_plan")
      for (const [sql, values] of reads) {
        const types = values.map((value) =>
          Array.isArray(value) ? "bigint[]" : typeof value === "string" ? "text" : "bigint",
        )
        await db.query(`PREPARE reads (${types.join(", ")}) AS ${sql}`)
        const literals = values
          .map((value) => (Array.isArray(value) ? `'{${value.join(",")}}'` : `'${value}'`))
          .join(", ")
        const [plan] = await db.query(`EXPLAIN (ANALYZE, COSTS OFF, FORMAT JSON) EXECUTE reads (${literals})`)
        expect(tablesRead(plan), sql).toEqual(["event_0"])
        await db.query("DEALLOCATE reads")
      }
    })

    test("release the table if their process freezes in the transaction", async () => {
      await using db = await openEvents(create)
      const frozen = await connect(db.url)
      const ended = new Promise((resolve) => frozen.once("error", resolve))
      const isLocked = Promise.withResolvers<void>()
      void shortTransaction(frozen, { lockMs: 2000, idleMs: 300 }, async () => {
        await frozen.query("LOCK TABLE event IN ACCESS EXCLUSIVE MODE")
        isLocked.resolve()
        await new Promise(() => {}) // the process never sends anything again
      })
      await isLocked.promise
      expect(await db.query("SELECT count(*)::int AS n FROM event")).toEqual([{ n: 12 }])
      expect(await ended).toMatchObject({ code: "25P03" }) // idle in its transaction
      await frozen.end()
    })

    test("are added with time-outs of their own, whatever the role has", async () => {
      await using db = await openEvents(create)
      await db.query("SET statement_timeout = 60001; SET idle_in_transaction_session_timeout = 0; SET lock_timeout = 0")
      const times = ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "transaction_timeout"]
      const text = `SELECT current_setting('${times.join("', true) AS a, current_setting('")}', true)`
      const rows = await shortTransaction(db.client, { lockMs: 2000 }, async () =>
        (await db.client.query({ text, rowMode: "array" })).rows.flat(),
      )
      expect(rows).toEqual(["10s", "2s", "5s", "30s"])
    })
  },
)

const add = (engine: Engine) => engine.addPartition(partitionedEvent, 2000)

/** Three conversations of four events each, an engine, and another client. */
async function openEvents(create: TestDatabase["create"]) {
  const database = await create()
  const { url } = database
  const open = () => openPostgres({ url, durability: "normal", connections: 4 })
  const engines = [open()]
  const client = await connect(url)
  await client.query(`INSERT INTO person (id, name, created_at) VALUES ('user_ada', 'ada', 0);
    INSERT INTO conversation (id, person, agent, mode, status, fence, created_at, updated_at)
      SELECT 'conv_' || n, 1, 'test', 'confirm', 'completed', 1, 0, 0 FROM generate_series(1, 3) AS n;
    INSERT INTO event (conversation, position, type, version, at, message_id, role, seq, content)
      SELECT c, p, 'message', 1, p, 'msg_' || c || '_' || p, 'user', p, 'word ' || p
      FROM generate_series(1, 3) AS c, generate_series(1, 4) AS p`)
  const query = async <Row extends object>(sql: string, values: unknown[] = []) =>
    (await client.query<Row & pg.QueryResultRow>(sql, values)).rows as Row[]
  return {
    ...{ url, client, query, engine: engines[0]! },
    openOther: () => {
      engines.push(open())
      return engines.at(-1)!
    },
    startConversation: (key: number) => query("SELECT setval('conversation_key_seq', $1::bigint)", [key]),
    partitions: async () => (await query<{ partition: string }>(PARTITIONS)).map(({ partition }) => partition),
    partitionsOf: async (conversation: number) => {
      const sql = "SELECT tableoid::regclass::text AS name FROM event WHERE conversation = $1 ORDER BY position"
      return (await query<{ name: string }>(sql, [conversation])).map(({ name }) => name)
    },
    say: (conversation: number, position: number) =>
      query(
        `INSERT INTO event (conversation, position, type, version, at, role, content)
          VALUES ($1, $2, 'message', 1, 0, 'user', 'later')`,
        [conversation, position],
      ),
    async [Symbol.asyncDispose]() {
      await client.end().catch(() => {})
      await Promise.all(engines.map((each) => each.close()))
      await database[Symbol.asyncDispose]()
    },
  }
}

const PARTITIONS = `SELECT relid::regclass::text || ' ' || pg_get_expr(relpartbound, relid) AS partition
  FROM pg_partition_tree('event') JOIN pg_class ON oid = relid WHERE isleaf ORDER BY 1`

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on("error", () => {}) // a test may have its session ended
  await client.connect()
  return client
}

/** Whether it finished. Nothing that its process sends after it was killed reaches the database. */
async function addUntil(url: string, death: { fatal: number; when: string }): Promise<boolean> {
  const pool = new PostgresPool({ url, connections: 1 })
  const dying = { use: (work, patience) => pool.use((client) => work(mortal(client, death)), patience) } as PostgresPool
  try {
    await addPartition(dying, partitionedEvent, 5000)
    return true
  } catch (error) {
    if ((error as Error).message !== "died") throw error
    return false
  } finally {
    await pool.close()
  }
}

function mortal(client: PoolClient, { fatal, when }: { fatal: number; when: string }): PoolClient {
  let sent = 0
  const died = () => Object.assign(new Error("died"), { code: "ECONNRESET" })
  const query = async (...words: [string, unknown[]]) => {
    if (++sent > fatal || (sent === fatal && when === "before it")) throw died()
    const result = await client.query(...words)
    if (sent === fatal) throw died()
    return result
  }
  return { query } as unknown as PoolClient
}

const KEY = "(SELECT key FROM conversation WHERE id = $1)"
const reads: readonly [string, readonly (number | string | number[])[]][] = [
  [numberPlaceholders(EVENTS, 4), [1, 0, 9, 9]],
  [numberPlaceholders(EVENTS_TO_REPLAY, 3), [1, 1, 1]],
  [numberPlaceholders(EVENTS_WITHOUT_SNAPSHOT, 2), ["1", "conv_1"]],
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

/** The tables of a plan that were read when it was executed. */
function tablesRead(plan: unknown): string[] {
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
