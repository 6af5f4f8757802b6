import { parse, View } from "vega"
import { compile } from "vega-lite"
import { describe, expect, test } from "vitest"
import type {
  CallContext,
  ConnectionId,
  Model,
  ModelRequest,
  QueryAnswer,
  ReplyPart,
  ResultId,
} from "../../../core/pack.ts"
import { askAnalyst, type ChartPorts, type DrawnResult } from "./ask-analyst.ts"
import type { ChartVerdict } from "../charts/chart-check-child.ts"

const table: QueryAnswer = {
  columns: [
    { name: "country", type: "TEXT" },
    { name: "total", type: "NUMERIC" },
  ],
  rows: [
    ["Chile", "28.50"],
    ["Peru", 55],
  ],
  truncated: false,
}

const stored = (changes: Partial<DrawnResult> = {}): DrawnResult => ({
  id: "res_1" as ResultId,
  connectionId: "conn_1" as ConnectionId,
  sql: "SELECT 1",
  hash: "h1",
  ...table,
  ...changes,
})
const sqlResult = {
  resultId: "res_1",
  connectionId: "conn_1",
  sql: "SELECT 1",
  columns: table.columns,
  rowCount: 2,
  truncated: false,
  hash: "h1",
  rows: table.rows,
}

const SPEC = { mark: "bar", encoding: { x: { field: "country" }, y: { field: "total" } } }

/** Says one text after another, and remembers what it was asked. */
function writing(...texts: readonly string[]): Model & { readonly requests: ModelRequest[] } {
  const requests: ModelRequest[] = []
  return {
    name: "m",
    provider: "test",
    contextTokens: 100_000,
    requests,
    async *stream(request): AsyncIterable<ReplyPart> {
      const text = texts[requests.length] ?? "nothing more"
      requests.push(request)
      yield { type: "text", text }
      yield { type: "finish", finish: "stop", usage: { inputTokens: 1, outputTokens: 1 } }
    },
  }
}

const offline: Model = { ...writing(), provider: "offline" }

/** Takes what says `"mark"`, and refuses the rest. What the real one refuses is its own test. */
const checker: ChartPorts["checker"] = {
  warm: () => {},
  check: async ({ text }): Promise<ChartVerdict> =>
    text.includes('"mark"') ? { spec: JSON.parse(text) } : { problem: "there is no mark in it" },
}

interface Asking {
  readonly model: Model
  readonly state?: Record<string, unknown>
  readonly result?: DrawnResult | undefined
  readonly ask?: ChartPorts["ask"]
  readonly input?: object
}

async function ask({
  model,
  state = { sqlResult },
  result = stored(),
  ask: asks,
  input = { query: "by country" },
}: Asking) {
  const tool = askAnalyst({
    results: { find: async () => result && { ...result, createdAt: "" } },
    checker,
    ...(asks ? { ask: asks } : {}),
  })
  const context = {
    user: "user_1",
    callId: "call_1",
    signal: AbortSignal.timeout(60_000),
    state,
    model: async () => model,
  }
  const given = await tool.run(input, context as unknown as CallContext)
  return { ...given, data: given.data as Record<string, never> & { spec: { data: { values: unknown[] } } } }
}

