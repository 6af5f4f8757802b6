import { afterAll, describe, expect, test } from "vitest"
import { hostileCharts, hugeCharts, markupCharts } from "../../../test/analyst/hostile-charts.ts"
import { ChartCheck } from "./check.ts"
import { toChartData } from "../chart-spec/chart-rows.ts"

const checker = new ChartCheck()
afterAll(() => checker.close())

const { columns } = toChartData(
  [
    { name: "a", type: "text" },
    { name: "b", type: "integer" },
    { name: "c", type: "date" },
    { name: "year", type: "integer" },
  ],
  [
    ["A", 28, "2024-01-01", 2019],
    ["B", 55, "2024-01-02", 2020],
  ],
)

const judge = (spec: unknown) =>
  checker.check({ text: typeof spec === "string" ? spec : JSON.stringify(spec), columns })
const problemOf = async (spec: unknown) => {
  const verdict = await judge(spec)
  return "problem" in verdict ? verdict.problem : undefined
}

const x = { field: "a", type: "nominal" }
const y = { field: "b", type: "quantitative" }
const bar = { mark: "bar", encoding: { x, y } }

const SLOW = 90_000

test.each<[what: string, spec: unknown]>([
  ["a bar", bar],
  ["fences and words around it", `Here it is:\n\`\`\`json\n${JSON.stringify(bar)}\n\`\`\`\nEnjoy.`],
  ["rows it was shown, which ours replace", { ...bar, data: { values: [{ a: 1 }] } }],
  ["a line over time", { mark: { type: "line", point: true }, encoding: { x: { field: "c", type: "temporal" }, y } }],
  ["a count of text", { mark: "bar", encoding: { x, y: { aggregate: "count" } } }],
  ["layers with a rule", { layer: [bar, { mark: "rule", encoding: { y: { aggregate: "mean", field: "b" } } }] }],
  [
    "a calculated column",
    {
      ...bar,
      transform: [
        { calculate: "datum.b * 2 + length(upper(datum.a))", as: "d" },
        { filter: "datum.d > 1 && isValid(datum['b'])" },
      ],
    },
  ],
  ["a filter in words", { ...bar, transform: [{ filter: { and: [{ field: "b", gt: 3 }, "datum.b < 100"] } }] }],
  [
    "the first of many names",
    {
      ...bar,
      title: "The first 40 of 60",
      transform: [
        { window: [{ op: "dense_rank", as: "place in line" }], sort: [{ field: "a" }] },
        { filter: "datum['place in line'] <= 40" },
      ],
    },
  ],
  ["slices", { mark: "arc", encoding: { theta: y, color: x } }],
  ["labels by an expression", { mark: "bar", encoding: { x: { ...x, axis: { labelExpr: "upper(datum.label)" } }, y } }],
  [
    "a condition",
    { mark: "bar", encoding: { x, y, color: { condition: { test: "datum.b > 30", value: "red" }, value: "gray" } } },
  ],
  ["a constant by name", { ...bar, params: [{ name: "limit", value: 3 }], transform: [{ filter: "datum.b > limit" }] }],
  ["bins", { mark: "bar", encoding: { x: { field: "b", bin: { maxbins: 10 } }, y: { aggregate: "count" } } }],
  [
    "a range, whose second end has no type",
    { mark: "bar", encoding: { y: x, x: { field: "b" }, x2: { field: "year" } } },
  ],
  [
    "a condition on an axis",
    {
      mark: "bar",
      encoding: {
        x,
        y: { ...y, axis: { gridColor: { condition: { test: "datum.value === 0", value: "black" }, value: "#ddd" } } },
      },
    },
  ],
  [
    "a condition by a column",
    {
      mark: "bar",
      encoding: { x, y, color: { condition: { test: { field: "b", gt: 30 }, field: "a" }, value: "gray" } },
    },
  ],
  ["facets", { ...bar, encoding: { ...bar.encoding, column: x } }],
  [
    "a trend",
    {
      layer: [
        { mark: "point", encoding: { x: { field: "year", type: "quantitative" }, y } },
        {
          mark: "line",
          transform: [{ regression: "b", on: "year" }],
          encoding: { x: { field: "year", type: "quantitative" }, y },
        },
      ],
    },
  ],
  [
    "repeated",
    {
      repeat: ["b", "year"],
      spec: { mark: "bar", encoding: { x, y: { field: { repeat: "repeat" }, type: "quantitative" } } },
    },
  ],
])(
  "%s may be drawn",
  async (_, spec) => {
    expect(await problemOf(spec)).toBeUndefined()
  },
  SLOW,
)

