import { describe, expect, test } from "vitest"
import { databases } from "../../../test/support/databases.ts"
import type { Engine } from "../engine/engine.ts"
import { migrate } from "./migrate.ts"
import { migrations } from "./list.ts"
import { openPostgres, postgresWords } from "../engine/open-postgres.ts"
import { openStore } from "../store.ts"
import { openSqlite, sqliteWords } from "../engine/open-sqlite.ts"

function open(url: string) {
  const durability = "normal" as const
  if (url.startsWith("postgres"))
    return { engine: openPostgres({ url, durability, connections: 4 }), words: postgresWords }
  return { engine: openSqlite({ file: url.slice("file:".length), durability }), words: sqliteWords }
}

const everything = migrations.map(({ name }) => name)

describe.each(databases)("migrations on $name", ({ createEmpty }) => {
  test("are done once, however often they are asked for", async () => {
    await using database = await createEmpty()
    const { engine, words } = open(database.url)
    expect(await migrate(engine, words)).toEqual(everything)
    expect(await migrate(engine, words)).toEqual([])
    await engine.close()
  })

  test("of two nodes that start at once, each finds the whole schema", async () => {
    await using database = await createEmpty()
    const nodes = [open(database.url), open(database.url)]
    const done = await Promise.all(nodes.map(({ engine, words }) => migrate(engine, words)))
    expect(done.flat().sort()).toEqual(everything)
    for (const { engine } of nodes) {
      expect(await engine.query("SELECT count(*) AS n FROM messages", [])).toEqual([{ n: 0 }])
      await engine.close()
    }
  })

  test("survive a death at any of their writes", async () => {
    let writes = 0
    // Once more than there are: the last life dies of nothing.
    for (let fatal = 1; fatal <= writes + 1; fatal++) {
      await using database = await createEmpty()
      const { engine, words } = open(database.url)
      writes = 0
      const dying = {
        ...engine,
        change: ((operation: never) => {
          if (++writes === fatal) throw new Error("died")
          return engine.change(operation)
        }) as Engine["change"],
      }
      await migrate(dying, words).catch(() => {})
      await migrate(engine, words)
      expect(await engine.query("SELECT name FROM migration ORDER BY name", [])).toEqual(
        everything.map((name) => ({ name })),
      )
      await engine.close()
    }
  })

  test("that fail half-way leave nothing behind", async () => {
    await using database = await createEmpty()
    const { engine, words } = open(database.url)
    const broken = { name: "999_broken", statements: () => ["CREATE TABLE half (id TEXT)", "CREATE NONSENSE"] }
    await migrate(engine, words)
    await expect(migrate(engine, words, { known: [...migrations, broken] })).rejects.toMatchObject({
      code: "store_unavailable",
    })
    await expect(engine.query("SELECT * FROM half", [])).rejects.toThrow("half")
    expect(await migrate(engine, words)).toEqual([])
    await engine.close()
  })

  describe("of a newer version", () => {
    const addsTable = { name: "998_pets", statements: () => ["CREATE TABLE pet (name TEXT)"] }
    const breaks = { name: "999_no_nodes", needs: "7.10.0", statements: () => ["DROP TABLE earmark"] }
    const breaksToo = { name: "999_other", needs: "7.9.0", statements: () => ["CREATE TABLE other (name TEXT)"] }

    test("do not keep this one from its work where they only add", async () => {
      await using database = await createEmpty()
      const { engine, words } = open(database.url)
      await migrate(engine, words, { known: [...migrations, addsTable] })
      expect(await migrate(engine, words)).toEqual([])
      await engine.close()
    })

    test("stop this one before it changes anything where they break it, and it says what to start instead", async () => {
      await using database = await createEmpty()
      const { engine, words } = open(database.url)
      const ours = { name: "998_ours", statements: () => ["CREATE TABLE ours (name TEXT)"] }
      await migrate(engine, words, { known: [...migrations, breaksToo, breaks] })
      const message = /\(999_no_nodes, 999_other\).*Nothing was changed.*Pawl 7\.10\.0 or newer/
      await expect(migrate(engine, words, { known: [...migrations, ours] })).rejects.toThrow(message)
      await expect(engine.query("SELECT * FROM ours", [])).rejects.toThrow("ours")
      await engine.close()
      await expect(openStore({ url: database.url, durability: "normal" })).rejects.toThrow(message)
    })

    test("of two nodes that come to a database of the version before, each finds the whole schema", async () => {
      await using database = await createEmpty()
      const nodes = [open(database.url), open(database.url)] as const
      const before = migrations.filter(({ name }) => name < "038")
      await migrate(nodes[0].engine, nodes[0].words, { known: before })
      const done = await Promise.all(nodes.map(({ engine, words }) => migrate(engine, words)))
      expect(done.flat().toSorted()).toEqual(everything.filter((name) => name >= "038")) // whoever did which
      for (const { engine } of nodes) await engine.close()
    })
  })
})
