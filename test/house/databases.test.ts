import { existsSync } from "node:fs"
import { dirname } from "node:path"
import { DatabaseSync } from "node:sqlite"
import pg from "pg"
import { expect, test } from "vitest"
import { databases } from "../support/databases.ts"

test.each(databases)("two databases on $name share nothing", async ({ createEmpty }) => {
  await using one = await createEmpty()
  await using other = await createEmpty()
  expect(one.url).not.toBe(other.url)
  await run(one.url, "create table note (text text)")
  await expect(run(other.url, "select text from note")).rejects.toThrow("note")
})

test.each(databases)("a database on $name has its tables, or none at all", async ({ create, createEmpty }) => {
  await using ready = await create()
  await using empty = await createEmpty()
  await run(ready.url, "insert into migration (name) values ('x')")
  await expect(run(empty.url, "insert into migration (name) values ('x')")).rejects.toThrow("migration")
})

test("a database on sqlite is deleted when it is disposed", async () => {
  const place = await databases[0]!.createEmpty()
  await run(place.url, "create table note (text text)")
  const folder = dirname(place.url.slice("file:".length))
  expect(existsSync(folder)).toBe(true)
  await place[Symbol.asyncDispose]()
  expect(existsSync(folder)).toBe(false)
})

test.each(databases.filter(({ name }) => name === "postgres"))(
  "a database on $name is deleted too",
  async ({ createEmpty }) => {
    const place = await createEmpty()
    await run(place.url, "create table note (text text)")
    await place[Symbol.asyncDispose]()
    await expect(run(place.url, "select text from note")).rejects.toThrow(/database .* does not exist/)
  },
)

test.each(databases.filter(({ name }) => name === "postgres"))(
  "no test finds what another one leaves on $name: rows, tables or open connections",
  async ({ create }) => {
    const leave = ["insert into news values (1, 'x', 1)", "create table leftover (text text)", "drop table migration"]
    for (const statement of leave) {
      const place = await create()
      const client = new pg.Client(place.url)
      client.on("error", () => {}) // the server closes it
      await client.connect()
      await client.query(statement)
      await place[Symbol.asyncDispose]()
      await expect(client.query("select 1")).rejects.toThrow()
      await using next = await create()
      expect(next.url).not.toBe(place.url)
      await run(next.url, "select 1 / (case when exists (select from news) then 0 else 1 end) from migration")
      await expect(run(next.url, "select text from leftover")).rejects.toThrow("leftover")
    }
  },
)

async function run(url: string, statement: string): Promise<void> {
  if (url.startsWith("file:")) {
    using database = new DatabaseSync(url.slice("file:".length))
    database.exec(statement)
    return
  }
  const client = new pg.Client(url)
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
