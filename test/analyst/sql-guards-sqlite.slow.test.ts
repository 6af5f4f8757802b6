import { mkdirSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, inject, test } from "vitest"
import type { UserId } from "../../core/protocol/ids.ts"
import { sqliteKind } from "../../packs/analyst/sqlite/kind.ts"
import type { SqliteGuards } from "../../packs/analyst/database/sql-guards.ts"
import { attemptsOf, stateOf, tryEach } from "./hostile-statements.ts"

const user = "user_ada" as UserId
const all: SqliteGuards = { statement: true, authorizer: true, readOnly: true }

const NONE = { files: false, session: false }

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

/** State that a process may keep of an earlier statement: limits, folders, attached files, counters. */
const SESSION = `SELECT changes(), total_changes(), last_insert_rowid(), length(hex(randomblob(2000000))), 'A' LIKE 'a',
  (SELECT json_group_array(schema || name || type || ncol) FROM (SELECT * FROM pragma_table_list ORDER BY schema, name)),
  (SELECT json_group_array(name) FROM customer)`

/** Runs every attempt with these guards. Harm is a changed file, or a process whose state has changed. */
async function attack(guards: SqliteGuards) {
  const { folder, root, attempts, place } = makePlace()
  const kind = sqliteKind({ root, guards })
  try {
    const { signal } = new AbortController()
    const session = () => kind.query({ ...place, signal }, SESSION).then(({ rows }) => JSON.stringify(rows), String)
    const before = [stateOf(folder), await session()]
    const outcomes = await tryEach(kind, place, attempts)
    const [files, own] = [stateOf(folder), await session()]
    return { outcomes, files: files !== before[0], session: own !== before[1] }
  } finally {
    await kind.close()
  }
}

describe("hostile statements of SQLite", { timeout: 180_000 }, () => {
  test("are all refused, and change nothing", async () => {
    const { outcomes, ...harm } = await attack(all)
    const ran = [...outcomes].filter(([, told]) => told === "ran").map(([sql]) => sql)
    expect(ran).toEqual([])
    expect(harm).toEqual(NONE)
    expect(outcomes.size).toBeGreaterThanOrEqual(150)
  })

  test.each(["statement", "authorizer", "readOnly"] as const)("change nothing without %s", async (layer) => {
    expect(await attack({ ...all, [layer]: false })).toMatchObject(NONE)
  })

  test("do harm without two guards, which shows that these tests detect harm", async () => {
    expect(await attack({ ...all, authorizer: false, readOnly: false })).toMatchObject({ files: true })
    // Without the check of the text, each of the other two guards is enough.
    expect(await attack({ ...all, statement: false, authorizer: false })).toMatchObject(NONE)
    expect(await attack({ ...all, statement: false, readOnly: false })).toMatchObject(NONE)
  })
})
