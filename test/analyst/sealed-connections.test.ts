import { mkdirSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, inject, test } from "vitest"
import { scripted } from "../../core/testing.ts"
import { databasesInTurn } from "../support/databases.ts"
import { Face, type Visitor } from "../support/server/face.ts"
import { makeShop } from "./shop.ts"

describe.each(databasesInTurn(import.meta.filename))("the secret of a connection on $name", ({ create }) => {
  test("decrypts in its own row only: not in another one of the same user, and not in another user's", async () => {
    const root = mkdtempSync(join(tmpdir(), inject("testRun"), "sealed-"))
    mkdirSync(join(root, "shared"))
    for (const name of ["a.db", "b.db"]) makeShop(join(root, "shared", name))
    await using face = await Face.open({ url: (await create()).url, model: scripted(), sqliteRoot: root })
    const [ada, bob] = [await face.as("ada"), await face.as("bob")]
    const connect = async (visitor: Visitor, name: string) =>
      (await visitor.post("/api/connections", { name, kind: "sqlite", path: `shared/${name}` })).body.id as string
    const mine = [await connect(ada, "a.db"), await connect(ada, "b.db")] as const
    const theirs = await connect(bob, "a.db")

    const sealedOf = async (id: string) => {
      const sql = "SELECT key_id, sealed FROM connection WHERE id = ?"
      const [row] = await face.store.engine.query<{ key_id: string; sealed: string }>(sql, [id])
      return row as { key_id: string; sealed: string }
    }
    const put = (id: string, { key_id, sealed }: { key_id: string; sealed: string }) => {
      const sql = "UPDATE connection SET key_id = ?, sealed = ? WHERE id = ?"
      return face.store.engine.change({ type: "statements", statements: [{ sql, values: [key_id, sealed, id] }] })
    }
    const works = async (visitor: Visitor, id: string) => {
      const { configured, path } = (await visitor.get(`/api/connections/${id}`)).body
      const { status, body } = await visitor.post(`/api/connections/${id}/query`, { sql: "SELECT 1" })
      return { configured, path, code: status === 200 ? "ran" : body.code }
    }
    const own = await Promise.all([...mine, theirs].map(sealedOf))
    const unreadable = { configured: false, path: undefined, code: "secret_unreadable" }
    for (const [visitor, id, foreign] of [
      [ada, mine[0], own[1]],
      [ada, mine[1], own[0]],
      [bob, theirs, own[0]],
      [ada, mine[0], own[2]],
    ] as const) {
      const before = await sealedOf(id)
      await put(id, foreign as { key_id: string; sealed: string })
      expect(await works(visitor, id)).toEqual(unreadable)
      await put(id, before)
      expect(await works(visitor, id)).toMatchObject({ configured: true, code: "ran" })
    }
  })
})
