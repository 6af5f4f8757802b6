import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { beforeAll, describe, expect, inject, test } from "vitest"
import type { Model, ModelRequest } from "../../core/engine/model.ts"
import { offlineModel } from "../../labs/offline-model/model.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { ChartCheck } from "../../packs/analyst/charts/check.ts"
import { WRITE_SQL } from "../../packs/analyst/tools/write-sql.ts"
import { anyDatabase, databases } from "../support/databases.ts"
import { Face, type Visitor } from "../support/server/face.ts"
import { wantsSql } from "./analyst-model.ts"
import { countWork } from "../support/worked.ts"

const offline = offlineModel()

const SQL = "SELECT country, count(*) AS customers FROM customer GROUP BY country"
const GOOD = { mark: "bar", encoding: { x: { field: "country" }, y: { field: "customers" } } }
const wantsChart = ({ tools, system }: ModelRequest) => tools.length === 0 && system.includes("Vega-Lite")

/** Asks for a chart of each message, and writes these one after another. */
function drawing(...charts: readonly unknown[]): Model {
  const left = [...charts]
  return scripted(
    always((request) => {
      if (wantsChart(request))
        return says(typeof left[0] === "string" ? String(left.shift()) : JSON.stringify(left.shift() ?? {}))
      if (wantsSql(request)) return calls(WRITE_SQL, { sql: SQL })
      const last = request.history.at(-1)
      if (last?.role === "user") return calls("ask_analyst", { query: last.text })
      return says(last?.role === "tool" ? (last.results[0]?.text ?? "") : "")
    }),
  )
}

/** The first chart of a process waits until the schema is compiled, which takes a busy machine a while. */
const SLOW = { timeout: 90_000 }

describe.each(anyDatabase)("charts on $name", SLOW, ({ create }) => {
  let face: Face
  let current: Model = offline

  beforeAll(async () => {
    const root = mkdtempSync(join(tmpdir(), inject("testRun"), "databases-"))
    const model: Model = {
      ...{ name: "m", contextTokens: 200_000, provider: "scripted" },
      get provider() {
        return current.provider
      },
      stream: (request, signal) => current.stream(request, signal),
    }
    face = await Face.open({ url: (await create()).url, model, sqliteRoot: root })
    return () => face[Symbol.asyncDispose]()
  })

  async function open(model: Model) {
    current = model
    const ada = await face.as(`ada-${Math.random().toString(36).slice(2)}`)
    const { body } = await ada.post("/api/connections/sample")
    return { ada, shop: body.id as string, id: await ada.begin({ agent: "analyst", connectionId: body.id }) }
  }

  const lastData = async (ada: Visitor, id: string) =>
    (await ada.get(`/api/conversations/${id}`)).body.messages.findLast(({ role }: { role: string }) => role === "tool")
      .data

  test("a new user without a model gets a real chart, of the last answer and of a question", async () => {
    const { ada, shop, id } = await open(offline)
    const { body } = await ada.say(id, "Chart revenue by month in 2025")
    expect(body.messages.at(-1).content).toBe("Here is the chart.")
    const chart = await lastData(ada, id)
    expect(chart).toMatchObject({
      kind: "chart",
      type: "vega_lite_spec",
      connectionId: shop,
      spec: { mark: { type: "line" }, encoding: { x: { field: "month", type: "temporal" }, y: { field: "revenue" } } },
    })
    expect(chart.spec.data.values).toHaveLength(12)
    expect(chart.sql).toContain("GROUP BY")

    await ada.say(id, "revenue by category")
    await ada.say(id, "Show it as a pie chart, please.")
    const pie = await lastData(ada, id)
    expect(pie.spec.mark).toEqual({ type: "arc" })
    const { sqlResult, chart: bound } = (await ada.get(`/api/conversations/${id}/state`)).body
    expect([pie.resultId, pie.resultHash, pie.sql]).toEqual([sqlResult.resultId, sqlResult.hash, sqlResult.sql])
    expect(bound).toMatchObject({ resultId: pie.resultId, resultHash: pie.resultHash, sql: pie.sql })
    expect(chart.resultHash).not.toBe(pie.resultHash)
  })

  test("the conversation's model writes the chart, gets its faults to correct, and falls back to a table", async () => {
    const bad = { ...GOOD, encoding: { x: { field: "nowhere" }, y: { field: "customers" } } }
    const { ada, id } = await open(drawing("no JSON", bad, { ...GOOD, usermeta: {} }, GOOD))
    await ada.say(id, "Customers by country as bars")
    const chart = await lastData(ada, id)
    expect([chart.kind, chart.sql, chart.spec.encoding.x]).toEqual([
      "chart",
      SQL,
      { field: "country", type: "nominal" },
    ])

    const evil = { ...GOOD, transform: [{ calculate: "datum.constructor.constructor('fetch(1)')()", as: "x" }] }
    const other = await open(drawing(evil, evil, evil, evil, GOOD))
    const { body } = await other.ada.say(other.id, "Customers by country")
    expect((await lastData(other.ada, other.id)).kind).toBe("table")
    expect(body.messages.at(-1).content).toMatch(
      /Shown as a table instead of a chart, because no chart could be made of it: the expression/,
    )
  })
})

test("while a chart is checked, /healthz answers", SLOW, async () => {
  const { url } = await databases[0]!.create()
  await using face = await Face.open({ url, model: offline })
  const fresh = new ChartCheck()
  const looking = fresh.check({ text: JSON.stringify(GOOD), columns: [] })
  let [ended, slowest, answers] = [false, 0, 0]
  void looking.then(() => (ended = true))
  while (!ended) {
    const worked = countWork()
    expect((await face.fetch(new Request("http://localhost/healthz"))).status).toBe(200)
    await new Promise((resolve) => setTimeout(resolve, 5))
    slowest = Math.max(slowest, worked())
    answers++
  }
  expect(await looking).toMatchObject({ problem: expect.stringContaining("no column") })
  expect(answers).toBeGreaterThan(0) // how many depends on how busy the machine is
  expect(slowest).toBeLessThan(1000)
  await fresh.close()
})
