import { createHash } from "node:crypto"
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { execFileSync } from "node:child_process"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll, describe, expect, inject, test } from "vitest"
import { codeOf, type UserId } from "../../../core/pack.ts"
import { sqliteKind } from "./kind.ts"

const user = "user_ada" as UserId
const root = mkdtempSync(join(tmpdir(), inject("testRun"), "sqlite-kind-"))
const own = join(root, user)
for (const folder of [own, join(root, "shared"), join(root, "user_adam")]) mkdirSync(folder)
const kind = sqliteKind({ root })
afterAll(() => kind.close())

const { signal } = new AbortController()
const placeOf = (path: string) => ({ target: { kind: "sqlite", path } as const, user, signal })
const rowsOf = async (path: string, sql: string) => (await kind.query(placeOf(path), sql)).rows
const refusal = (work: Promise<unknown>) =>
  work.then(
    () => "ran",
    (error: unknown) => codeOf(error) ?? String(error),
  )

function make(file: string, ...statements: string[]): DatabaseSync {
  const db = new DatabaseSync(file)
  for (const sql of ["CREATE TABLE t (a)", "INSERT INTO t VALUES (1)", ...statements]) db.exec(sql)
  return db
}

test("EXPLAIN is allowed for a query, not for a change", async () => {
  make(join(own, "explained.db"))
  const [step] = await rowsOf("explained.db", "EXPLAIN QUERY PLAN SELECT * FROM t WHERE a = 1")
  expect(step?.at(-1)).toBe("SCAN t")
  expect((await rowsOf("explained.db", "explain select a from t")).length).toBeGreaterThan(3)
  expect(await refusal(rowsOf("explained.db", "EXPLAIN DELETE FROM t"))).toBe("query_refused")
  expect(await rowsOf("explained.db", "SELECT a FROM t")).toEqual([[1]])
})

test("values are returned without loss", async () => {
  const db = make(join(own, "values.db"), "CREATE TABLE v (i INTEGER, r REAL, t TEXT, b BLOB, d DATE, n NUMERIC(10,2))")
  db.exec(`INSERT INTO v VALUES (9007199254740993, 1.5, 'a''b', x'00ff', '2026-02-03', 12.50),
    (-9223372036854775808, 9e999, '', x'', NULL, NULL), (42, -9e999, '😀', zeroblob(3), 'x', '1.10')`)
  db.close()
  expect(await kind.query(placeOf("values.db"), "SELECT * FROM v")).toEqual({
    columns: [
      { name: "i", type: "INTEGER" },
      { name: "r", type: "REAL" },
      { name: "t", type: "TEXT" },
      { name: "b", type: "BLOB" },
      { name: "d", type: "DATE" },
      { name: "n", type: "NUMERIC(10,2)" },
    ],
    rows: [
      ["9007199254740993", 1.5, "a'b", { bytes: 2, base64: "AP8=" }, "2026-02-03", 12.5],
      ["-9223372036854775808", "Infinity", "", { bytes: 0, base64: "" }, null, null],
      [42, "-Infinity", "😀", { bytes: 3, base64: "AAAA" }, "x", 1.1],
    ],
    truncated: false,
  })
  const none = await kind.query(placeOf("values.db"), "SELECT i, i + 1 AS more, r AS i FROM v WHERE 0")
  expect(none).toEqual({
    columns: [
      { name: "i", type: "INTEGER" },
      { name: "more", type: null },
      { name: "i", type: "REAL" },
    ],
    rows: [],
    truncated: false,
  })
})