describe("ask_analyst", () => {
  test("answers with a chart as an object, bound to SQL and result, with the rows in it", async () => {
    const { status, text, data, state } = await ask({ model: writing(JSON.stringify(SPEC)) })
    expect(status).toBe("ok")
    expect(data).toMatchObject({
      kind: "chart",
      type: "vega_lite_spec",
      sql: "SELECT 1",
      resultId: "res_1",
      connectionId: "conn_1",
      resultHash: "h1",
    })
    expect(data.spec).toMatchObject({ ...SPEC, description: "by country" })
    expect(data.spec.data.values).toEqual([
      { country: "Chile", total: 28.5 },
      { country: "Peru", total: 55 },
    ])
    expect(state).toEqual({
      chart: { callId: "call_1", resultId: "res_1", sql: "SELECT 1", resultHash: "h1", spec: SPEC },
    })
    expect(text).not.toContain("Chile")
  })

  test("sends problems of a chart to the model, three times, then shows a table with the reason", async () => {
    const model = writing("a", "b", "c", JSON.stringify(SPEC))
    expect((await ask({ model })).data.kind).toBe("chart")
    expect(model.requests).toHaveLength(4)
    expect(JSON.stringify(model.requests[3]?.history)).toContain("there is no mark in it")
    const hopeless = writing("a", "b", "c", "d", JSON.stringify(SPEC))
    const { status, text, data } = await ask({ model: hopeless })
    expect(hopeless.requests).toHaveLength(4)
    expect([status, data.kind, data.resultId]).toEqual(["ok", "table", "res_1"])
    expect(text).toBe(
      "Shown as a table instead of a chart, because no chart could be made of it: there is no mark in it.",
    )
  })

  test("an empty reply and a truncated one are not charts", async () => {
    const saying = (...more: ReplyPart[]): Model => ({
      ...writing(),
      async *stream() {
        yield { type: "text", text: JSON.stringify(SPEC) }
        yield* more
      },
    })
    await expect(ask({ model: saying() })).rejects.toMatchObject({ code: "provider_error" })
    const usage = { inputTokens: 1, outputTokens: 1 }
    expect((await ask({ model: saying({ type: "finish", finish: "limit", usage }) })).data.kind).toBe("table")
    expect((await ask({ model: saying({ type: "finish", finish: "stop", usage }) })).data.kind).toBe("chart")
  })

  test("the model sees few rows, marked as data", async () => {
    const model = writing(JSON.stringify(SPEC))
    await ask({ model, result: stored({ rows: Array.from({ length: 500 }, (_, at) => [`c${at}`, at]) }) })
    const said = JSON.stringify(model.requests[0]?.history)
    expect(said.length).toBeLessThan(3000)
    expect(said).toContain("500 different, from 0 to 499")
  })

  test("an empty result is reported as one, and is never a blank chart", async () => {
    const model = writing(JSON.stringify(SPEC))
    const { text, data } = await ask({ model, result: stored({ rows: [] }) })
    expect([text, data.kind]).toEqual(["Shown as a table instead of a chart, because the result has no rows.", "table"])
    expect(model.requests).toEqual([])
  })

  test("without a result it asks the database first, or reports that it cannot", async () => {
    const none = await ask({ model: writing(), state: {} })
    expect([none.status, none.text]).toEqual([
      "error",
      "There is no result to draw yet. Ask a question about the database first, then ask for its chart.",
    ])
    const asked: unknown[] = []
    const database = {
      run: (input: unknown) => (asked.push(input), { status: "ok", text: "", state: { sqlResult } }),
    } as unknown as ChartPorts["ask"]
    const drawn = await ask({ model: writing(JSON.stringify(SPEC)), state: {}, ask: database })
    expect([asked, drawn.data.kind]).toEqual([[{ query: "by country" }], "chart"])
    expect(drawn.state).toMatchObject({ sqlResult, chart: { resultId: "res_1" } })
    await ask({
      model: writing(JSON.stringify(SPEC)),
      ask: database,
      input: { query: "bars", question: "sales by country" },
    })
    expect(asked[1]).toEqual({ query: "sales by country" })
    const broken = { run: () => ({ status: "error", text: "No database is chosen." }) } as unknown as ChartPorts["ask"]
    expect(await ask({ model: writing(), state: {}, ask: broken })).toMatchObject({
      status: "error",
      text: "No database is chosen.",
    })
  })

  test("an expired result is drawn from the state only if that has all rows", async () => {
    const find = { results: { find: async () => undefined }, checker }
    const run = (state: object) =>
      askAnalyst(find).run({ query: "x" }, {
        user: "u",
        callId: "c",
        signal: new AbortController().signal,
        state,
        model: async () => writing(JSON.stringify(SPEC)),
      } as unknown as CallContext)
    expect((await run({ sqlResult })).data).toMatchObject({ kind: "chart", resultId: "res_1", resultHash: "h1" })
    expect((await run({ sqlResult: { ...sqlResult, rowCount: 3 } })).status).toBe("error")
  })

  test("a model that changes a chart gets the previous one", async () => {
    const model = writing(JSON.stringify(SPEC))
    await ask({ model, state: { sqlResult, chart: { spec: { mark: "area" } } } })
    expect(JSON.stringify(model.requests[0]?.history)).toContain("area")
  })

  test("many rows are truncated, which is reported", async () => {
    const { data, text } = await ask({
      model: writing(JSON.stringify(SPEC)),
      result: stored({ rows: Array.from({ length: 5000 }, (_, at) => [`c${at}`, at]) }),
    })
    expect(data.spec.data.values).toHaveLength(2000)
    expect(text).toContain("the first 2000 rows")
    const wide = stored({ rows: Array.from({ length: 2000 }, (_, at) => ["x".repeat(10_000), at]) })
    expect(
      JSON.stringify((await ask({ model: writing(JSON.stringify(SPEC)), result: wide })).data).length,
    ).toBeLessThan(200_000)
  })
})

