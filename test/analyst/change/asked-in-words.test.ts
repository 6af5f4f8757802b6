import { mkdirSync, mkdtempSync, readdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { beforeAll, describe, expect, inject, test } from "vitest"
import { OutboundPolicy } from "../../../core/models/network/outbound-policy.ts"
import { TurnedClock } from "../../../core/engine/turned-clock.fixture.ts"
import { always, calls, says, scripted } from "../../../core/testing.ts"
import { type ChangeTarget, changeTargets, kinds } from "../change-targets.ts"
import { anyDatabase } from "../../support/databases.ts"
import { Face, type Visitor } from "../../support/server/face.ts"

const CUSTOMERS = "SELECT id, name, town FROM customer ORDER BY id"

describe.each(anyDatabase)("a change proposed by a model on $name", ({ create }) => {
  describe.each(kinds)("of a %s database", (kind) => {
    let face: Face
    let ada: Visitor
    let target: ChangeTarget
    let connection: string
    const clock = new TurnedClock(Date.now())

    beforeAll(async () => {
      const root = mkdtempSync(join(tmpdir(), inject("testRun"), "changes-"))
      mkdirSync(join(root, "shared"))
      // Turns a statement in the message into a tool call.
      const model = scripted(
        always(({ history }) => {
          const last = history.at(-1)
          if (last?.role !== "user") return says("I see.")
          return calls("change_database", { sql: last.text, why: "Because I was asked." })
        }),
      )
      const settings = { sqliteRoot: root, reach: new OutboundPolicy(["127.0.0.1"]), clock }
      face = await Face.open({ url: (await create()).url, model, ...settings })
      ada = await face.as("ada")
      const { id } = (await ada.get("/api/auth/me")).body.user
      target = await changeTargets[kind](root, id)
      connection = await connect({ writable: true })
      return async () => {
        await face[Symbol.asyncDispose]()
        await target.close()
      }
    })

    const connect = async (more: object) => {
      const reply = await ada.post("/api/connections", { name: "Shop", ...target.connection, ...more })
      expect(reply.status, reply.text).toBe(201)
      return reply.body.id as string
    }

    /** Has the statement proposed in a new conversation. */
    const propose = async (sql: string, connectionId: string | null = connection, mode = "confirm") => {
      const chat = await ada.begin({ agent: "analyst", mode, ...(connectionId ? { connectionId } : {}) })
      const { body } = await ada.say(chat, sql)
      const result = body.messages.findLast((message: { role: string }) => message.role === "tool")?.content as string
      return { chat, proposal: body.proposals[0], result }
    }
    const decide = (id: string, what: "commit" | "reject") => ada.post(`/api/agent/proposals/${id}/${what}`, {})
    const statusOf = async (id: string) => (await ada.get(`/api/agent/proposals/${id}`)).body.status

    test("shows the rows before and after, changes nothing before approval, and is applied once", async () => {
      const before = await target.rows(CUSTOMERS)
      const { proposal } = await propose("UPDATE customer SET town = 'Paris' WHERE name IN ('Ada', 'Bo')")
      expect(proposal).toMatchObject({ tool: "change_database", action: "destructive_update", undoable: false })
      expect(proposal.summary).toMatch(/Shop: 2 row\(s\) would be changed in "?customer"?\. Because I was asked\./)
      const cell = kind === "sqlite" ? [1, 2] : ["1", "2"]
      expect(proposal.diff).toEqual({
        before: {
          columns: ["id", "name", "town"],
          rows: [
            [cell[0], "Ada", "London"],
            [cell[1], "Bo", null],
          ],
          rowCount: 2,
        },
        after: {
          columns: ["id", "name", "town"],
          rows: [
            [cell[0], "Ada", "Paris"],
            [cell[1], "Bo", "Paris"],
          ],
          rowCount: 2,
        },
      })
      expect(await target.rows(CUSTOMERS)).toEqual(before)
      const done = await decide(proposal.id, "commit")
      expect(done, done.text).toMatchObject({ status: 200, body: { status: "applied" } })
      expect((await target.rows(CUSTOMERS)).map(([, , town]) => town)).toEqual(["Paris", "Paris", "Bonn"])
      expect((await decide(proposal.id, "commit")).status).toBe(409)
      const { items } = (await ada.get("/api/agent/audit")).body
      expect(items[0]).toMatchObject({ tool: "change_database", undoable: false })
    })

    test("what the database makes is shown as that, and is no reason to be stale", async () => {
      const made = kind === "sqlite" ? ["INTEGER", "TEXT"] : ["SERIAL", "TIMESTAMPTZ"]
      await target.rows(
        `CREATE TABLE visit (id ${made[0]} PRIMARY KEY, name TEXT, at ${made[1]} DEFAULT CURRENT_TIMESTAMP)`,
      )
      const { proposal } = await propose("INSERT INTO visit (name) VALUES ('Ada')")
      expect(proposal.action).toBe("safe_create")
      expect(proposal.diff.after.rows).toEqual([
        [
          "(made when applied, such as 1)",
          "Ada",
          expect.stringMatching(/^\(made when applied, such as \d{4}-\d\d-\d\d .*\)$/),
        ],
      ])
      await target.rows("INSERT INTO visit (name) VALUES ('meanwhile')")
      expect((await decide(proposal.id, "commit")).body.status).toBe("applied")
      expect(await target.rows("SELECT count(*), count(at) FROM visit WHERE name = 'Ada'")).toEqual([
        kind === "sqlite" ? [1, 1] : ["1", "1"],
      ])
    })

    test("reports inserts, deletes and cascaded deletes by their action", async () => {
      const added = await propose("INSERT INTO customer (id, name) VALUES (10, 'Di'), (11, 'Ed')")
      expect(added.proposal).toMatchObject({ action: "safe_create", diff: { before: { rows: [] } } })
      expect(added.proposal.diff.after.rows).toHaveLength(2)
      expect((await decide(added.proposal.id, "commit")).body.status).toBe("applied")
      const gone = await propose(
        "WITH old AS (SELECT id FROM customer WHERE id = 1) DELETE FROM customer WHERE id IN (SELECT id FROM old)",
      )
      expect(gone.proposal).toMatchObject({ action: "destructive_delete", diff: { after: null } })
      expect(gone.proposal.summary).toContain("By foreign keys or triggers it also deletes 2 row(s) of purchase.")
      expect((await decide(gone.proposal.id, "commit")).body.status).toBe("applied")
      expect(await target.rows("SELECT count(*) FROM purchase")).toEqual([[kind === "sqlite" ? 0 : "0"]])
      const upsert = await propose(
        "INSERT INTO customer (id, name) VALUES (10, 'Dido'), (1, 'Ada') ON CONFLICT (id) DO UPDATE SET name = excluded.name",
      )
      expect(upsert.proposal).toMatchObject({ action: "destructive_update", diff: { before: { rowCount: 1 } } })
      expect(upsert.proposal.diff.before.rows).toHaveLength(1)
      expect((await decide(upsert.proposal.id, "commit")).body.status).toBe("applied")
      const none = await propose("UPDATE customer SET name = 'x' WHERE id = 99")
      expect(none.proposal).toBeUndefined()
      expect(none.result).toContain("would change nothing")
    })

    test("changes nothing if it is rejected or expires", async () => {
      const before = await target.rows(CUSTOMERS)
      const first = await propose("DELETE FROM customer WHERE id > 2")
      expect((await decide(first.proposal.id, "reject")).status).toBe(200)
      const second = await propose("DELETE FROM customer WHERE id > 2")
      clock.turn(16 * 60_000)
      expect((await decide(second.proposal.id, "commit")).body.code).toBe("proposal_expired")
      expect([await statusOf(first.proposal.id), await statusOf(second.proposal.id)]).toEqual(["rejected", "expired"])
      expect(await target.rows(CUSTOMERS)).toEqual(before)
    })

    test("is stale if any of its rows has changed in the meantime", async () => {
      for (const [sql, meanwhile] of [
        ["UPDATE customer SET town = 'Rome' WHERE id IN (2, 3)", "UPDATE customer SET name = name || '!' WHERE id = 3"],
        ["DELETE FROM customer WHERE name LIKE '%!'", "INSERT INTO customer VALUES (20, 'Fay!', NULL)"],
        [
          "INSERT INTO customer (id, name) SELECT 30, name FROM customer WHERE id = 3",
          "UPDATE customer SET name = 'Gil' WHERE id = 3",
        ],
      ] as const) {
        const { proposal } = await propose(sql)
        await target.rows(meanwhile)
        const before = await target.rows(CUSTOMERS)
        const reply = await decide(proposal.id, "commit")
        expect(reply.body, sql).toMatchObject({ code: "proposal_stale" })
        expect(await target.rows(CUSTOMERS)).toEqual(before)
      }
    })

    test("is not stale if other columns or rows changed, or if the database generates an id or a time", async () => {
      await target.rows("CREATE TABLE log (id INTEGER PRIMARY KEY, said TEXT, at TEXT DEFAULT CURRENT_TIMESTAMP)")
      for (const sql of [
        "UPDATE customer SET town = 'Oslo' WHERE id = 2",
        `INSERT INTO log (${kind === "sqlite" ? "" : "id, "}said) VALUES (${kind === "sqlite" ? "" : "1, "}'hello')`,
        "UPDATE customer SET town = CURRENT_TIMESTAMP WHERE id = 2",
      ]) {
        const { proposal } = await propose(sql)
        await target.rows("UPDATE customer SET name = name || '?' WHERE id = 3")
        expect((await decide(proposal.id, "commit")).body.status, sql).toBe("applied")
      }
    })

    test("is applied once if two clients commit it at the same time", async () => {
      await target.rows("UPDATE customer SET town = '1' WHERE id = 2")
      const { proposal } = await propose("UPDATE customer SET town = town || '1' WHERE id = 2")
      const replies = await Promise.all([1, 2, 3].map(() => decide(proposal.id, "commit")))
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409])
      expect(await target.rows("SELECT town FROM customer WHERE id = 2")).toEqual([["11"]])
    })

    test("needs a database that was opened for it, and one at all", async () => {
      const closed = await connect({})
      expect((await ada.get(`/api/connections/${closed}`)).body.writable).toBe(false)
      const { proposal, result } = await propose("DELETE FROM customer", closed)
      expect(proposal).toBeUndefined()
      expect(result).toContain("read-only. Its owner can allow changes in the connection's settings")
      expect((await propose("DELETE FROM customer", null)).result).toContain("No database is selected")
      expect((await propose("DELETE FROM customer", connection, "read-only")).proposal).toBeUndefined()
      const password = kind === "postgres" ? { password: "secret" } : {}
      expect((await ada.patch(`/api/connections/${closed}`, { writable: true, ...password })).body.writable).toBe(true)
      const late = await propose("UPDATE customer SET town = 'x'", closed)
      expect((await ada.patch(`/api/connections/${closed}`, { writable: false })).body.writable).toBe(false)
      expect((await decide(late.proposal.id, "commit")).body.code).toBe("proposal_stale")
      // The user approved a change of one database, and the conversation has another one now.
      const moved = await propose("UPDATE customer SET town = 'x'")
      await ada.patch(`/api/connections/${closed}`, { writable: true })
      await ada.patch(`/api/conversations/${moved.chat}`, { connectionId: closed })
      expect((await decide(moved.proposal.id, "commit")).body.code).toBe("proposal_stale")
      expect(await target.rows("SELECT count(*) FROM customer WHERE town = 'x'")).toEqual([
        [kind === "sqlite" ? 0 : "0"],
      ])
    })

    test("is one statement that changes rows and does nothing else, or it cannot be proposed", async () => {
      const before = await target.rows(CUSTOMERS)
      for (const sql of REFUSED) {
        const { proposal, result } = await propose(sql)
        expect([sql, proposal]).toEqual([sql, undefined])
        expect(result).toContain("change_database failed: ")
      }
      expect(await target.rows(CUSTOMERS)).toEqual(before)
    })

    test("leaves no other file next to the database, and no session", async () => {
      if (kind === "sqlite") {
        const { path } = target.connection as { path: string }
        const folder = (await target.rows("PRAGMA database_list"))[0]?.[2] as string
        expect(readdirSync(join(folder, "..")).filter((name) => name.startsWith(path))).toEqual([path])
      } else {
        const sql =
          "SELECT count(*)::int FROM pg_stat_activity WHERE usename = current_user AND application_name = 'pawl'"
        await expect.poll(async () => (await target.rows(sql))[0]?.[0]).toBe(0)
      }
    })
  })
})

