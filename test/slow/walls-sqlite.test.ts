import { mkdirSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, inject, test } from "vitest"
import type { UserId } from "../../src/protocol/ids.ts"
import { sqliteKind } from "../../src/packs/analyst/sqlite.ts"
import type { SqliteLayers } from "../../src/packs/analyst/sqlite-job.ts"
import { attemptsOf, stateOf, tryEach } from "../hostile.ts"

const user = "user_ada" as UserId
const all: SqliteLayers = { statement: true, authorizer: true, readOnly: true }

function makePlace() {
  const folder = mkdtempSync(join(tmpdir(), inject("testRun"), "walls-"))
  const [root, out] = [join(folder, "root"), join(folder, "out")]
  mkdirSync(join(root, user), { recursive: true })
  mkdirSync(out)
  for (const name of [join(root, user, "shop.db"), join(root, "other.db")]) {
    const db = new DatabaseSync(name)
    db.exec(`CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, town TEXT);
      CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer (id), cents INTEGER);
      CREATE VIEW sneaky_view AS SELECT load_extension('evil') AS x;
      CREATE TRIGGER sneaky AFTER UPDATE ON customer BEGIN DELETE FROM purchase; END;
      INSERT INTO customer VALUES (1, 'Ada', 'London'), (2, 'Bo', NULL);
      INSERT INTO purchase VALUES (1, 1, 1250), (2, 1, 99)`)
    db.close()
  }
  const attempts = attemptsOf("hostile-sqlite.sql", { out, other: join(root, "other.db") })
  return { folder, root, attempts, place: { target: { kind: "sqlite", path: "shop.db" } as const, user } }
}

/** Runs every attempt with these walls. Harm is a file that has changed, and a process whose next query fails. */
async function attack(layers: SqliteLayers) {
  const { folder, root, attempts, place } = makePlace()
  const kind = sqliteKind({ root, layers })
  try {
    const before = stateOf(folder)
    const outcomes = await tryEach(kind, place, attempts)
    const changed = stateOf(folder) !== before
    const { signal } = new AbortController()
    const next = await kind.query({ ...place, signal }, "SELECT name FROM customer ORDER BY id").catch(() => undefined)
    const same = JSON.stringify(next?.rows) === JSON.stringify([["Ada"], ["Bo"]])
    return { outcomes, harmed: changed || !same }
  } finally {
    await kind.close()
  }
}

describe("hostile statements of SQLite", { timeout: 60_000 }, () => {
  test("are all refused, and change nothing", async () => {
    const { outcomes, harmed } = await attack(all)
    const ran = [...outcomes].filter(([, told]) => told === "ran").map(([sql]) => sql)
    expect(ran).toEqual([])
    expect(harmed).toBe(false)
    expect(outcomes.size).toBeGreaterThan(110)
  })

  test.each(["statement", "authorizer", "readOnly"] as const)("change nothing without %s", async (layer) => {
    expect((await attack({ ...all, [layer]: false })).harmed).toBe(false)
  })

  test("do harm without two walls, or these tests would show nothing", async () => {
    expect((await attack({ ...all, authorizer: false, readOnly: false })).harmed).toBe(true)
  })
})