test.each(["fts5", "fts4"])("a full-text index (%s) is searched", async (index) => {
  const file = `${index}.db`
  const texts = "('Foxes', 'the quick fox'), ('Dogs', 'a slow dog')"
  make(
    join(own, file),
    `CREATE VIRTUAL TABLE doc USING ${index} (title, body)`,
    `INSERT INTO doc VALUES ${texts}`,
  ).close()
  expect(await rowsOf(file, "SELECT title FROM doc WHERE doc MATCH 'quick'")).toEqual([["Foxes"]])
  expect(await rowsOf(file, "SELECT title FROM doc WHERE body MATCH 'slow OR fox' ORDER BY 1")).toEqual([
    ["Dogs"],
    ["Foxes"],
  ])
  const shown = index === "fts5" ? "highlight(doc, 1, '<', '>')" : "snippet(doc, '<', '>')"
  expect(await rowsOf(file, `SELECT ${shown} FROM doc WHERE doc MATCH 'fox'`)).toEqual([["the quick <fox>"]])
  expect((await kind.introspect(placeOf(file))).tables.map(({ name }) => name)).toContain("doc")
})

test("too many rows are truncated, which is reported", async () => {
  make(join(own, "much.db")).close()
  const numbers = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
  const many = await kind.query(placeOf("much.db"), `${numbers} SELECT i FROM n`)
  expect([many.rows.length, many.truncated]).toEqual([10_000, true])
  const wide = await kind.query(placeOf("much.db"), `${numbers} SELECT hex(zeroblob(500000)) FROM n`)
  expect([wide.rows.length, wide.truncated]).toEqual([8, true])
  expect(await refusal(rowsOf("much.db", "SELECT hex(zeroblob(3900000)) || hex(zeroblob(3900000))"))).toBe(
    "query_failed",
  )
  expect(await refusal(rowsOf("much.db", "SELECT zeroblob(7900000)"))).toBe("result_too_large")
})

describe("a file", () => {
  test("must be in the person's folder or in the shared one", async () => {
    const outside = mkdtempSync(join(tmpdir(), inject("testRun"), "elsewhere-"))
    make(join(outside, "x.db")).close()
    make(join(root, "user_adam", "x.db")).close()
    make(join(own, "x.db")).close()
    make(join(root, "root.db")).close()
    symlinkSync(join(outside, "x.db"), join(own, "link.db"))
    symlinkSync(outside, join(own, "folder"))
    symlinkSync("x.db", join(own, "inside-link.db"))
    mkdirSync(join(own, "directory.db"))
    writeFileSync(join(own, "text.db"), "not a database, but long enough to be one")
    writeFileSync(join(own, "empty.db"), "")
    execFileSync("mkfifo", [join(own, "pipe.db")])
    for (const path of ["x.db", "./x.db", `${user}/x.db`, join(own, "x.db")]) {
      expect([path, await refusal(rowsOf(path, "SELECT 1"))]).toEqual([path, "ran"])
    }
    const bad = [
      "link.db",
      "folder/x.db",
      "inside-link.db",
      "directory.db",
      "text.db",
      "empty.db",
      "pipe.db",
      "none.db",
    ]
    bad.push(
      "../root.db",
      "../user_adam/x.db",
      "/etc/passwd",
      join(outside, "x.db"),
      join(root, "root.db"),
      "x.db?mode=rw",
    )
    bad.push("shared/../../x.db", "file:x.db", ":memory:", "x.db\n", ".", "..", "/dev/zero", "shared")
    for (const path of bad) {
      expect([path, await refusal(rowsOf(path, "SELECT 1"))]).toEqual([path, "file_not_allowed"])
    }
  })

  test("with an unusual name is found by that name", async () => {
    for (const name of ["a?mode=rw.db", "100%.db", "sp ace #1.db", "ü.db", "a'b.db"]) {
      make(join(own, name)).close()
      expect(await rowsOf(name, "SELECT a FROM t")).toEqual([[1]])
    }
  })

  test("that is repeatedly swapped for a link is never followed", async () => {
    const outside = join(mkdtempSync(join(tmpdir(), inject("testRun"), "elsewhere-")), "secret.db")
    make(outside, "UPDATE t SET a = 'secret'").close()
    const [path, good, link] = ["swap.db", "good.db", "bad.db"].map((name) => join(own, name)) as [
      string,
      string,
      string,
    ]
    make(good).close()
    let swapping = true
    const swaps = (async () => {
      while (swapping) {
        copyFileSync(good, `${link}.copy`)
        renameSync(`${link}.copy`, path)
        await new Promise((resolve) => setImmediate(resolve))
        symlinkSync(outside, link)
        renameSync(link, path)
        await new Promise((resolve) => setImmediate(resolve))
      }
    })()
    const seen = new Map<string, number>()
    for (let round = 0; round < 300; round++) {
      const told = await rowsOf("swap.db", "SELECT a FROM t").then(
        (rows) => JSON.stringify(rows),
        (error: unknown) => codeOf(error) ?? "",
      )
      seen.set(told, (seen.get(told) ?? 0) + 1)
    }
    swapping = false
    await swaps
    expect([...seen.keys()].filter((told) => told.includes("secret"))).toEqual([])
    expect(seen.get("[[1]]")).toBeGreaterThan(0)
  })
})

