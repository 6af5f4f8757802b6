import { closeSync, fstatSync, statSync } from "node:fs"
import { expect, test } from "vitest"
import { databases } from "../../../../test/support/databases.ts"
import { openSqlite } from "../open-sqlite.ts"
import type { Statement } from "../operations.ts"
import { WalSync } from "./wal-sync.ts"

const insert = (text: string): Statement => ({ sql: "INSERT INTO note VALUES (?)", values: [text] })

async function openNotes(durability: "full" | "normal") {
  const database = await databases[0]!.createEmpty()
  const file = database.url.slice("file:".length)
  const engine = openSqlite({ file, durability })
  const change = (...statements: Statement[]) => engine.change({ type: "statements", statements })
  await change({ sql: "CREATE TABLE note (text TEXT)", values: [] })
  return {
    engine,
    change,
    file,
    async [Symbol.asyncDispose]() {
      await engine.close()
      await database[Symbol.asyncDispose]()
    },
  }
}

test("concurrent writes share a commit, and each gets its own result", async () => {
  await using notes = await openNotes("full")
  const before = statSync(`${notes.file}-wal`).size
  await Promise.all(Array.from({ length: 100 }, (_, index) => notes.change(insert(`note ${index}`))))
  const pages = (statSync(`${notes.file}-wal`).size - before) / 2048
  expect(pages, "a hundred commits of their own would have written a hundred pages and more").toBeLessThan(20)
  expect(await notes.engine.query("SELECT count(*) AS n FROM note", [])).toEqual([{ n: 100 }])
})

test("closing waits for accepted operations and accepts no more", async () => {
  await using notes = await openNotes("full")
  const accepted = notes.change(insert("last"))
  const closed = notes.engine.close()
  await expect(notes.change(insert("too late"))).rejects.toMatchObject({ code: "store_unavailable" })
  expect((await accepted).ok).toBe(true)
  await closed
})

test("the log is checkpointed repeatedly while writes continue", async () => {
  await using notes = await openNotes("normal")
  const text = "x".repeat(100_000)
  let longest = 0
  for (let i = 0; i < 1500; i++) {
    await notes.change(insert(text))
    longest = Math.max(longest, statSync(`${notes.file}-wal`).size)
  }
  // 150 MB went through it. It may outgrow its 16 MB while the thread is folding, but not keep everything.
  expect(longest).toBeLessThan(110 * 1024 * 1024)
}, 120_000)

test("after a failed fsync nothing is reported as durable", async () => {
  await using notes = await openNotes("full")
  await notes.change(insert("so that there is a log"))
  const failures: Error[] = []
  const sync = new WalSync(notes.file, (error) => failures.push(error))
  await sync.flush()
  closeSync(newestDescriptor())
  await expect(sync.flush()).rejects.toThrow("EBADF")
  await expect(sync.flush()).rejects.toThrow("EBADF")
  expect(failures).toHaveLength(1)
})

/** The descriptor opened last: the one WalSync holds. */
function newestDescriptor(): number {
  for (let fd = 255; fd > 2; fd--) {
    try {
      if (fstatSync(fd).isFile()) return fd
    } catch {
      // not open
    }
  }
  throw new Error("no file is open")
}
