import type { PoolClient } from "pg"
import { describe, expect, test } from "vitest"
import { partitionedEvent } from "../../src/store/engine/partitioned.ts"
import { partition } from "../../src/store/engine/postgres/partition.ts"
import { PostgresPool } from "../../src/store/engine/postgres/pool.ts"
import { longStatement, shortTransaction } from "../../src/store/engine/postgres/short-transaction.ts"
import { databases } from "../support/databases.ts"
import { connect, openOlderEvents, SIZE } from "../support/older-events.ts"

/** What there is of the change: the bound, whether it was held against the rows, and the parts. */
const STATE = `SELECT relkind, (SELECT convalidated FROM pg_constraint WHERE conname = 'event_bound') AS checked,
  (SELECT count(*)::int FROM pg_inherits WHERE inhparent = c.oid) AS parts FROM pg_class c WHERE oid = 'event'::regclass`

describe.each(databases.filter(({ name }) => name === "postgres"))("making parts on $name", ({ createCopy }) => {
  test.each(["before it", "after it, with its answer lost"] as const)(
    "is gone on with by the next node when one dies at any statement, %s",
    async (when) => {
      await using older = await openOlderEvents(createCopy)
      const states = [await older.query(STATE)]
      let position = 4
      let lives = 0
      // Whenever a death has left more than there was, the next ones begin at the first statement again.
      for (let fatal = 1, isOver = false; !isOver; lives++) {
        isOver = await liveUntil(older.url, { fatal, when })
        await older.say(1, ++position) // whatever was left, nodes of the version before go on
        expect(await older.query("SELECT count(*)::int AS n FROM messages")).toEqual([{ n: position + 8 }])
        const state = await older.query(STATE)
        const isNew = JSON.stringify(state) !== JSON.stringify(states.at(-1))
        if (isNew) states.push(state)
        fatal = isNew ? 1 : fatal + 1
      }
      expect(states.map(([state]) => state)).toEqual([
        { relkind: "r", checked: null, parts: 0 },
        { relkind: "r", checked: false, parts: 0 },
        { relkind: "r", checked: true, parts: 0 },
        { relkind: "p", checked: null, parts: 3 },
      ])
      expect(lives).toBeGreaterThan(15)
      expect(await older.upgrade()).toEqual(["040_event_partitions"])
      expect(await older.partsOf(1)).toEqual(Array.from({ length: position }, () => "event_0"))
    },
  )

  test("puts a bound that was left behind farther away before anything comes near it", async () => {
    await using older = await openOlderEvents(createCopy)
    await older.query(`ALTER TABLE event ADD CONSTRAINT event_bound CHECK (conversation < ${2 * SIZE}) NOT VALID`)
    await older.query(`SELECT setval('conversation_key_seq', ${2 * SIZE - 9})`)
    await older.upgrade()
    expect((await older.allParts())[0]).toBe(`event_0 FOR VALUES FROM (MINVALUE) TO ('${3 * SIZE}')`)
  })

  test("lets go of the table when its process has frozen in the middle", async () => {
    await using older = await openOlderEvents(createCopy)
    const frozen = await connect(older.url)
    const ended = new Promise((resolve) => frozen.once("error", resolve))
    const isLocked = Promise.withResolvers<void>()
    void shortTransaction(frozen, { lockMs: 2000, idleMs: 300 }, async () => {
      await frozen.query("LOCK TABLE event IN ACCESS EXCLUSIVE MODE")
      isLocked.resolve()
      await new Promise(() => {}) // nothing more is ever heard of it
    })
    await isLocked.promise
    expect(await older.query("SELECT count(*)::int AS n FROM event")).toEqual([{ n: 12 }])
    expect(await ended).toMatchObject({ code: "25P03" }) // idle in its transaction
    await frozen.end()
  })

  test("has its own time-outs, whatever its role has", async () => {
    await using older = await openOlderEvents(createCopy)
    const client = older.other
    await client.query(
      "SET statement_timeout = 60001; SET idle_in_transaction_session_timeout = 0; SET lock_timeout = 0",
    )
    const times = ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "transaction_timeout"]
    const read = `SELECT current_setting('${times.join("', true) AS a, current_setting('")}', true)`
    const rows = await shortTransaction(client, { lockMs: 2000 }, async () =>
      (await client.query({ text: read, rowMode: "array" })).rows.flat(),
    )
    expect(rows).toEqual(["10s", "2s", "5s", "30s"])
    await longStatement(client, 2000, "CREATE TABLE told AS SELECT current_setting('statement_timeout') AS time")
    expect(await older.query("SELECT time FROM told")).toEqual([{ time: "0" }])
  })
})

/** Whether it came to its end. Nothing that its process has sent after its death reaches the database. */
async function liveUntil(url: string, death: { fatal: number; when: string }): Promise<boolean> {
  const pool = new PostgresPool({ url, connections: 1 })
  const dying = { use: (work, patience) => pool.use((client) => work(mortal(client, death)), patience) } as PostgresPool
  try {
    await partition(dying, partitionedEvent, 5000)
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
