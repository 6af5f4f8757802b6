import { describe, expect, test } from "vitest"
import { partitionedEvent } from "../../src/store/engine/partitioned.ts"
import { databases } from "../support/databases.ts"
import { newRole, openOlderEvents, SIZE } from "../support/older-events.ts"

/** What an operator has made over the table, and finds again when it has parts. */
describe.each(databases.filter(({ name }) => name === "postgres"))("an upgrade to parts on $name", ({ createCopy }) => {
  test("keeps views, with their options, and what others have built on them", async () => {
    await using older = await openOlderEvents(createCopy)
    await older.query(`ALTER VIEW messages SET (security_barrier = true);
      CREATE VIEW words AS SELECT content FROM messages WHERE role = 'user';
      CREATE SCHEMA "Reports"; CREATE VIEW "Reports"."By type" WITH (security_invoker = true) AS
        SELECT type, count(*)::int AS n FROM public.event GROUP BY type`)
    await older.upgrade()
    // In a part that the old table is not.
    await older.query(`INSERT INTO conversation (key, id, person, agent, mode, status, fence, created_at, updated_at)
      VALUES (${2 * SIZE}, 'conv_late', 1, 'test', 'confirm', 'completed', 1, 0, 0)`)
    await older.say(2 * SIZE, 1)
    expect(await older.query("SELECT content FROM messages WHERE conversation_id = 'conv_late'")).toHaveLength(1)
    expect(await older.query("SELECT 1 FROM words WHERE content = 'later'")).toHaveLength(1)
    expect(await older.query('SELECT * FROM "Reports"."By type"')).toEqual([{ type: "message", n: 13 }])
    const options = "SELECT reloptions FROM pg_class WHERE relname IN ('messages', 'By type') ORDER BY relname"
    expect(await older.query(options)).toEqual([
      { reloptions: ["security_invoker=true"] },
      { reloptions: ["security_barrier=true"] },
    ])
  })

  test("keeps who owns the table and who may read it", async () => {
    await using older = await openOlderEvents(createCopy)
    const [owner, reader] = [newRole("owner"), newRole("reader")]
    try {
      await older.query(`CREATE ROLE ${owner}; CREATE ROLE ${reader}; GRANT ALL ON SCHEMA public TO ${owner};
        ALTER TABLE event OWNER TO ${owner}; GRANT SELECT ON conversation TO ${owner};
        GRANT SELECT ON event TO ${reader} WITH GRANT OPTION; GRANT UPDATE (content) ON event TO ${reader}`)
      await older.upgrade()
      await older.query(`SET ROLE ${reader}`)
      expect(await older.query("SELECT 1 FROM event")).toHaveLength(12)
      await expect(older.query("DELETE FROM event")).rejects.toThrow("permission denied")
      await older.query("UPDATE event SET content = 'mine' WHERE conversation = 1 AND position = 1 AND false")
      await older.query("RESET ROLE")
      const owners = "SELECT DISTINCT pg_get_userbyid(relowner) AS owner FROM pg_class WHERE relname ~ '^event(_|$)'"
      expect(await older.query(owners)).toEqual([{ owner }])
    } finally {
      await older.query(
        `RESET ROLE; DROP OWNED BY ${owner} CASCADE; DROP OWNED BY ${reader}; DROP ROLE ${owner}; DROP ROLE ${reader}`,
      )
    }
  })

  test.each([
    ["FULL", "f"],
    ["NOTHING", "n"],
    ["USING INDEX event_place", "i"],
  ])("keeps how deleted rows are told apart that are published, %s, also in parts made later", async (how, kept) => {
    await using older = await openOlderEvents(createCopy)
    await older.query(`ALTER TABLE event REPLICA IDENTITY ${how}`)
    await older.upgrade()
    await older.query("SELECT setval('conversation_key_seq', $1::bigint)", [2 * SIZE])
    await older.engine.partition(partitionedEvent, 2000)
    const identities = `SELECT relname || ' ' || relreplident::text AS part FROM pg_class
        WHERE relkind = 'r' AND relname ~ '^event_' ORDER BY 1`
    expect((await older.query<{ part: string }>(identities)).map(({ part }) => part)).toEqual(
      ["event_0", "event_2", "event_3", "event_rest"].map((part) => `${part} ${kept}`),
    )
  })

  test("lets rows be deleted from a table that is published", async () => {
    await using older = await openOlderEvents(createCopy)
    await older.query("ALTER TABLE event REPLICA IDENTITY FULL; CREATE PUBLICATION everything FOR ALL TABLES")
    await older.upgrade()
    for (const key of [2 * SIZE, 9 * SIZE]) await older.say(key, 1)
    await older.query("DELETE FROM event")
    expect(await older.query("SELECT 1 FROM event")).toEqual([])
  })

  test("vacuums the parts that come as the table was", async () => {
    await using older = await openOlderEvents(createCopy)
    await older.query("ALTER TABLE event SET (fillfactor = 90, toast.autovacuum_vacuum_threshold = 77)")
    await older.upgrade()
    const options = `SELECT p.relname AS part, p.reloptions AS own, t.reloptions AS toast FROM pg_class p
        JOIN pg_class t ON t.oid = p.reltoastrelid WHERE p.relname ~ '^event_' ORDER BY 1`
    expect(await older.query(options)).toEqual(
      ["event_0", "event_2", "event_rest"].map((part) => {
        return { part, own: ["fillfactor=90"], toast: ["autovacuum_vacuum_threshold=77"] }
      }),
    )
  })

  test("leaves indexes and columns of an operator where they are", async () => {
    await using older = await openOlderEvents(createCopy)
    await older.query(`ALTER TABLE event ADD COLUMN region TEXT DEFAULT 'eu'; CREATE INDEX by_type ON event (type);
      ALTER TABLE event DROP COLUMN region, ADD COLUMN zone TEXT DEFAULT 'eu-1'; ALTER TABLE event ALTER content SET STORAGE EXTERNAL`)
    await older.upgrade()
    await older.say(2 * SIZE, 1)
    expect(await older.query("SELECT DISTINCT zone FROM event")).toEqual([{ zone: "eu-1" }])
    expect(await older.query("SELECT tablename FROM pg_indexes WHERE indexname = 'by_type'")).toEqual([
      { tablename: "event_0" },
    ])
    const storage =
      "SELECT DISTINCT attstorage FROM pg_attribute WHERE attname = 'content' AND attrelid::regclass::text LIKE 'event%'"
    expect(await older.query(storage)).toEqual([{ attstorage: "e" }])
  })
})