const REFUSED = [
  "SELECT 1",
  "DROP TABLE customer",
  "CREATE TABLE evil (x INT)",
  "ALTER TABLE customer ADD COLUMN x INT",
  "DELETE FROM customer; DELETE FROM purchase",
  "UPDATE customer SET town = 'x' RETURNING *",
  "WITH gone AS (DELETE FROM purchase RETURNING *) DELETE FROM customer",
  "INSERT INTO customer SELECT 50, load_extension('x'), NULL",
  "UPDATE customer SET town = pg_read_file('/etc/passwd')",
  "UPDATE customer SET town = set_config('role', 'postgres', false)",
  "INSERT INTO pg_catalog.pg_class (relname) VALUES ('x')",
  "INSERT INTO sqlite_schema VALUES ('table', 'x', 'x', 1, 'x')",
  "DELETE FROM sqlite_sequence",
  "COPY customer FROM PROGRAM 'id'",
  "DO $$ BEGIN DELETE FROM customer; END $$",
  "TRUNCATE customer",
  "MERGE INTO customer USING purchase ON true WHEN MATCHED THEN DELETE",
  "PRAGMA writable_schema = ON",
  "ATTACH 'x' AS y",
  "VACUUM",
  "COMMIT",
  "BEGIN; DELETE FROM customer; COMMIT",
  "UPDATE customer SET town = 'x' /* ",
  "UPDATE customer SET town = 'x') SELECT 1; COMMIT; --",
  "UPDATE nowhere SET x = 1",
  "UPDATE customer SET name = NULL",
]
