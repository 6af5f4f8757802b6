import { describe, expect, test } from "vitest"
import { databases } from "../../../test/support/databases.ts"
import type { Engine } from "../engine/engine.ts"
import { openPostgres } from "../engine/open-postgres.ts"
import { openSqlite } from "../engine/open-sqlite.ts"
import { openStore } from "../store.ts"
import { migrate } from "./migrate.ts"
import { type Migration, migrations } from "./migrations.ts"

function open(url: string): Engine {
  const durability = "normal" as const
  return url.startsWith("postgres")
    ? openPostgres({ url, durability, connections: 4 })
    : openSqlite({ file: url.slice("file:".length), durability })
}

const NAMES = migrations.map(({ name }) => name)
/** Migrations of later versions: a table, an index on a table in use, and another table. */
const later: readonly Migration[] = [
  { name: "997_pet", statements: () => ["CREATE TABLE pet (name TEXT)"] },
  { name: "998_pet_name", index: { name: "pet_name", table: "pet", over: "(name)" } },
  { name: "999_toy", statements: () => ["CREATE TABLE toy (name TEXT)"] },
]
const LATER = later.map(({ name }) => name)
const all = [...migrations, ...later]

describe.each(databases)("migrations on $name", ({ createEmpty }) => {
  test("run once, however often the database is opened", async () => {
    await using database = await createEmpty()
    const engine = open(database.url)
    expect(await migrate(engine)).toEqual(NAMES)
    expect(await migrate(engine)).toEqual([])
    expect(await migrate(engine, { known: all })).toEqual(LATER)
    expect(await migrate(engine, { known: all })).toEqual([])
    await engine.close()
  })

  test("leave the whole schema for both of two nodes that start at once, in a new database and in one in use", async () => {
    await using database = await createEmpty()
    const nodes = [open(database.url), open(database.url)]
    const created = await Promise.all(nodes.map((engine) => migrate(engine)))
    expect(created.flat()).toEqual(NAMES)
    const upgraded = await Promise.all(nodes.map((engine) => migrate(engine, { known: all })))
    expect(upgraded.flat().toSorted()).toEqual(LATER)
    for (const engine of nodes) {
      expect(await engine.query("SELECT count(*) AS n FROM messages", [])).toEqual([{ n: 0 }])
      expect(await engine.query("SELECT count(*) AS n FROM toy", [])).toEqual([{ n: 0 }])
      await engine.close()
    }
  })

  test.each([
    ["a new database", [all]],
    ["a database in use", [migrations, all]],
  ])("of %s survive a crash at any of their writes", async (_, versions) => {
    let writes = 0
    // Once more than there are writes: the last life is not killed.
    for (let fatal = 1; fatal <= writes + 1; fatal++) {
      await using database = await createEmpty()
      const engine = open(database.url)
      for (const known of versions.slice(0, -1)) await migrate(engine, { known })
      writes = 0
      const count = () => {
        if (++writes === fatal) throw new Error("died")
      }
      const dying = {
        ...engine,
        change: ((operation: never) => (count(), engine.change(operation))) as Engine["change"],
        buildIndex: async (...words: Parameters<Engine["buildIndex"]>) => {
          await engine.buildIndex(...words)
          count() // the index is there, and not recorded
        },
      }
      await migrate(dying, { known: versions.at(-1)! }).catch(() => {})
      await migrate(engine, { known: versions.at(-1)! })
      expect(await engine.query("SELECT name FROM migration ORDER BY name", [])).toEqual(
        [...NAMES, ...LATER].map((name) => ({ name })),
      )
      await engine.close()
    }
  })

  test("leave nothing behind if they fail", async () => {
    await using database = await createEmpty()
    const engine = open(database.url)
    const broken = { name: "999_broken", statements: () => ["CREATE TABLE half (id TEXT)", "CREATE NONSENSE"] }
    await migrate(engine)
    await expect(migrate(engine, { known: [...migrations, broken] })).rejects.toMatchObject({
      code: "store_unavailable",
    })
    await expect(engine.query("SELECT * FROM half", [])).rejects.toThrow("half")
    expect(await migrate(engine)).toEqual([])
    await engine.close()
  })

  test("of a newer version that only add do not stop this version", async () => {
    await using database = await createEmpty()
    const engine = open(database.url)
    const newer: string[] = []
    await migrate(engine, { known: all })
    expect(await migrate(engine, { newer })).toEqual([])
    expect(newer).toEqual(LATER)
    await engine.close()
  })

  test("of a newer version that break this one stop it before it changes anything, and name the version to start", async () => {
    await using database = await createEmpty()
    const engine = open(database.url)
    const breaks = { name: "999_no_nodes", needs: "7.10.0", statements: () => ["DROP TABLE earmark"] }
    const breaksToo = { name: "999_other", needs: "7.9.0", statements: () => ["CREATE TABLE other (name TEXT)"] }
    const ours = { name: "998_ours", statements: () => ["CREATE TABLE ours (name TEXT)"] }
    await migrate(engine, { known: [...migrations, breaksToo, breaks] })
    const message = /\(999_no_nodes, 999_other\).*Nothing was changed.*Pawl 7\.10\.0 or newer/
    await expect(migrate(engine, { known: [...migrations, ours] })).rejects.toThrow(message)
    await expect(engine.query("SELECT * FROM ours", [])).rejects.toThrow("ours")
    await engine.close()
    await expect(openStore({ url: database.url, durability: "normal" })).rejects.toThrow(message)
  })

  test.each([
    [
      "the last checkout before 0.1.0",
      ["001_journal", "072_models_per_client", "books/001_loans"],
      /Write it to a file/,
    ],
    [
      "an older checkout",
      ["001_journal", "013_connections"],
      /Run "pawl migrate" with the last checkout before 0\.1\.0/,
    ],
  ])("refuse a database of %s in one sentence that says how to move it", async (_, recorded, remedy) => {
    await using database = await createEmpty()
    const engine = open(database.url)
    const statements = [
      "CREATE TABLE migration (name TEXT NOT NULL PRIMARY KEY, needs TEXT)",
      `INSERT INTO migration (name) VALUES ${recorded.map((name) => `('${name}')`).join(", ")}`,
    ]
    await engine.change({ type: "statements", statements: statements.map((sql) => ({ sql, values: [] })) })
    const opening = openStore({ url: database.url, durability: "normal" })
    await expect(opening).rejects.toThrow(remedy)
    await expect(opening).rejects.toThrow(/from before 0\.1\.0 .* Nothing was changed.*pawl export.*pawl import/)
    expect(await engine.query("SELECT name FROM migration ORDER BY name", [])).toEqual(
      recorded.map((name) => ({ name })),
    )
    await expect(engine.query("SELECT * FROM person", [])).rejects.toThrow("person")
    await engine.close()
  })
})
