import { mkdirSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { beforeAll, describe, expect, inject, test } from "vitest"
import { OutboundPolicy } from "../../../core/models/network/outbound-policy.ts"
import { always, calls, says, scripted } from "../../../core/testing.ts"
import { type ChangeTarget, changeTargets, kinds } from "../change-targets.ts"
import { databases } from "../../support/databases.ts"
import { Face, type Visitor } from "../../support/server/face.ts"

const ADA = "INSERT INTO customer (id, name, town) VALUES (1, 'Ada', 'Rome')"
const UPDATES = "ON CONFLICT (id) DO UPDATE SET town = excluded.town"

describe.each(databases)("the reported effect of a change, on $name,", ({ create }) => {
  describe.each(kinds)("to a %s database", (kind) => {
    let face: Face
    let ada: Visitor
    let target: ChangeTarget
    let connectionId: string

    beforeAll(async () => {
      const root = mkdtempSync(join(tmpdir(), inject("testRun"), "upserts-"))
      mkdirSync(join(root, "shared"))
      const model = scripted(
        always(({ history }) => {
          const last = history.at(-1)
          if (last?.role !== "user") return says("I see.")
          return calls("change_database", { sql: last.text, why: "Because I was asked." })
        }),
      )
      face = await Face.open({
        url: (await create()).url,
        model,
        sqliteRoot: root,
        reach: new OutboundPolicy(["127.0.0.1"]),
      })
      ada = await face.as("ada")
      target = await changeTargets[kind](root, (await ada.get("/api/auth/me")).body.user.id)
      const reply = await ada.post("/api/connections", { name: "Shop", ...target.connection, writable: true })
      connectionId = reply.body.id
      return async () => {
        await face[Symbol.asyncDispose]()
        await target.close()
      }
    })

    const propose = async (sql: string, mode = "confirm") => {
      const chat = await ada.begin({ agent: "analyst", mode, connectionId })
      const { body } = await ada.say(chat, sql)
      const result = body.messages.findLast((message: { role: string }) => message.role === "tool")?.content as string
      return { proposal: body.proposals[0], result, status: body.status }
    }
    const commit = (id: string) => ada.post(`/api/agent/proposals/${id}/commit`, {})
    const rows = () => target.rows("SELECT id, name, town FROM customer ORDER BY id")

    test("shows the id that a row keeps, and that a new one gets its own", async () => {
      const id = kind === "sqlite" ? "INTEGER" : "SERIAL"
      await target.rows(`CREATE TABLE tag (id ${id} PRIMARY KEY, word TEXT UNIQUE NOT NULL, uses INTEGER)`)
      await target.rows("INSERT INTO tag (word, uses) VALUES ('old', 1)")
      const { proposal } = await propose(
        "INSERT INTO tag (word, uses) VALUES ('old', 5), ('new', 1) ON CONFLICT (word) DO UPDATE SET uses = excluded.uses",
      )
      const shown = proposal.diff.after.rows.map((row: unknown[]) => row.map(String))
      expect(shown).toEqual([
        ["1", "old", "5"],
        [expect.stringMatching(/^\(made when applied, such as \d+\)$/), "new", "1"],
      ])
      expect((await commit(proposal.id)).body.status).toBe("applied")
      const every = await propose("DELETE FROM tag")
      expect(every.proposal.summary).toContain("which is EVERY row of the table.")
    })

    test("is an update if the row is there, and no insert", async () => {
      const { proposal } = await propose(`${ADA} ${UPDATES}`)
      expect(proposal.summary).toMatch(/Shop: 1 row\(s\) would be changed in "?customer"?\./)
      expect(proposal.action).toBe("destructive_update")
      expect(proposal.diff.before).toMatchObject({ rows: [[expect.anything(), "Ada", "London"]], rowCount: 1 })
      expect(proposal.diff.after).toMatchObject({ rows: [[expect.anything(), "Ada", "Rome"]], rowCount: 1 })
      const done = await commit(proposal.id)
      expect(done.body.status, done.text).toBe("applied")
      expect((await rows())[0]?.[2]).toBe("Rome")
    })

    test("counts new and overwritten rows separately, and lists the overwritten first", async () => {
      const { proposal } = await propose(
        `INSERT INTO customer (id, name, town) VALUES (0, 'Al', 'Rhodes'), (2, 'Bo', 'Oslo'), (40, 'Di', 'Oslo') ${UPDATES}`,
      )
      expect(proposal.summary).toMatch(/Shop: 2 row\(s\) would be inserted into "?customer"?, and 1 changed\./)
      expect(proposal.diff.before).toMatchObject({ rows: [[expect.anything(), "Bo", null]], rowCount: 1 })
      expect(proposal.diff.after.rows.map(([, name]: unknown[]) => name)).toEqual(["Bo", "Al", "Di"])
      expect(proposal.diff.after).toMatchObject({ rowCount: 3, paired: true })
      expect((await commit(proposal.id)).body.status).toBe("applied")
      await target.rows("DELETE FROM customer WHERE id IN (0, 40)")
    })

    test("shows no rows before an insert", async () => {
      const { proposal } = await propose("INSERT INTO customer (id, name) VALUES (50, 'Ed')")
      expect(proposal.diff.before).toMatchObject({ rows: [], rowCount: 0 })
      expect(proposal.diff.after.rowCount).toBe(1)
      const all = await propose("DELETE FROM customer WHERE id = 3")
      expect(all.proposal.diff).toMatchObject({ before: { rowCount: 1 }, after: null })
    })

    test("is one row if DO NOTHING skips one of two", async () => {
      const { proposal } = await propose(
        "INSERT INTO customer (id, name) VALUES (1, 'X'), (60, 'Fay') ON CONFLICT DO NOTHING",
      )
      expect(proposal.summary).toMatch(/1 row\(s\) would be inserted into "?customer"?\./)
      expect(proposal.diff).toMatchObject({ before: { rowCount: 0 }, after: { rowCount: 1 } })
    })

    const SAME: readonly (readonly [what: string, sql: string])[] = [
      [
        "an insert that meets a row and does nothing",
        "INSERT INTO customer (id, name) VALUES (1, 'X') ON CONFLICT DO NOTHING",
      ],
      ["an upsert of what is there", `INSERT INTO customer (id, name, town) VALUES (3, 'Cy', 'Bonn') ${UPDATES}`],
      ["an update of no row", "UPDATE customer SET name = 'x' WHERE id = 99"],
      ["an update to the same values", "UPDATE customer SET town = 'Bonn' WHERE id = 3"],
      ["a delete of no row", "DELETE FROM customer WHERE id = 99"],
      ["an insert of nothing", "INSERT INTO customer (id, name) SELECT id + 100, name FROM customer WHERE id = 99"],
      ["a change of a keyless table to the same", "UPDATE loose SET n = 1 WHERE n = 1"],
      ...(kind === "sqlite"
        ? ([
            ["REPLACE by the same", "INSERT OR REPLACE INTO customer VALUES (3, 'Cy', 'Bonn')"],
            ["INSERT OR IGNORE", "INSERT OR IGNORE INTO customer VALUES (3, 'Zed', 'Bonn')"],
          ] as const)
        : []),
    ]

    test.each(SAME)("%s is reported to the model as no change, without a proposal", async (_what, sql) => {
      await target.rows("CREATE TABLE IF NOT EXISTS loose (n INTEGER)")
      await target.rows("DELETE FROM loose")
      await target.rows("INSERT INTO loose VALUES (1), (1), (2)")
      const before = await rows()
      for (const mode of ["confirm", "auto"]) {
        const { proposal, result, status } = await propose(sql, mode)
        expect(proposal).toBeUndefined()
        expect(result).toContain("would change nothing")
        expect(status).not.toBe("awaiting_confirmation")
      }
      expect(await rows()).toEqual(before)
    })

    test("needs approval nevertheless if a trigger runs, or if the database generates a value", async () => {
      await target.rows("CREATE TABLE watched (id INTEGER PRIMARY KEY, at TEXT)")
      await target.rows("CREATE TABLE heard (id INTEGER)")
      await target.rows("INSERT INTO watched VALUES (1, 'x')")
      const make =
        kind === "sqlite"
          ? ["CREATE TRIGGER hear AFTER UPDATE ON watched BEGIN INSERT INTO heard VALUES (new.id); END"]
          : [
              "CREATE FUNCTION hear() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO heard VALUES (new.id); RETURN new; END'",
              "CREATE TRIGGER hear AFTER UPDATE ON watched FOR EACH ROW EXECUTE FUNCTION hear()",
            ]
      for (const sql of make) await target.rows(sql)
      expect((await propose("UPDATE watched SET at = 'x' WHERE id = 1")).proposal.summary).toContain("hear")
      const timed = await propose("UPDATE customer SET town = CURRENT_TIMESTAMP WHERE id = 3")
      expect(timed.proposal.diff.after.rowCount).toBe(1)
    })

    test.runIf(kind === "postgres")("refuses a MERGE with an explanation", async () => {
      const merge = `MERGE INTO customer c USING (VALUES (1, 'Rome')) v (id, town) ON c.id = v.id
        WHEN MATCHED THEN UPDATE SET town = v.town WHEN NOT MATCHED THEN INSERT (id, name) VALUES (v.id, 'x')`
      const { proposal, result } = await propose(merge)
      expect(proposal).toBeUndefined()
      expect(result).toContain("one INSERT, UPDATE or DELETE")
    })
  })
})
