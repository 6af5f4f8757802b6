import { describe, expect, test } from "vitest"
import { always, calls, says, scripted } from "../../core/testing.ts"
import { type CountedTable, recount } from "../../core/store/engine/byte-counts.ts"
import type { Engine } from "../../core/store/engine/engine.ts"
import { otherTables, personalTables } from "../../core/store/personal-tables.ts"
import { countedTables, uncountedTables } from "../../core/store/storage/counted-tables.ts"
import type { Store } from "../../core/store/store.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { databases } from "../support/databases.ts"
import { openWorld } from "../support/loop/world.ts"
import { Face } from "../support/server/face.ts"

interface Column {
  readonly name: string
  readonly type: string
}

/** Without those that the database computes by itself. */
function columnsOf({ name, query }: Engine, table: string): Promise<Column[]> {
  const sql =
    name === "sqlite"
      ? `SELECT name, type FROM pragma_table_info('${table}')`
      : `SELECT column_name::text AS name, upper(data_type)::text AS type FROM information_schema.columns
         WHERE table_schema = current_schema() AND table_name = '${table}' AND is_generated = 'NEVER'`
  return query<Column>(sql, [])
}

const holdsText = ({ type }: Column) => /TEXT|BLOB|BYTEA/.test(type)

const run = (engine: Engine, ...sqls: string[]) =>
  engine.change({ type: "statements", statements: sqls.map((sql) => ({ sql, values: [] })) })

/** The bytes of all users, by table. */
async function countedIn({ query }: Engine): Promise<Record<string, number>> {
  const sql =
    "SELECT source, CAST(sum(bytes) AS BIGINT) AS bytes FROM storage_use GROUP BY source HAVING sum(bytes) <> 0"
  const rows = await query<{ source: string; bytes: number }>(sql, [])
  return Object.fromEntries(rows.map(({ source, bytes }) => [source, bytes]))
}

/** The counts after all rows are read again, without changing the stored ones. */
async function recounted(engine: Engine): Promise<Record<string, number>> {
  const before = await countedIn(engine)
  await run(engine, ...countedTables.map((table) => recount(table, engine.byteCounts.adds)))
  const after = await countedIn(engine)
  expect(after).toEqual(before)
  return after
}

const LENGTH = 3000

/** A row of `table` whose texts have this many characters; `ids` make it unique. */
async function insertRow({ engine }: Pick<Store, "engine">, counted: CountedTable, whose: string, length: number) {
  const { table, column, sized } = counted
  const columns = await columnsOf(engine, table)
  const text = `'${"x".repeat(length)}'`
  const values = columns.map(({ name, type }) => {
    if (name === column) return whose
    if (/BLOB|BYTEA/.test(type)) return `CAST(${text} AS ${type})`
    if (/TEXT/.test(type)) return text
    return name === sized ? String(length) : "1"
  })
  await run(
    engine,
    `INSERT INTO ${table} (${columns.map(({ name }) => name).join(", ")}) VALUES (${values.join(", ")})`,
  )
  const texts = columns.filter((each) => holdsText(each) && each.name !== column).length
  return (texts + (sized === undefined ? 0 : 1)) * length
}

