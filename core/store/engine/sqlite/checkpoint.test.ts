import { closeSync, mkdtempSync, openSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { isWalAtLeast } from "./checkpoint.ts"
import { openConnection } from "./connection.ts"

const LONG = 100_000

test("a restarted log is short again, although its file is as long as before", () => {
  const folder = mkdtempSync(join(tmpdir(), "pawl-log-"))
  const file = join(folder, "pawl.db")
  const db = openConnection(file)
  db.exec("CREATE TABLE note (text TEXT)")
  const log = openSync(`${file}-wal`, "r")
  const insert = db.prepare("INSERT INTO note (text) VALUES (?)")
  try {
    expect(isWalAtLeast(log, LONG)).toBe(false)
    while (statSync(`${file}-wal`).size < LONG + 5000) insert.run("x".repeat(1000))
    expect(isWalAtLeast(log, LONG)).toBe(true)

    db.exec("PRAGMA wal_checkpoint(RESTART)")
    insert.run("the next")
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(LONG)
    expect(isWalAtLeast(log, LONG)).toBe(false)
  } finally {
    closeSync(log)
    db.close()
    rmSync(folder, { recursive: true })
  }
})
