import { randomBytes } from "node:crypto"
import { describe, expect, test } from "vitest"
import { databases } from "../support/databases.ts"
import { listening, openOlderEvents, SIZE } from "../support/older-events.ts"

/** What an operator has made over the table, and finds again when it has parts. */
describe.each(databases.filter(({ name }) => name === "postgres"))(
  "an upgrade to parts on $name",
  ({ createEmpty }) => {
    test("keeps views, with their options, and what others have built on them", async () => {
      await using older = await openOlderEvents(createEmpty)
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

    test("tells which views it could not keep", async () => {
      await using older = await openOlderEvents(createEmpty)
      await older.query(`CREATE VIEW whole AS SELECT e FROM event e;
      CREATE MATERIALIZED VIEW counted AS SELECT count(*) FROM event`)
      const { log, told } = listening("views_read_first_part")
      await older.upgrade(log)
      expect(await told).toMatchObject({ table: "event", views: ["counted", "whole"] })
      expect(await older.query("SELECT 1 FROM whole")).toHaveLength(12)
    })

    test("keeps who owns the table and who may read it, but for those whom a policy held back", async () => {
      await using older = await openOlderEvents(createEmpty)
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

    test("gives nobody more than a policy let them have", async () => {
      await using older = await openOlderEvents(createEmpty)
      const reader = newRole("reader")
      try {
        await older.query(`CREATE ROLE ${reader}; GRANT SELECT ON event TO ${reader}; ALTER TABLE event ENABLE ROW LEVEL SECURITY;
        CREATE POLICY first ON event USING (position = 1)`)
        await older.upgrade()
        await older.query(`SET ROLE ${reader}`)
        await expect(older.query("SELECT 1 FROM event")).rejects.toThrow("permission denied")
        expect(await older.query("SELECT 1 FROM event_0")).toHaveLength(3)
      } finally {
        await older.query(`RESET ROLE; DROP OWNED BY ${reader}; DROP ROLE ${reader}`)
      }
    })

    test("leaves indexes and columns of an operator where they are", async () => {
      await using older = await openOlderEvents(createEmpty)
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
  },
)

/** Roles are those of the whole server, which tests share. */
const newRole = (name: string) => `pawl_test_${name}_${randomBytes(6).toString("hex")}`
