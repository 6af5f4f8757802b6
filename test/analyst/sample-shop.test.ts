import { mkdtempSync, readFileSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { beforeAll, describe, expect, inject, test } from "vitest"
import { offlineModel } from "../../labs/offline-model/model.ts"
import { makeSample, SAMPLE_PATH } from "../../packs/analyst/connections/sample-database.ts"
import { askDatabase } from "../../packs/analyst/tools/ask-database.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face, type Visitor } from "../support/server/face.ts"
import { makeShop } from "./shop.ts"

const { examples = [] } = askDatabase({} as never)
const model = offlineModel([{ name: "ask_database", examples }])

const newRoot = () => mkdtempSync(join(tmpdir(), inject("testRun"), "databases-"))

test("the sample database is the same for every user, spans more than two years, and is not overwritten", async () => {
  const [one, two] = [newRoot(), newRoot()]
  await Promise.all([makeSample(one), makeSample(one), makeSample(two)])
  expect(readFileSync(join(one, SAMPLE_PATH)).equals(readFileSync(join(two, SAMPLE_PATH)))).toBe(true)
  const { mtimeMs } = statSync(join(one, SAMPLE_PATH))
  await makeSample(one)
  expect(statSync(join(one, SAMPLE_PATH)).mtimeMs).toBe(mtimeMs)
  const db = new DatabaseSync(join(one, SAMPLE_PATH), { readOnly: true })
  const [row] = db.prepare("SELECT count(*) AS n, min(bought_on) AS first, max(bought_on) AS last FROM purchase").all()
  expect(row).toMatchObject({
    n: 1600,
    first: expect.stringMatching(/^2024-0/),
    last: expect.stringMatching(/^2026-06/),
  })
  const [lines] = db.prepare("SELECT count(*) AS n FROM purchase_line").all()
  expect(lines?.n).toBeGreaterThan(2000)
  expect(db.prepare("SELECT count(*) AS n FROM customer GROUP BY name HAVING n > 1").all()).toEqual([])
  db.close()
})

describe.each(anyDatabase)("a new user without a model on $name", ({ create }) => {
  let face: Face
  let ada: Visitor
  let root: string
  let id: string
  let shop: DatabaseSync

  beforeAll(async () => {
    root = newRoot()
    face = await Face.open({ url: (await create()).url, model, sqliteRoot: root })
    ada = await face.as("ada")
    const { body } = await ada.post("/api/connections/sample")
    id = await ada.begin({ agent: "analyst", connectionId: body.id })
    shop = new DatabaseSync(join(root, SAMPLE_PATH), { readOnly: true })
    return async () => {
      shop.close()
      await face[Symbol.asyncDispose]()
    }
  })

  const ask = async (question: string) => {
    const { body } = await ada.say(id, question)
    const { data } = body.messages.find(({ role }: { role: string }) => role === "tool") ?? {}
    return { text: body.messages.at(-1).content as string, data, status: body.run.status }
  }

  test("gets the sample as a connection, once", async () => {
    const [one, two] = [await ada.post("/api/connections/sample"), await ada.post("/api/connections/sample")]
    expect([one.status, one.body.id]).toEqual([200, two.body.id])
    expect((await ada.get("/api/connections")).body.items).toHaveLength(1)
    const bob = await face.as("bob")
    expect((await bob.post("/api/connections/sample")).body.id).not.toBe(one.body.id)
  })

  test("gets rows for every suggested question", async () => {
    for (const example of examples) {
      const { text, data } = await ask(example)
      expect(data?.rowCount, `${example}\n${text}`).toBeGreaterThan(0)
    }
  }, 120_000)

  test.each([
    ["How many customers are there?", "SELECT count(*) FROM customer"],
    [
      "how many purchases were there in 2025",
      "SELECT count(*) FROM purchase WHERE bought_on BETWEEN '2025-01-01' AND '2025-12-31'",
    ],
    ["how many customers are there in total?", "SELECT count(*) FROM customer"],
    ["how many products do we have in the shop?", "SELECT count(*) FROM product"],
    ["What is the total revenue?", "SELECT round(sum(quantity * price_cents) / 100.0, 2) FROM purchase_line"],
    ["orders in 2024", "SELECT count(*) FROM purchase WHERE bought_on LIKE '2024-%'"],
    ["number of units sold", "SELECT sum(quantity) FROM purchase_line"],
    [
      "what is the average order value?",
      "SELECT round((SELECT sum(quantity * price_cents) FROM purchase_line) / 100.0 / count(*), 2) FROM purchase",
    ],
    ["how many customers are from Portugal", "SELECT count(*) FROM customer WHERE city IN ('Lisbon', 'Porto')"],
  ])("%s is answered from the tables", async (question, sql) => {
    const { data } = await ask(question)
    expect(data.rows).toEqual([Object.values(shop.prepare(sql).get() ?? {})])
  })

  test("a top five has five rows in order, and each month has a row", async () => {
    const top = await ask("top 5 products by revenue")
    const revenues = top.data.rows.map(([, revenue]: [string, number]) => revenue)
    expect(revenues).toHaveLength(5)
    expect(revenues).toEqual([...revenues].sort((a, b) => b - a))
    const months = await ask("revenue by month in 2025")
    expect(months.data.rows.map(([month]: [string]) => month)).toEqual(
      Array.from({ length: 12 }, (_, n) => `2025-${String(n + 1).padStart(2, "0")}`),
    )
  })

  test.each([
    ["average order value by country", ["country", "average"]],
    ["Show me the sales per category in 2025", ["category", "revenue"]],
    ["items sold by product", ["product", "units"]],
    ["top 3 countries by orders", ["country", "purchases"]],
    ["how many orders per year", ["year", "purchases"]],
    ["revenue over time", ["month", "revenue"]],
  ])("%s has a row for each", async (question, columns) => {
    const { data } = await ask(question)
    expect(data.columns.map(({ name }: { name: string }) => name)).toEqual(columns)
    expect(data.rowCount).toBeGreaterThan(1)
  })

  test("learns which questions the offline model supports, and that another database has other tables", async () => {
    const { text, data } = await ask("Which of them would you marry?")
    expect(data).toBeUndefined()
    expect(text).toContain("I am the offline model")
    // The sample has no rows of that year; the model says so rather than counting all.
    expect((await ask("how many customers did we have in 2025?")).text).toContain("I am the offline model")
    expect(text).toContain("top 5 products by revenue")

    makeShop(join(root, "shared", "other.db"))
    const { body } = await ada.post("/api/connections", { name: "Other", kind: "sqlite", path: "shared/other.db" })
    await ada.patch(`/api/conversations/${id}`, { connectionId: body.id })
    expect((await ask("how many rows are in customer?")).data.rows).toEqual([[2]])
    const other = await ask("top 5 products by revenue")
    expect(other.text).toContain("no such table: purchase_line")
  })
})
