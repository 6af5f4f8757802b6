import pg from "pg"
import { describe, expect, test } from "vitest"
import type { Log } from "../../core/shared/log.ts"
import { databases } from "../support/databases.ts"
import type { Engine } from "../../core/store/engine/engine.ts"
import { openPostgres } from "../../core/store/engine/open-postgres.ts"
import { migrations } from "../../core/store/schema/migrations.ts"
import { migrate } from "../../core/store/schema/migrate.ts"

const addsColumn = { name: "998_colour", statements: () => ["ALTER TABLE herd ADD COLUMN colour TEXT"] }
const addsIndex = { name: "999_by_name", index: { name: "herd_name", table: "herd", over: "(name)" } }
const IS_VALID = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'herd_name'::regclass"

describe.each(databases.filter(({ name }) => name === "postgres"))("next to clients that use $name", ({ create }) => {
  test("a migration waits for a long reader, and other clients do not wait for the migration", async () => {
    await using herd = await openHerd(create)
    const { engine, reader } = herd
    await reader.query("BEGIN")
    await reader.query("SELECT * FROM herd")
    const { log, told } = listening("migration_waits")
    const done = migrate(engine, { known: [...migrations, addsColumn], log })
    // Either of these may run while the migration waits for its lock: it gives up within seconds and retries, the
    // reader keeps its own.
    expect(await engine.query("SELECT name FROM herd", [])).toEqual([{ name: "bella" }])
    expect(await told).toMatchObject({ migrations: ["998_colour"] })
    expect(await engine.query("SELECT name FROM herd", [])).toEqual([{ name: "bella" }])
    await reader.query("COMMIT")
    expect(await done).toEqual(["998_colour"])
    expect(await engine.query("SELECT name, colour FROM herd", [])).toEqual([{ name: "bella", colour: null }])
  })

  test("an index is built while others write to its table", async () => {
    await using herd = await openHerd(create)
    const { engine, reader } = herd
    await reader.query("BEGIN")
    await reader.query("INSERT INTO herd (name) VALUES ('clara')")
    const done = migrate(engine, { known: [...migrations, addsIndex] })
    // It waits for the transaction that writes, and blocks none that comes after it.
    await expect.poll(() => engine.query("SELECT 1 FROM pg_class WHERE relname = 'herd_name'", [])).toHaveLength(1)
    const insert = { sql: "INSERT INTO herd (name) VALUES ('doris')", values: [] }
    await engine.change({ type: "statements", statements: [insert] })
    await reader.query("COMMIT")
    expect(await done).toEqual(["999_by_name"])
    expect(await engine.query(IS_VALID, [])).toEqual([{ indisvalid: true }])
    expect(await migrate(engine, { known: [...migrations, addsIndex] })).toEqual([])
  })

  test("an index that a crash has left incomplete is rebuilt", async () => {
    await using herd = await openHerd(create)
    const { engine, reader } = herd
    await reader.query("INSERT INTO herd (name) VALUES ('bella')")
    // Fails because two rows have the same name, and leaves an invalid index.
    await expect(reader.query("CREATE UNIQUE INDEX CONCURRENTLY herd_name ON herd (name)")).rejects.toThrow("herd_name")
    expect(await engine.query(IS_VALID, [])).toEqual([{ indisvalid: false }])
    expect(await migrate(engine, { known: [...migrations, addsIndex] })).toEqual(["999_by_name"])
    expect(await engine.query(IS_VALID, [])).toEqual([{ indisvalid: true }])
  })

  test("an index that was built and not recorded is recorded", async () => {
    await using herd = await openHerd(create)
    const { engine } = herd
    const dying = { ...engine, change: (() => Promise.reject(new Error("died"))) as Engine["change"] }
    const options = { known: [...migrations, addsIndex, addsColumn] }
    await expect(migrate(dying, options)).rejects.toThrow("died")
    expect(await engine.query(IS_VALID, [])).toEqual([{ indisvalid: true }])
    expect(await migrate(engine, options)).toEqual(["999_by_name", "998_colour"])
  })

  test("two nodes that build the same index both find it complete", async () => {
    await using herd = await openHerd(create)
    const { engine } = herd
    const options = { known: [...migrations, addsIndex] }
    const done = await Promise.all([1, 2].map(() => migrate(engine, options)))
    expect(done.flat()).toEqual(["999_by_name"])
    expect(await engine.query(IS_VALID, [])).toEqual([{ indisvalid: true }])
  })
})

/** A database with a table for the test, and another client that is connected to it. */
async function openHerd(create: () => Promise<{ url: string } & AsyncDisposable>) {
  const database = await create()
  const engine = openPostgres({ url: database.url, durability: "normal", connections: 4 })
  const reader = new pg.Client({ connectionString: database.url })
  await reader.connect()
  await reader.query("CREATE TABLE herd (name TEXT); INSERT INTO herd (name) VALUES ('bella')")
  return {
    engine,
    reader,
    async [Symbol.asyncDispose]() {
      await reader.end()
      await engine.close()
      await database[Symbol.asyncDispose]()
    },
  }
}

/** A log, and the fields of the first entry with this name. */
function listening(name: string): { log: Log; told: Promise<Record<string, unknown>> } {
  const { promise: told, resolve } = Promise.withResolvers<Record<string, unknown>>()
  const hear: Log["warn"] = (event, fields) => void (event === name && resolve(fields))
  return { log: { info: hear, warn: hear, error: hear }, told }
}
