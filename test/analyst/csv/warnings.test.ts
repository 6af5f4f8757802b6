import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { beforeAll, describe, expect, inject, test } from "vitest"
import type { Model } from "../../../core/engine/model.ts"
import { says } from "../../../core/models/scripted/script.ts"
import { dataLines } from "../../../apps/terminal/drawing/call-lines.ts"
import { analystModel } from "../analyst-model.ts"
import { anyDatabase } from "../../support/databases.ts"
import { Face, type Visitor } from "../../support/server/face.ts"
import { currentScript } from "../../support/current-script.ts"

/** An ambiguous column, one with a word in it, one without a fault, and a row that is too short. */
const SALES = "day;amount;note;n\n2025-01-01;1.234;5;1\n2025-01-02;2.500;seven;2\n2025-01-03;3.000;6\n"
const AMOUNT = /^amount: .*may be 1\.234 or 1234.*stays text/
const NOTE = /^note: .*line 3.*seven/
const SHORT = /^1 row\(s\) have fewer cells/

describe.each(anyDatabase)("warnings of a CSV file on $name", ({ create }) => {
  let face: Face
  let ada: Visitor
  let id: string
  let current: Model

  beforeAll(async () => {
    const root = mkdtempSync(join(tmpdir(), inject("testRun"), "csv-warnings-"))
    const model = currentScript(() => current)
    face = await Face.open({ url: (await create()).url, model, sqliteRoot: root })
    ada = await face.as("ada")
    const headers = { "content-type": "text/csv" }
    const made = await ada.ask("POST", "/api/connections/csv?name=sales", { body: SALES, headers })
    expect(made.status, made.text).toBe(201)
    id = made.body.id
    return () => face[Symbol.asyncDispose]()
  })

  const query = async (sql: string) => (await ada.post(`/api/connections/${id}/query`, { sql })).body

  test("are part of each answer of a query that reads it, and of no other", async () => {
    const sum = await query("SELECT sum(amount) AS total FROM sales")
    expect(sum.warnings).toEqual([expect.stringMatching(SHORT), expect.stringMatching(AMOUNT)])
    expect((await query("SELECT count(*) FROM sales")).warnings).toEqual([expect.stringMatching(SHORT)])
    expect((await query("WITH x AS (SELECT note AS a FROM sales) SELECT a FROM x")).warnings).toEqual([
      expect.stringMatching(SHORT),
      expect.stringMatching(NOTE),
    ])
    expect((await query("SELECT * FROM sales")).warnings).toHaveLength(3)
    expect(await query("SELECT 1")).not.toHaveProperty("warnings")
  })

  test("are stored with the result", async () => {
    const { resultId } = await query("SELECT amount FROM sales")
    const kept = (await ada.get(`/api/connections/${id}/results/${resultId}`)).body
    expect(kept.warnings).toEqual([expect.stringMatching(SHORT), expect.stringMatching(AMOUNT)])
  })

  test("is in the schema that the model writes its statements from", async () => {
    const { markdown } = (await ada.get(`/api/connections/${id}/schema`)).body
    expect(markdown).toMatch(/- amount: TEXT \(.*may be 1\.234 or 1234/)
  })

  test("reach the model with the rows, and the user in the page's data and on a terminal", async () => {
    current = analystModel(says("SELECT sum(amount) AS total FROM sales"))
    const conversation = await ada.begin({ agent: "analyst", connectionId: id })
    const { body } = await ada.say(conversation, "What is the total?")
    expect(body.messages.at(-1).content).toMatch(/Tell the person.*\n.*\n- amount: .*stays text/)
    const { messages } = (await ada.get(`/api/conversations/${conversation}`)).body
    const { data } = messages.find(({ role }: { role: string }) => role === "tool")
    expect(data.warnings).toEqual([expect.stringMatching(SHORT), expect.stringMatching(AMOUNT)])
    const shown = dataLines(data, 200).map((line) => line.map(({ text }) => text).join(""))
    expect(shown.join("\n")).toContain("! amount: ")
    const { sqlResult } = (await ada.get(`/api/conversations/${conversation}/state`)).body
    expect(sqlResult.warnings).toHaveLength(2)
  })

  test("a column with a currency says so in the schema, and gets no warning", async () => {
    const headers = { "content-type": "text/csv" }
    const body = 'a;price\n1;"12,50 €"\n2;"3,00 €"\n'
    const { id: other } = (await ada.ask("POST", "/api/connections/csv?name=prices", { body, headers })).body
    const answered = (await ada.post(`/api/connections/${other}/query`, { sql: "SELECT sum(price) FROM prices" })).body
    expect(answered.rows).toEqual([[15.5]])
    expect(answered).not.toHaveProperty("warnings")
    expect((await ada.get(`/api/connections/${other}/schema`)).body.markdown).toContain("- price: REAL (in €)")
  })

  test("and no cell can end the SQL comment that contains it", async () => {
    const headers = { "content-type": "text/csv" }
    const body = "a;b\n1;1\n2;2\n*/ DROP;3\n"
    const { id: other } = (await ada.ask("POST", "/api/connections/csv?name=odd", { body, headers })).body
    const answered = (await ada.post(`/api/connections/${other}/query`, { sql: "SELECT a FROM odd" })).body
    expect(answered.rows).toEqual([["1"], ["2"], ["*/ DROP"]])
    expect(answered.warnings).toEqual([expect.stringContaining("*/ DROP")])
  })
})