describe("a database with a write-ahead log", () => {
  const logged = (name: string) => {
    const folder = mkdtempSync(join(own, "wal-"))
    const db = make(join(folder, name), "PRAGMA journal_mode = WAL", "INSERT INTO t VALUES (2)")
    const state = () =>
      readdirSync(folder).map((file) => {
        const bytes = readFileSync(join(folder, file))
        return `${file} ${createHash("sha256").update(bytes).digest("hex")}`
      })
    return { db, folder, state, path: join(folder, name) }
  }

  test("that another program has open is read with all it has written, and left as it was", async () => {
    const { db, path, folder, state } = logged("live.db")
    const before = state()
    expect(await rowsOf(path, "SELECT a FROM t")).toEqual([[1], [2]])
    db.exec("INSERT INTO t VALUES (3)")
    expect(await rowsOf(path, "SELECT a FROM t")).toEqual([[1], [2], [3]])
    expect(readdirSync(folder)).toHaveLength(3)
    expect(before).toHaveLength(3)
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)")
    expect(await rowsOf(path, "SELECT count(*) FROM t")).toEqual([[3]])
    db.close()
  })

  test("that is not open is read without a trace", async () => {
    const { db, path, state } = logged("still.db")
    db.close()
    const before = state()
    expect(before).toHaveLength(1)
    expect(await rowsOf(path, "SELECT a FROM t")).toEqual([[1], [2]])
    expect(state()).toEqual(before)
  })

  test("that a crash has left is read with the contents of its log, and not changed", async () => {
    const { db, path, folder } = logged("crashed.db")
    const crashed = mkdtempSync(join(own, "crash-"))
    for (const ending of ["", "-wal"]) copyFileSync(`${path}${ending}`, join(crashed, `crashed.db${ending}`))
    db.close()
    rmSync(folder, { recursive: true })
    const before = readdirSync(crashed)
    expect(await rowsOf(join(crashed, "crashed.db"), "SELECT a FROM t")).toEqual([[1], [2]])
    expect(readdirSync(crashed)).toEqual(before)
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith("pawl-sqlite-"))).toEqual([])
  })

  test("may be written concurrently: each answer is a consistent state", async () => {
    const { db, path } = logged("busy.db")
    db.exec("DELETE FROM t; INSERT INTO t VALUES (0); CREATE TABLE u (a); INSERT INTO u VALUES (0)")
    let count = 0
    const writing = setInterval(() => {
      count++
      db.exec(`BEGIN; UPDATE t SET a = ${count}; UPDATE u SET a = ${count}; COMMIT`)
      if (count % 7 === 0) db.exec("PRAGMA wal_checkpoint(RESTART)")
    }, 1)
    for (let round = 0; round < 100; round++) {
      const [[difference] = []] = await rowsOf(path, "SELECT (SELECT a FROM t) - (SELECT a FROM u)")
      expect(difference).toBe(0)
    }
    clearInterval(writing)
    db.close()
    expect(count).toBeGreaterThan(10)
  })
})

test("a hard link is the file itself", async () => {
  make(join(own, "first.db")).close()
  linkSync(join(own, "first.db"), join(own, "second.db"))
  expect(await rowsOf("second.db", "SELECT a FROM t")).toEqual([[1]])
})
