import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, inject, test } from "vitest"
import { databasesInTurn } from "../support/databases.ts"
import { newId } from "../../core/protocol/ids.ts"
import type { StoredBytes } from "../../core/engine/stored-files.ts"
import { FileCache } from "../../core/store/files/file-cache.ts"
import { SqlDatabaseFiles } from "../../core/store/files/database-files.ts"
import { openStore } from "../../core/store/store.ts"
import { StoredUploads } from "../../packs/analyst/sqlite/stored-uploads.ts"
import { CsvFiles } from "../../packs/analyst/csv/files.ts"
import { StoredCsvFiles } from "../../packs/analyst/csv/stored-csv-files.ts"

describe.each(databasesInTurn(import.meta.filename))("an upload that moves into the store, on $name", ({ create }) => {
  async function open() {
    const store = await openStore({ url: (await create()).url, durability: "normal" })
    const root = mkdtempSync(join(tmpdir(), inject("testRun"), "csv-"))
    const cache = new FileCache({ folder: join(root, "cache"), now: Date.now })
    const kept = new SqlDatabaseFiles(store.engine, cache, Date.now)
    const disk = new CsvFiles(root, async () => false)
    const files = new StoredCsvFiles(new StoredUploads(kept, root), { disk, root })
    const owner = { user: newId("user"), id: newId("conn") }
    const path = files.pathOf(owner.id)
    const sql = `INSERT INTO connection (id, person, name, engine, key_id, sealed, created_at, updated_at)
      VALUES (?, ?, 'x', 'sqlite', '', '', 0, 0)`
    await store.engine.change({ type: "statements", statements: [{ sql, values: [owner.id, owner.user] }] })
    const made = join(root, "made.db")
    writeFileSync(made, "a database")
    return {
      ...{ store, kept, owner, path, made },
      place: (record: (stored?: StoredBytes) => Promise<void>) => files.place(root, made, owner, record),
      record: async (stored?: StoredBytes) => void (await kept.add(owner.user, path, stored!, owner.id)),
      rows: async () => {
        const count = "SELECT (SELECT count(*) FROM kept_file) AS files, (SELECT count(*) FROM kept_file_part) AS parts"
        return (await store.engine.query<{ files: number; parts: number }>(count, []))[0]
      },
      cached: () => (existsSync(kept.folderOf(owner.user)) ? readdirSync(kept.folderOf(owner.user)) : []),
      async [Symbol.asyncDispose]() {
        await files.close()
        await store[Symbol.asyncDispose]()
      },
    }
  }

  test("is moved from where it was created to where it is read", async () => {
    await using opened = await open()
    await opened.place(opened.record)
    expect([await opened.rows(), existsSync(opened.made), opened.cached().length]).toEqual([
      { files: 1, parts: 1 },
      false,
      1,
    ])
    const file = await opened.kept.fetch(opened.owner.user, opened.path)
    expect(readFileSync(file?.local ?? "", "utf8")).toBe("a database")
  })

  test("leaves nothing behind if its connection is refused", async () => {
    await using opened = await open()
    const refused = opened.place(() => Promise.reject(new Error("too many")))
    await expect(refused).rejects.toThrow("too many")
    expect([await opened.rows(), opened.cached()]).toEqual([{ files: 0, parts: 0 }, []])
  })

  test("stays if only the answer that recorded its connection was lost", async () => {
    await using opened = await open()
    const lost = opened.place(async (stored) => {
      await opened.record(stored)
      throw new Error("the line went dead")
    })
    await expect(lost).rejects.toThrow("dead")
    expect(await opened.rows()).toEqual({ files: 1, parts: 1 })
    const file = await opened.kept.fetch(opened.owner.user, opened.path)
    expect(readFileSync(file?.local ?? "", "utf8")).toBe("a database")
  })
})
