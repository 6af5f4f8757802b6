import { mkdirSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { beforeAll, describe, expect, inject, test } from "vitest"
import type { Model, ModelRequest } from "../../core/engine/model.ts"
import { calls, fails, says, type Script } from "../../core/models/scripted/script.ts"
import { OutboundPolicy } from "../../core/models/network/outbound-policy.ts"
import { WRITE_SQL } from "../../packs/analyst/tools/write-sql.ts"
import { analystModel, wantsSql } from "./analyst-model.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face, type Visitor } from "../support/server/face.ts"
import { makeShop } from "./shop.ts"
import { currentScript } from "../support/current-script.ts"

/** The tool results that a request to the model contains. */
const resultsIn = (received: { readonly request: ModelRequest } | undefined) =>
  received?.request.history
    .flatMap((turn) => (turn.role === "tool" ? turn.results.map(({ text }) => text) : []))
    .join("\n")

const COUNT = "SELECT count(*) AS n FROM customer"

describe.each(anyDatabase)("ask_database on $name", ({ name: engine, create }) => {
  let url: string
  let root: string
  let face: Face
  let current: Model

  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), inject("testRun"), "databases-"))
    mkdirSync(join(root, "shared"))
    makeShop(join(root, "shared", "shop.db"))
    url = (await create()).url
    const model = currentScript(() => current)
    face = await Face.open({
      ...{ url, model, sqliteRoot: root },
      ...{ superuserConnections: true, reach: new OutboundPolicy(["127.0.0.1"]) },
    })
    return () => face[Symbol.asyncDispose]()
  })

  /** Creates a user and a conversation that works on the shop database. */
  async function open(model: Model) {
    current = model
    const ada = await face.as(`ada-${Math.random().toString(36).slice(2)}`)
    const { body } = await ada.post("/api/connections", { name: "Shop", kind: "sqlite", path: "shared/shop.db" })
    const shop = body.id as string
    const id = await ada.begin({ agent: "analyst", connectionId: shop })
    return { ada, shop, id }
  }

  const resultOf = async (ada: Visitor, id: string) =>
    (await ada.get(`/api/conversations/${id}`)).body.messages.find(({ role }: { role: string }) => role === "tool")

  test.each<[string, Script]>([
    ["plainly", says(COUNT)],
    [
      "in a fence, with words around it",
      says(`Here you are:\n\n\`\`\`sql\n-- all of them\n${COUNT};\n\`\`\`\nIt counts.`),
    ],
    ["after a comment, with words behind it", says(`/* customers */\n${COUNT};\n\nThis counts the customers.`)],
    ["by calling", calls(WRITE_SQL, { sql: `\`\`\`\n${COUNT}\n\`\`\`` })],
  ])("takes a statement that is written %s", async (_, reply) => {
    const world = await open(analystModel(reply))
    const { body } = await world.ada.say(world.id, "How many customers are there?")
    expect(body.messages.at(-1).content).toContain("| n |\n| --- |\n| 2 |")
    const { data } = await resultOf(world.ada, world.id)
    expect(data).toMatchObject({ kind: "table", connectionId: world.shop, rows: [[2]], rowCount: 1, truncated: false })
    const { body: whole } = await world.ada.get(`/api/connections/${world.shop}/results/${data.resultId}`)
    expect(whole).toMatchObject({ id: data.resultId, columns: [{ name: "n" }], rows: [[2]] })
    const { sqlResult } = (await world.ada.get(`/api/conversations/${world.id}/state`)).body
    expect(sqlResult).toEqual({
      ...{ resultId: data.resultId, connectionId: world.shop, sql: data.sql, columns: data.columns },
      ...{ rowCount: 1, truncated: false, rows: [[2]], hash: whole.hash },
    })
  })

  test("sends the database's errors to the model and accepts its third statement", async () => {
    const model = analystModel(says("SELECT nmae FROM customer"), says("DELETE FROM customer"), says(COUNT))
    const world = await open(model)
    const { body } = await world.ada.say(world.id, "How many customers are there?")
    expect(body.messages.at(-1).content).toContain("| 2 |")
    const asked = model.received.filter(({ request }) => wantsSql(request))
    expect(asked.map(({ history }) => history.length)).toEqual([1, 3, 5])
    expect(JSON.stringify(asked[1]?.history)).toMatch(/nmae.*The database reported: no such column: nmae/)
    expect(JSON.stringify(asked[2]?.history)).toMatch(/DELETE FROM customer.*Not run: it begins with/)
    expect(asked[0]?.request.system).toContain("## customer (table, about 2 row(s))")
  })

  test("returns the last statement and its error after the third failure", async () => {
    const model = analystModel(says("SELECT a"), says("SELECT b"), says("SELECT c"), says(COUNT))
    const world = await open(model)
    const { body } = await world.ada.say(world.id, "How many?")
    const text = body.messages.at(-1).content
    expect(text).toContain("No statement worked in 3 tries")
    expect(text).toContain("```sql\nSELECT c\n```")
    expect(text).toContain("The database reported: no such column: c")
    expect((await world.ada.get(`/api/conversations/${world.id}/state`)).body.toolHistory[0].status).toBe("error")
  })

  test("does not run a failed statement again unchanged", async () => {
    const model = analystModel(says("SELECT a"), says("SELECT b"), says("SELECT a"))
    const world = await open(model)
    const { body } = await world.ada.say(world.id, "How many?")
    const text = body.messages.at(-1).content
    expect(text).toContain("No statement worked in 2 tries")
    expect(text).toContain("The database reported: no such column: b")
  })

  test("returns the model's explanation if the tables cannot answer the question", async () => {
    const model = analystModel(says("These tables say nothing about the weather."))
    const world = await open(model)
    const { body } = await world.ada.say(world.id, "Is it raining?")
    expect(body.messages.at(-1).content).toContain("These tables say nothing about the weather.")
    expect(model.received.filter(({ request }) => wantsSql(request))).toHaveLength(1)
  })

  test("a provider error inside the tool becomes a tool result, and the run continues", async () => {
    const world = await open(analystModel(fails("provider_error")))
    const { body } = await world.ada.say(world.id, "How many?")
    expect(body.run.status).toBe("completed")
    expect(body.messages.at(-1).content).toMatch(/ask_database failed: .*as scripted/)
  })

  test("sends the schema and the last result with every later request, also after a restart", async () => {
    const first = analystModel(says("SELECT name FROM customer WHERE id = 1"))
    const world = await open(first)
    const { ada, id, shop } = world
    await ada.say(id, "Who is the first?")
    const loop = first.received.filter(({ request }) => !wantsSql(request))
    expect(loop[0]?.request.system).toContain("## customer")
    // The text before the history does not change, so that it stays in the provider's prompt cache.
    expect(loop[1]?.request.system).toBe(loop[0]?.request.system)
    expect(resultsIn(loop[1])).toMatch(/\| Ada \|[^]*WHERE id = 1/)
    const { body: me } = await ada.get("/api/auth/me")

    const second = analystModel(says(COUNT))
    await using again = await Face.open({ url, model: second, sqliteRoot: root })
    const back = await again.as(me.user.name)
    await back.say(id, "And how many?")
    const [reply, statement, last] = second.received
    for (const told of [reply, statement, last]) expect(told?.request.system).toContain("## customer (table")
    expect(statement?.request.system).toMatch(/# The last result[^]*WHERE id = 1/)
    expect(resultsIn(reply)).toContain("WHERE id = 1")
    expect(resultsIn(last)).toContain("count")
    expect(reply?.request.system).toBe(loop[0]?.request.system)
    expect((await back.get(`/api/conversations/${id}`)).body.connectionId).toBe(shop)
  })

  test("lists the databases if none is selected, and reports a deleted one", async () => {
    const world = await open(analystModel())
    const { ada, shop } = world
    const free = await ada.begin({ agent: "analyst" })
    const { body } = await ada.say(free, "How many?")
    expect(body.messages.at(-1).content).toContain(
      `No database is chosen for this conversation. There are: "Shop" (${shop})`,
    )
    await ada.delete(`/api/connections/${shop}`)
    const gone = (await ada.say(world.id, "How many?")).body.messages.at(-1).content
    expect(gone).toContain("The connection that was chosen for this conversation has been deleted.")
    expect((await ada.get(`/api/conversations/${world.id}`)).body.connectionId).toBe(shop)
  })

  test("returns columns without rows, and values as the database has them", async () => {
    const values = "SELECT 9007199254740993 AS big, 0.1 AS small, NULL AS none, x'00ff' AS bytes, '2026-02-29' AS day"
    const world = await open(analystModel(says("SELECT id, name FROM customer WHERE id > 99"), says(values)))
    const { body } = await world.ada.say(world.id, "Who is late?")
    expect(body.messages.at(-1).content).toContain("| id | name |\n| --- | --- |\n\nNo rows.")
    await world.ada.say(world.id, "And the values?")
    const { sqlResult } = (await world.ada.get(`/api/conversations/${world.id}/state`)).body
    expect(sqlResult.rows).toEqual([
      ["9007199254740993", 0.1, null, expect.objectContaining({ base64: "AP8=" }), "2026-02-29"],
    ])
  })

  test.skipIf(engine === "sqlite")("works the same on PostgreSQL: its SQL, its messages, its values", async () => {
    const { hostname: host, port, pathname, username: user, password } = new URL(inject("postgresUrl"))
    const target = { kind: "postgres", host, port: Number(port), database: pathname.slice(1), user, password }
    const values = `SELECT 9007199254740993 AS big, 1.50::numeric AS money, date '2026-02-03' AS day,
      '{"a": [1]}'::jsonb AS doc, decode('00ff', 'hex') AS bytes, NULL::text AS none`
    const model = analystModel(says("SELECT strftime('%Y', now())"), says("DROP TABLE event"), says(values))
    const { ada, id } = await open(model)
    const connection = (await ada.post("/api/connections", { name: "Main", ssl: false, ...target })).body.id
    await ada.patch(`/api/conversations/${id}`, { connectionId: connection })
    const { body } = await ada.say(id, "What do you have?")
    expect(body.messages.at(-1).content).toContain("2026-02-03")
    const { sqlResult } = (await ada.get(`/api/conversations/${id}/state`)).body
    expect(sqlResult.rows).toEqual([
      ["9007199254740993", "1.50", "2026-02-03", { a: [1] }, expect.objectContaining({ base64: "AP8=" }), null],
    ])
    const asked = model.received.filter(({ request }) => wantsSql(request))
    expect(asked[0]?.request.system).toContain('"Main" (PostgreSQL)')
    expect(JSON.stringify(asked[1]?.history)).toContain("function strftime")
    expect(JSON.stringify(asked[2]?.history)).toContain("Not run:")
  })

  test("stores a long result in a file, a page of it for the model and a little of it in the state", async () => {
    const long =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT i, '=1+' || i AS f FROM n"
    const world = await open(analystModel(says(long)))
    const { body } = await world.ada.say(world.id, "Count to 500.")
    expect(body.messages.at(-1).content).toContain("The first 20 of 500 row(s)")
    const { data } = await resultOf(world.ada, world.id)
    const { sqlResult } = (await world.ada.get(`/api/conversations/${world.id}/state`)).body
    expect([data.rows.length, data.rowCount, sqlResult.rows.length, sqlResult.rowCount]).toEqual([100, 500, 50, 500])
    const csv = await world.ada.get(`/api/connections/${world.shop}/results/${data.resultId}.csv`)
    expect([csv.status, csv.type]).toEqual([200, expect.stringContaining("text/csv")])
    const lines = csv.text.split("\r\n")
    expect([lines.length, lines[0], lines[1], lines[500]]).toEqual([502, "i,f", "1,'=1+1", "500,'=1+500"])
    expect(csv.headers.get("x-pawl-truncated")).toBe("false")
  })

  test("names the file of a truncated result accordingly", async () => {
    const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10050) SELECT i FROM n"
    const world = await open(analystModel(says(endless)))
    await world.ada.say(world.id, "Count on and on.")
    const { data } = await resultOf(world.ada, world.id)
    expect([data.truncated, data.rowCount]).toEqual([true, 10_000])
    const { headers } = await world.ada.get(`/api/connections/${world.shop}/results/${data.resultId}.csv`)
    expect(headers.get("content-disposition")).toContain(`${data.resultId}-first-10000-rows-only.csv`)
    expect(headers.get("x-pawl-truncated")).toBe("true")
  })
})
