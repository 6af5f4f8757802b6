import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { expect, onTestFinished, test } from "vitest"
import { databases } from "../../../../test/support/databases.ts"
import { openSqlite } from "../open-sqlite.ts"

function failFsync(): void {
  const { fdatasync } = fs
  const failing = (_fd: number, callback: (error: Error) => void) => setImmediate(() => callback(new Error("EIO")))
  const install = (instead: unknown) => {
    fs.fdatasync = instead as typeof fs.fdatasync
    syncBuiltinESMExports()
  }
  install(failing)
  onTestFinished(() => install(fdatasync))
}

test("after the disk has failed once, nothing more is written and every write is refused with the reason", async () => {
  await using database = await databases[0]!.createEmpty()
  const engine = openSqlite({ file: database.url.slice("file:".length), durability: "full" })
  onTestFinished(() => engine.close())
  const change = (sql: string) => engine.change({ type: "statements", statements: [{ sql, values: [] }] })
  await change("CREATE TABLE note (text TEXT)")
  await change("INSERT INTO note VALUES ('kept')")
  expect(engine.broken.aborted).toBe(false)
  failFsync()
  const first = change("INSERT INTO note VALUES ('perhaps')")
  await expect(first).rejects.toMatchObject({ code: "store_unavailable", message: expect.stringContaining("EIO") })
  expect(engine.broken.aborted).toBe(true)
  await expect(change("INSERT INTO note VALUES ('never')")).rejects.toBe(engine.broken.reason)
  const rows = await engine.query<{ text: string }>("SELECT text FROM note", [])
  expect(rows.map(({ text }) => text)).not.toContain("never")
})

test("a server with a failed disk can still be closed", async () => {
  await using database = await databases[0]!.createEmpty()
  const engine = openSqlite({ file: database.url.slice("file:".length), durability: "full" })
  const change = (sql: string) => engine.change({ type: "statements", statements: [{ sql, values: [] }] })
  await change("CREATE TABLE note (text TEXT)")
  for (let n = 0; n < 128; n++) await change("INSERT INTO note VALUES ('kept')") // so long that the log is looked at
  failFsync()
  await expect(change("INSERT INTO note VALUES ('perhaps')")).rejects.toMatchObject({ code: "store_unavailable" })
  await engine.close()
})
