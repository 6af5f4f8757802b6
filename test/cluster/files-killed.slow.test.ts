import { mkdirSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, inject, test } from "vitest"
import { type Clock, systemClock } from "../../core/shared/time/clock.ts"
import { failure } from "../../core/protocol/errors.ts"
import { always, calls, says, scripted } from "../../core/testing.ts"
import { databases } from "../support/databases.ts"
import type { ChangeLife } from "../support/lives/change-life.ts"
import { killedChange } from "../support/processes/killed-life.ts"
import { Face, type Visitor } from "../support/server/face.ts"

const SQL = "UPDATE x SET b = b + 1 WHERE a = 1"
const shared = databases.filter(({ name }) => name === "postgres")
const model = () =>
  scripted(
    always(({ history }) =>
      history.at(-1)?.role === "user" ? calls("change_database", { sql: SQL, why: "x" }) : says("Ok."),
    ),
  )
/** This clock runs twenty times as fast, so that a server's failure is detected soon. */
const later: Clock = { ...systemClock, monotonic: () => performance.now() * 20 }

async function settled(face: Face, ada: Visitor, proposal: string): Promise<string> {
  const read = async () => {
    await face.pawl.runtime.recover()
    return (await ada.get(`/api/agent/proposals/${proposal}`)).body.status
  }
  await expect.poll(read, { timeout: 60_000, interval: 200 }).toMatch(/^(applied|failed|in_doubt)$/)
  return read()
}

const rowsOf = async (by: Visitor) => {
  const { items } = (await by.get("/api/connections")).body
  return (await by.post(`/api/connections/${items[0].id}/query`, { sql: "SELECT a, b FROM x" })).body.rows
}

const named = ({ store }: Face) =>
  store.engine.query<{ parts: number }>(
    "SELECT (SELECT count(*) FROM kept_file_part p WHERE p.content = kept_file.content) AS parts FROM kept_file WHERE path IS NOT NULL",
    [],
  )

describe.each(shared)("a change of an upload, stored on $name", { timeout: 180_000 }, ({ create }) => {
  test.each(["before-record", "after-record", "after-commit"] as const)(
    "whose server is killed %s is made once, by a server without a copy on its disk",
    async (die) => {
      const { url } = await create()
      const root = mkdtempSync(join(tmpdir(), inject("testRun"), "files-killed-"))
      const life: ChangeLife = { url, root, connection: { csv: "a,b\n1,0\n" }, sql: SQL, die }
      const proposal = await killedChange(life)
      await using face = await Face.open({ url, model: model(), clock: later })
      const ada = await face.as("ada")
      expect(await settled(face, ada, proposal)).toBe("applied")
      expect(await rowsOf(ada)).toEqual([[1, 1]])
      expect(await named(face)).toEqual([{ parts: 1 }])
    },
  )

  test("of an operator's file, whose server is killed, is in doubt if another disk has a file of that name", async () => {
    const { url } = await create()
    const roots = ["one", "two"].map((name) => mkdtempSync(join(tmpdir(), inject("testRun"), `files-${name}-`)))
    const [root = "", elsewhere = ""] = roots
    const user = await (async () => {
      await using face = await Face.open({ url, model: model() })
      return (await (await face.as("ada")).get("/api/auth/me")).body.user.id as string
    })()
    const fileIn = (folder: string) => join(folder, user, "shop.db")
    for (const folder of roots) {
      mkdirSync(join(folder, user))
      const db = new DatabaseSync(fileIn(folder))
      db.exec("CREATE TABLE x (a INTEGER PRIMARY KEY, b INTEGER); INSERT INTO x VALUES (1, 0)")
      db.close()
    }
    const connection = { kind: "sqlite", path: "shop.db" }
    const proposal = await killedChange({ url, root, connection, sql: SQL, die: "after-commit" })
    await using face = await Face.open({ url, model: model(), clock: later, sqliteRoot: elsewhere })
    expect(await settled(face, await face.as("ada"), proposal)).toBe("in_doubt")
    const rowsIn = roots.map((folder) => {
      const db = new DatabaseSync(fileIn(folder))
      const rows = db.prepare("SELECT b FROM x").all()
      db.close()
      return rows
    })
    expect(rowsIn).toEqual([[{ b: 1 }], [{ b: 0 }]])
  })

  test.each([
    { done: true, what: "was recorded" },
    { done: false, what: "was not recorded" },
  ])("whose record gets no answer, and $what, is made once", async ({ done }) => {
    const { url } = await create()
    await using face = await Face.open({ url, model: model() })
    const ada = await face.as("ada")
    const sent = { body: "a,b\n1,0\n", headers: { "content-type": "text/csv" } }
    const { id } = (await ada.ask("POST", "/api/connections/csv?name=x", sent)).body
    await ada.patch(`/api/connections/${id}`, { writable: true })
    const { body } = await ada.say(await ada.begin({ agent: "analyst", connectionId: id }), "Go.")
    const { attempts } = face.store
    const record = attempts.record.bind(attempts)
    let lost = 0
    Object.assign(attempts, {
      async record(...args: Parameters<typeof record>) {
        if (lost++ > 0) return record(...args)
        if (done) await record(...args)
        throw failure("store_unavailable", { problem: "it does not answer" })
      },
    })
    await ada.post(`/api/agent/proposals/${body.proposals[0].id}/commit`, {})
    expect(await settled(face, ada, body.proposals[0].id)).toBe("applied")
    expect([await rowsOf(ada), lost]).toEqual([[[1, 1]], done ? 1 : 2])
    expect(await named(face)).toEqual([{ parts: 1 }])
  })

  test("that was given up for a dead server can no longer be made by it", async () => {
    const { url } = await create()
    await using face = await Face.open({ url, model: model() })
    await using other = await Face.open({ url, model: model() })
    const ada = await face.as("ada")
    const sent = { body: "a,b\n1,0\n", headers: { "content-type": "text/csv" } }
    const { id } = (await ada.ask("POST", "/api/connections/csv?name=x", sent)).body
    await ada.patch(`/api/connections/${id}`, { writable: true })
    const { body } = await ada.say(await ada.begin({ agent: "analyst", connectionId: id }), "Go.")
    const user = (await ada.get("/api/auth/me")).body.user.id
    const { attempts } = face.store
    const record = attempts.record.bind(attempts)
    Object.assign(attempts, {
      async record(...args: Parameters<typeof record>) {
        // Another server takes over while this one is about to put the new bytes in place.
        expect(await other.store.attempts.free(args[0], { user, connectionId: id }, undefined)).toBeTruthy()
        return record(...args)
      },
    })
    await ada.post(`/api/agent/proposals/${body.proposals[0].id}/commit`, {})
    expect(await rowsOf(await other.as("ada"))).toEqual([[1, 0]])
    expect(await face.store.engine.query("SELECT 1 FROM kept_file WHERE path IS NULL", [])).toEqual([])
  })
})