describe.each(databases)("on $name", ({ create }) => {
  test("each table with user data counts all its texts, or states why not", async () => {
    await using database = await create()
    await using world = await openWorld({ url: database.url, model: scripted() })
    const counted = countedTables.map(({ table }) => table)
    const tables = new Set(personalTables.map(({ table }) => table))
    expect([...counted, ...Object.keys(uncountedTables)].sort()).toEqual([...tables].sort())
    expect(counted.filter((table) => table in otherTables)).toEqual([])
    for (const { table, texts } of countedTables) {
      const columns = (await columnsOf(world.store.engine, table)).filter(holdsText).map(({ name }) => name)
      expect([table, [...texts].sort()]).toEqual([table, columns.sort()])
    }
  })

  test("a row of each counted table counts when it is added, changed and deleted", async () => {
    await using database = await create()
    await using world = await openWorld({ url: database.url, model: scripted(says("Hello.")) })
    const { engine, storage } = world.store
    await world.begin("hello")
    await recounted(engine)
    const keys = await engine.query<{ key: number; person: number }>("SELECT key, person FROM conversation", [])
    const { key, person } = keys[0]!
    for (const counted of countedTables) {
      const { table, column, names, texts, sized } = counted
      if (names === "conversation key") await run(engine, `DELETE FROM ${table}`)
      const whose = { "person id": `'${world.user}'`, "person key": String(person), "conversation key": String(key) }[
        names
      ]
      const of = async () => (await storage.byTable(world.user)).get(table) ?? 0
      const before = await of()

      const bytes = await insertRow(world.store, counted, whose, LENGTH)
      const added = (await of()) - before
      expect(added, table).toBeGreaterThanOrEqual(bytes)
      expect(added, table).toBeLessThan(bytes + 1000)

      const changed = sized ?? texts.find((text) => text !== column)!
      const [was, is] = sized === undefined ? [`'${"x".repeat(LENGTH)}'`, "''"] : [String(LENGTH), "0"]
      const isIt = `${changed} = ${changed === "bytes" ? `CAST(${was} AS ${engine.name === "sqlite" ? "BLOB" : "BYTEA"})` : was}`
      await run(engine, `UPDATE ${table} SET ${changed} = ${is} WHERE ${isIt}`)
      expect((await of()) - before, table).toBe(added - LENGTH)
      await recounted(engine)

      await run(engine, `DELETE FROM ${table} WHERE ${column} = ${whose}`)
      expect(await of(), table).toBe(0)
    }
    expect(await recounted(engine)).toEqual({})
  })

  test("turns, tool calls, forks and erasures leave the same counts as a reading of all rows", async () => {
    await using database = await create()
    const model = scripted(calls("create_task", { title: "Buy milk" }), always(says("Done.")))
    await using face = await Face.open({ url: database.url, model })
    const { engine, storage } = face.store
    const ada = await face.as("ada")
    const id = await ada.begin({ title: "Milk" })
    const { body } = await ada.say(id, "milk")
    await ada.post(`/api/agent/proposals/${body.proposals[0].id}/commit`)
    await face.pawl.runtime.rest(id as ConversationId)
    for (let turn = 0; turn < 12; turn++) await ada.say(id, `And ${turn}?`)
    const { id: person } = await face.store.people.ensure("ada", 0)
    const before = await recounted(engine)
    expect(Object.keys(before)).toEqual(expect.arrayContaining(["event", "task", "audit_entry", "applied_call"]))
    // Reading adds up the rows in which a database may have counted.
    expect(Object.fromEntries(await storage.byTable(person))).toEqual(before)
    expect(Object.fromEntries(await storage.byTable(person))).toEqual(before)
    expect(await countedIn(engine)).toEqual(before)

    expect((await ada.ask("DELETE", `/api/conversations/${id}`)).status).toBe(204)
    const left = await recounted(engine)
    expect(left.event).toBeUndefined()
    expect(left.task).toBe(before.task)
    await face.store.retention.erasePerson(person)
    expect(await countedIn(engine)).toEqual({})
  })

  test("two clients that write and sum at once lose nothing", async () => {
    await using database = await create()
    await using world = await openWorld({ url: database.url, model: scripted() })
    const { engine, storage } = world.store
    const add = (number: number) =>
      run(
        engine,
        `INSERT INTO tainted_row (person, place, id, taint, created_at) VALUES ('${world.user}', 'server', '${number}', 'untrusted', 0)`,
      )
    await Promise.all(
      Array.from({ length: 300 }, (_, number) => [
        add(number),
        ...(number % 10 ? [] : [storage.read(world.user)]),
      ]).flat(),
    )
    expect((await recounted(engine)).tainted_row).toBeGreaterThan(300 * 100)
    await storage.read(world.user)
    await recounted(engine)
  })
})
