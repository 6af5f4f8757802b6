import pg from "pg"
import { describe, expect, test } from "vitest"
import { databases } from "../../../../test/support/databases.ts"
import { runNamed } from "./run-named.ts"

const ODD_TEXTS = [
  "",
  "NULL",
  "null",
  '"',
  "\\",
  '\\"',
  "{a,b}",
  "it's; $1",
  "é ✓ 😀",
  "a\nb\t",
  "x".repeat(600),
  "ж".repeat(600),
]

describe.each(databases.filter(({ name }) => name === "postgres"))("statements by name on $name", ({ create }) => {
  async function connect() {
    const database = await create()
    const client = new pg.Client(database.url)
    await client.connect()
    const [pid = []] = await runNamed(client, [named("pid", "SELECT pg_backend_pid()")])
    expect(pid).toEqual([[String((client as unknown as { processID: number }).processID)]])
    return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
  }

  test("receive every value unchanged, alone and in arrays", async () => {
    await using client = await connect()
    for (const text of ODD_TEXTS) {
      const [runOne] = await runNamed(client, [named("one", "SELECT $1::text, length($1::text)", [text])])
      expect(runOne).toEqual([[text, String([...text].length)]])
    }
    const many = "SELECT * FROM unnest($1::text[], $2::bigint[])"
    const values = [...ODD_TEXTS, null]
    const [rows] = await runNamed(client, [
      named("many", many, [values, values.map((_, at) => (at === 2 ? null : at))]),
    ])
    expect(rows).toEqual(values.map((text, at) => [text, at === 2 ? null : String(at)]))
    const others = named("others", "SELECT $1::bigint, $2::boolean, $3::text, $4::text", [7, true, null, undefined])
    expect(await runNamed(client, [others])).toEqual([[["7", "t", null, null]]])
    expect(await runNamed(client, [named("empty", "SELECT cardinality($1::text[])", [[]])])).toEqual([[["0"]]])
  })

  test("that run together are one transaction, each sees the effects of those before it, and each returns its own rows", async () => {
    await using client = await connect()
    await client.query("CREATE TEMPORARY TABLE word (text TEXT UNIQUE)")
    const add = (text: string) =>
      named("add", "INSERT INTO word VALUES ($1::text) RETURNING pg_current_xact_id()", [text])
    const list = named("list", "SELECT text FROM word ORDER BY text")
    const [first, second, all] = await runNamed(client, [add("a"), add("b"), list])
    expect(first).toEqual(second)
    expect(all).toEqual([["a"], ["b"]])
    await expect(runNamed(client, [add("c"), add("a")])).rejects.toMatchObject({ code: "23505" })
    expect(await runNamed(client, [list])).toEqual([[["a"], ["b"]]])
  })

  test("can be retried on their connection after a failure", async () => {
    await using client = await connect()
    const divide = (by: number) => named("divide", "SELECT 6 / $1::bigint", [by])
    await expect(runNamed(client, [divide(0)])).rejects.toMatchObject({ code: "22012" })
    expect(await runNamed(client, [divide(2)])).toEqual([[["3"]]])
    const late = named("late", "SELECT count(*) FROM not_yet")
    await expect(runNamed(client, [late])).rejects.toMatchObject({ code: "42P01" })
    await client.query("CREATE TEMPORARY TABLE not_yet (n INT)")
    expect(await runNamed(client, [divide(3), late])).toEqual([[["2"]], [["0"]]])
    const { rows } = await client.query("SELECT name FROM pg_prepared_statements ORDER BY name")
    expect(rows).toEqual([{ name: "divide" }, { name: "late" }, { name: "pid" }])
  })

  test("stay prepared up to a limit, the most recently used ones; others are prepared again", async () => {
    await using client = await connect()
    const nth = (n: number) => named(`number ${n}`, `SELECT ${n}`)
    for (let n = 0; n < 150; n++) {
      expect(await runNamed(client, [nth(0), nth(n)])).toEqual([[["0"]], [[String(n)]]])
      if (n === 10) await expect(runNamed(client, [named("wrong", "SELECT 1 FROM nowhere")])).rejects.toThrow()
    }
    const { rows } = await client.query<{ name: string }>("SELECT name FROM pg_prepared_statements")
    expect(rows).toHaveLength(100)
    expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining(["number 0", "number 149"]))
    expect(await runNamed(client, [nth(1)])).toEqual([[["1"]]])
  })

  test("are prepared again if the session has lost them", async () => {
    await using client = await connect()
    await client.query("DEALLOCATE ALL")
    const pid = named("pid", "SELECT pg_backend_pid()")
    await expect(runNamed(client, [pid])).rejects.toMatchObject({ code: "26000" })
    expect(await runNamed(client, [pid])).toHaveLength(1)
  })

  test("fail if their connection ends or has ended", async () => {
    const client = await connect()
    client.on("error", () => {})
    const ending = runNamed(client, [named("end", "SELECT pg_terminate_backend(pg_backend_pid())")])
    await expect(ending).rejects.toThrow()
    await expect(runNamed(client, [named("late", "SELECT 1")])).rejects.toThrow(/not queryable|terminated/)
  })
})

const named = (name: string, text: string, values: Parameters<typeof runNamed>[1][number]["values"] = []) => ({
  name,
  text,
  values,
})
