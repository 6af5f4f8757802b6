import { describe, expect, test } from "vitest"
import type { Log } from "../../src/agent/ports.ts"
import { openPostgres } from "../../src/store/engine/open-postgres.ts"
import { partitionedEvent } from "../../src/store/engine/partitioned.ts"
import { openStore } from "../../src/store/store.ts"
import { databases } from "../support/databases.ts"
import { actingAs, newRole, openOlderEvents, SIZE } from "../support/older-events.ts"

const STEP = "040_event_partitions"
const SHAPE = `SELECT relkind, (SELECT count(*)::int FROM pg_constraint WHERE conname = 'event_bound') AS bounds
  FROM pg_class WHERE oid = 'event'::regclass`
const AS_IT_WAS = [{ relkind: "r", bounds: 0 }]

/** Nobody needs parts: whatever is in their way, a node serves without them and says what is the matter. */
describe.each(databases.filter(({ name }) => name === "postgres"))("parts on $name", ({ createCopy }) => {
  test.each([
    ["a name is taken", "CREATE TABLE event_rest ()", "event_rest", "DROP TABLE event_rest"],
    [
      "the table has policies",
      "ALTER TABLE event ENABLE ROW LEVEL SECURITY",
      "row-level security",
      "ALTER TABLE event DISABLE ROW LEVEL SECURITY",
    ],
    [
      "something is in the way that shows only at the end",
      "CREATE TABLE above (conversation BIGINT NOT NULL); ALTER TABLE event INHERIT above",
      "inheritance",
      "ALTER TABLE event NO INHERIT above",
    ],
  ])("are left where %s, and made when that is over", async (_, obstacle, problem, removal) => {
    await using older = await openOlderEvents(createCopy)
    await older.query(obstacle)
    const { log, told } = keeping("partitions_not_added")
    await using store = await openStore({ url: older.url, log })
    expect(store.leftSteps).toEqual([STEP])
    await store.addPartitions()
    expect(told.map(({ error }) => String(error))).toEqual([expect.stringContaining(problem)])
    expect(await older.query(SHAPE)).toEqual(AS_IT_WAS)
    await older.say(3 * SIZE, 1)
    await older.query(`DELETE FROM event WHERE conversation = ${3 * SIZE}; ${removal}`)
    await store.addPartitions()
    expect(await older.allParts()).toHaveLength(3)
    await using next = await openStore({ url: older.url, log })
    expect([next.leftSteps, told.length]).toEqual([[], 1])
  })

  test("take the bound of an earlier attempt away where they cannot be made", async () => {
    await using older = await openOlderEvents(createCopy)
    await older.query(`ALTER TABLE event ADD CONSTRAINT event_bound CHECK (conversation < ${2 * SIZE});
      ALTER TABLE event ENABLE ROW LEVEL SECURITY`)
    expect(await older.upgrade()).toEqual([])
    expect(await older.query(SHAPE)).toEqual(AS_IT_WAS)
  })

  test("tell of views that read only the first of them at every start, whoever has made them", async () => {
    await using older = await openOlderEvents(createCopy)
    await older.query(`CREATE VIEW whole AS SELECT e FROM event e;
      CREATE MATERIALIZED VIEW counted AS SELECT count(*) FROM event`)
    await older.upgrade()
    const { log, told } = keeping("views_read_first_part")
    await using store = await openStore({ url: older.url, log })
    await store.addPartitions()
    expect(told).toMatchObject([{ table: "event", views: ["counted", "whole"] }])
    expect(await older.query("SELECT 1 FROM whole")).toHaveLength(12)
    await older.query("DROP VIEW whole; DROP MATERIALIZED VIEW counted; CREATE VIEW lately AS SELECT FROM event_0")
    await store.addPartitions()
    expect(told.slice(1)).toMatchObject([{ views: ["lately"] }])
  })

  test("are made as the role that the session acts as, which leaves the views of whoever has logged in", async () => {
    await using older = await openOlderEvents(createCopy)
    const owner = newRole("owner")
    try {
      await older.query(`CREATE ROLE ${owner}; GRANT ALL ON SCHEMA public TO ${owner};
        ALTER TABLE event OWNER TO ${owner}; GRANT SELECT ON conversation TO ${owner}`)
      const node = openPostgres({ url: actingAs(older.url, owner), durability: "full", connections: 1 })
      expect(await node.query("SELECT current_user::text AS role", [])).toEqual([{ role: owner }])
      expect(await node.partition(partitionedEvent, 2000)).toEqual(["messages"])
      await node.close()
    } finally {
      await older.query(`DROP OWNED BY ${owner} CASCADE; DROP ROLE ${owner}`)
    }
  })

  test("are made by the owner only, and whoever is another says so", async () => {
    await using older = await openOlderEvents(createCopy)
    await older.upgrade()
    const serving = newRole("serving")
    try {
      await older.query(`CREATE ROLE ${serving}; GRANT SELECT ON event, conversation TO ${serving}`)
      const node = openPostgres({ url: actingAs(older.url, serving), durability: "full", connections: 1 })
      expect(await node.partition(partitionedEvent, 2000)).toEqual([])
      await older.say(2 * SIZE, 1)
      await expect(node.partition(partitionedEvent, 2000)).rejects.toThrow("run pawl migrate as that role")
      await node.close()
    } finally {
      await older.query(`DROP OWNED BY ${serving}; DROP ROLE ${serving}`)
    }
  })
})

/** A log, and all that it is told under this name. */
function keeping(name: string): { log: Log; told: Record<string, unknown>[] } {
  const told: Record<string, unknown>[] = []
  const hear: Log["warn"] = (event, fields) => void (event === name && told.push(fields))
  return { log: { info: hear, warn: hear, error: hear }, told }
}