test("a missing type is that of the column, and data and schema are removed", async () => {
  const verdict = await judge({
    $schema: "https://evil.example/x.json",
    data: { name: "result" },
    mark: "bar",
    encoding: { x: { field: "a" }, y: { field: "b" } },
  })
  expect(verdict).toEqual({ spec: bar })
})

test.each<[what: string, spec: unknown, says: RegExp]>([
  ["no JSON", "I cannot draw that.", /no JSON object/],
  ["half of it", '{"mark": "bar", "encoding": {', /no JSON object|not valid JSON/],
  ["a list", "```json\n[1]\n```", /not a JSON object/],
  [
    "a column that is not there",
    { mark: "bar", encoding: { x: { field: "z" }, y } },
    /no column "z" \(at encoding\.x\); there are "a", "b"/,
  ],
  [
    "text as a quantity",
    { mark: "bar", encoding: { x, y: { field: "a", type: "quantitative" } } },
    /"a" holds text such as "A", "B", which is not quantitative; use nominal, or count/,
  ],
  [
    "a sum of text",
    { mark: "bar", encoding: { x, y: { field: "a", aggregate: "sum" } } },
    /"a" holds text such as "A", "B", which has no sum/,
  ],
  [
    "a year as time",
    { mark: "bar", encoding: { x: { field: "year", type: "temporal" }, y } },
    /"year" holds numbers such as "2019".*ordinal/,
  ],
  ["text as time", { mark: "bar", encoding: { x: { field: "a", type: "temporal" }, y } }, /not temporal/],
  ["bins of text", { mark: "bar", encoding: { x: { field: "a", bin: true }, y } }, /no bins/],
  ["a mark there is not", { mark: "bars", encoding: { x, y } }, /mark must be/],
  [
    "a type there is not",
    { mark: "bar", encoding: { x: { field: "a", type: "categorical" }, y } },
    /encoding\.x\.type must be one of .*nominal/,
  ],
  ["a property there is not", { ...bar, encodings: {} }, /no property "encodings"/],
  ["nothing encoded", { mark: "bar" }, /nothing in it is taken from the result/],
  ["no mark", { encoding: { x, y } }, /no mark/],
  [
    "a group by what is not there",
    { ...bar, transform: [{ aggregate: [{ op: "sum", field: "b", as: "s" }], groupby: ["z"] }] },
    /no column "z"/,
  ],
  [
    "an expression of what is not there",
    { ...bar, transform: [{ filter: "datum.z > 1" }] },
    /names the column "z", and there is none/,
  ],
  ["an expression that is none", { ...bar, transform: [{ filter: "datum.b >" }] }, /cannot be read/],
])("%s is refused with the problem", async (_, spec, says) => {
  expect(await problemOf(spec)).toMatch(says)
})

describe("of hostile charts", () => {
  test("each is refused with a sentence, and the thread continues", async () => {
    const passed: string[] = []
    for (const { name, spec } of [...hostileCharts, ...hugeCharts]) {
      if ((await problemOf(spec)) === undefined) passed.push(name)
    }
    expect(passed).toEqual([])
    expect(hostileCharts.length + hugeCharts.length).toBeGreaterThan(200)
    // Text that only looks like more is drawn as text.
    for (const { spec } of markupCharts) expect(await problemOf(spec)).toBeUndefined()
    expect(await problemOf(bar)).toBeUndefined()
  })

  test("very many brackets do not crash the process", async () => {
    for (const text of [
      "[".repeat(30_000),
      `{"a":`.repeat(5000),
      `${`{"hconcat":[`.repeat(3000)}1${"]}".repeat(3000)}`,
    ]) {
      expect(await problemOf(text)).toEqual(expect.any(String))
      expect(await problemOf(JSON.stringify({ ...bar, transform: [{ filter: "(".repeat(900) }] }))).toEqual(
        expect.any(String),
      )
    }
    expect(await problemOf(bar)).toBeUndefined()
  })
})

test(
  "a checker that is closed while it starts rejects the waiting callers, and starts again for the next",
  async () => {
    const own = new ChartCheck()
    const waiting = own.check({ text: JSON.stringify(bar), columns })
    await own.close()
    await expect(waiting).rejects.toThrow("chart-check-child ended")
    expect(await own.check({ text: JSON.stringify(bar), columns })).toEqual({ spec: bar })
    await own.close()
  },
  SLOW,
)

test("a key that would set a prototype is refused", async () => {
  const text = JSON.stringify(bar).replace(/}$/, `,"__proto__":{"description":"x"}}`)
  expect(await problemOf(text)).toContain("leave out __proto__: it is no word")
})