describe("the offline model's charts", () => {
  const of = async (columns: string[], rows: unknown[][], query = "a chart") => {
    const result = stored({ columns: columns.map((name) => ({ name, type: null })), rows })
    const { data } = await ask({ model: offline, result, input: { query } })
    const spec = data.spec as unknown as
      | { mark: { type: string }; encoding: Record<string, { field: string; type: string }> }
      | undefined
    return spec
      ? `${spec.mark.type} ${Object.entries(spec.encoding)
          .map(([channel, { field, type }]) => `${channel}:${field ?? "count"}(${type})`)
          .join(" ")}`
      : data.kind
  }

  test.each<[string[], unknown[][], string, string]>([
    [
      ["country", "total"],
      [
        ["Chile", 1],
        ["Peru", 2],
      ],
      "",
      "bar x:country(nominal) y:total(quantitative)",
    ],
    [
      ["month", "revenue"],
      [
        ["2025-01", 1],
        ["2025-02", 2],
      ],
      "",
      "line x:month(temporal) y:revenue(quantitative)",
    ],
    [
      ["year", "revenue"],
      [
        [2024, 1],
        [2025, 2],
      ],
      "",
      "line x:year(ordinal) y:revenue(quantitative)",
    ],
    [
      ["at", "who", "n"],
      [
        ["2025-01-01", "a", 1],
        ["2025-01-01", "b", 2],
      ],
      "",
      "bar x:at(temporal) y:n(quantitative) color:who(nominal)",
    ],
    [
      ["a", "b"],
      [
        [1, 2],
        [2, 4],
      ],
      "",
      "point x:a(quantitative) y:b(quantitative)",
    ],
    [["a"], [[1], [2], [2]], "", "bar x:a(quantitative) y:count(quantitative)"],
    [
      ["country", "total"],
      [
        ["Chile", 1],
        ["Peru", 2],
      ],
      "as a pie",
      "arc theta:total(quantitative) color:country(nominal)",
    ],
    [
      ["a very long name", "total"],
      [
        ["somebody with a long name", 1],
        ["Peru", 2],
      ],
      "",
      "bar y:a very long name(nominal) x:total(quantitative)",
    ],
    [["customers"], [[59]], "", "table"],
    [["name"], [["a"], ["b"]], "", "table"],
  ])("of %j %j %s: %s", async (columns, rows, query, expected) => {
    expect(await of(columns, rows, query)).toBe(expected)
  })
})

describe("a chart of days", () => {
  const days: QueryAnswer = {
    columns: [
      { name: "day", type: "DATE" },
      { name: "sold", type: "INTEGER" },
    ],
    rows: [
      ["2025-03-01", 1],
      ["2025-03-31", 2],
      ["2025-04-01", 4],
    ],
    truncated: false,
  }
  const written = {
    mark: "bar",
    encoding: {
      x: { field: "day", type: "temporal", timeUnit: "yearmonth" },
      y: { field: "sold", aggregate: "sum", type: "quantitative" },
    },
  }

  test.each(["America/New_York", "UTC", "Asia/Tokyo"])("has each in its own month, read in %s", async (zone) => {
    const { TZ } = process.env
    process.env.TZ = zone
    try {
      const { data } = await ask({ model: writing(JSON.stringify(written)), result: stored(days) })
      const { spec } = compile(data.spec as never)
      const view = await new View(parse(spec), { renderer: "none" }).runAsync()
      const months = view.data(spec.data?.at(-1)?.name ?? "").map((row) => {
        const { yearmonth_day: month, sum_sold: sold } = row as { yearmonth_day: Date; sum_sold: number }
        return [new Date(month).getMonth() + 1, sold]
      })
      expect(months).toEqual([
        [3, 3],
        [4, 4],
      ])
    } finally {
      if (TZ === undefined) delete process.env.TZ
      else process.env.TZ = TZ
    }
  })

  test("that uses UTC itself, or treats days as names, is not changed", async () => {
    const { x, y } = written.encoding
    for (const along of [
      { ...x, timeUnit: "utcyearmonth" },
      { field: "day", type: "ordinal" },
    ]) {
      const spec = { ...written, encoding: { x: along, y } }
      const { data } = await ask({ model: writing(JSON.stringify(spec)), result: stored(days) })
      expect(Object.keys(data.spec.data)).toEqual(["values"])
    }
  })
})

test("a table instead of a chart has as many rows as tables may have, and names its result", async () => {
  const wide = stored({ rows: Array.from({ length: 100 }, (_, at) => [`${at} ${"x".repeat(20_000)}`, at]) })
  const { data } = await ask({ model: writing("a", "b", "c", "d"), result: wide })
  expect(data).toMatchObject({ kind: "table", rowCount: 100, resultHash: "h1" })
  expect(JSON.stringify(data).length).toBeLessThan(300_000)
  expect((data as unknown as { rows: unknown[] }).rows.length).toBeGreaterThan(5)
})
