import { randomBytes } from "node:crypto"
import pg from "pg"
import type { Log } from "../../src/agent/ports.ts"
import type { Engine } from "../../src/store/engine/engine.ts"
import { openPostgres, postgresWords } from "../../src/store/engine/open-postgres.ts"
import { partitionedEvent } from "../../src/store/engine/partitioned.ts"
import { migrations } from "../../src/store/migrations/list.ts"
import { migrate } from "../../src/store/migrations/migrate.ts"
import type { TestDatabase } from "./databases.ts"

export const SIZE = partitionedEvent.size
const STEP = "040_event_partitions"
const place = migrations.findIndex(({ name }) => name === STEP)
const before = migrations.slice(0, place)
/** The version that made the parts: what came later is none of this. */
export const withParts = migrations.slice(0, place + 1)

/** Which part each event of a conversation lies in, in the order of the journal. */
const PARTS = "SELECT tableoid::regclass::text AS part FROM event WHERE conversation = $1 ORDER BY position"
const ALL_PARTS = `SELECT relid::regclass::text || ' ' || pg_get_expr(relpartbound, relid) AS part
  FROM pg_partition_tree('event') JOIN pg_class ON oid = relid WHERE isleaf ORDER BY 1`

/** A database of the version before `event` had parts, with conversations in it, and somebody else who is connected. */
export async function openOlderEvents(createCopy: TestDatabase["createCopy"]) {
  const database = await createCopy(makeOlderEvents)
  const { url } = database
  const open = () => openPostgres({ url, durability: "normal", connections: 4 })
  const engine = open()
  const other = await connect(url)
  const opened = new Set([engine])
  return {
    ...{ url, engine, other },
    upgrade: (log?: Log) => migrate(engine, postgresWords, { log, known: withParts }),
    /** Another node. */
    openOther: () => {
      const another = open()
      opened.add(another)
      return another
    },
    close: (node: Engine) => (opened.delete(node), node.close()),
    query: async <Row extends object>(sql: string, values: unknown[] = []) =>
      (await other.query<Row & pg.QueryResultRow>(sql, values)).rows as Row[],
    partsOf: async (conversation: number) => (await other.query(PARTS, [conversation])).rows.map(({ part }) => part),
    allParts: async () => (await other.query<{ part: string }>(ALL_PARTS)).rows.map(({ part }) => part),
    /** As a node of the version before writes. */
    say: (conversation: number, position: number) => other.query(toInsert(conversation, position)),
    async [Symbol.asyncDispose]() {
      await other.end().catch(() => {})
      await Promise.all([...opened].map((each) => each.close()))
      await database[Symbol.asyncDispose]()
    },
  }
}

async function makeOlderEvents(url: string): Promise<void> {
  const engine = openPostgres({ url, durability: "normal", connections: 1 })
  await migrate(engine, postgresWords, { known: before })
  await engine.close()
  const client = await connect(url)
  await client.query(`INSERT INTO person (id, name, created_at) VALUES ('user_ada', 'ada', 0);
    INSERT INTO conversation (id, person, agent, mode, status, fence, created_at, updated_at)
      SELECT 'conv_' || n, 1, 'test', 'confirm', 'completed', 1, 0, 0 FROM generate_series(1, 3) AS n;
    INSERT INTO event (conversation, position, type, version, at, message_id, role, seq, content)
      SELECT c, p, 'message', 1, p, 'msg_' || c || '_' || p, 'user', p, 'word ' || p
      FROM generate_series(1, 3) AS c, generate_series(1, 4) AS p`)
  await client.end()
}

export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on("error", () => {}) // a test may have its session ended
  await client.connect()
  return client
}

/** Prepared under a name, and kept prepared by its connection. */
export function toInsert(conversation: number, position: number): pg.QueryConfig {
  const text = `INSERT INTO event (conversation, position, type, version, at, role, content)
    VALUES ($1, $2, 'message', 1, 0, 'user', 'later')`
  return { name: "say", text, values: [conversation, position] }
}

/** A log, and what it is told first under this name. */
export function listening(name: string): { log: Log; told: Promise<Record<string, unknown>> } {
  const { promise: told, resolve } = Promise.withResolvers<Record<string, unknown>>()
  const hear: Log["warn"] = (event, fields) => void (event === name && resolve(fields))
  return { log: { info: hear, warn: hear, error: hear }, told }
}

/** Roles are those of the whole server, which tests share. */
export const newRole = (name: string): string => `pawl_test_${name}_${randomBytes(6).toString("hex")}`

/** Of sessions that act as another role than the one that logs in, as `ALTER ROLE … SET role` has it. */
export function actingAs(url: string, role: string): string {
  const acting = new URL(url)
  acting.searchParams.set("options", `-c role=${role}`)
  return acting.href
}
