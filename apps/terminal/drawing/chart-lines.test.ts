import { expect, test } from "vitest"
import { chartLines } from "./chart-lines.ts"
import { lineText } from "../line.ts"
import { widthOf } from "../wrap.ts"

const values = [
  { country: "Chile", total: 28, year: "2023-01" },
  { country: "Peru", total: 55, year: "2024-01" },
  { country: "日本", total: -7, year: "2025-01" },
]
const x = { field: "country", type: "nominal" }
const y = { field: "total", type: "quantitative" }
const chart = (more: object) => ({ data: { values }, mark: "bar", encoding: { x, y }, ...more })
const draw = (spec: object, width = 40) => chartLines({ ...spec }, width).map(lineText)

test("bars are horizontal with their numbers, and negative ones look different", () => {
  expect(draw(chart({ title: "Sales" }))).toEqual([
    "Sales",
    "Chile ███████████████▎ 28",
    "Peru  ██████████████████████████████ 55",
    "日本  ░░░ -7",
  ])
  // Horizontal or vertical, as a pie or as a layer: the same numbers.
  const lines = draw(chart({}))
  expect(draw(chart({ encoding: { x: y, y: x } }))).toEqual(lines)
  expect(draw(chart({ mark: { type: "arc" }, encoding: { theta: y, color: x } }))).toEqual(lines)
  expect(
    draw({ data: { values }, encoding: { x }, layer: [{ mark: "rule" }, { mark: "bar", encoding: { y } }] }),
  ).toEqual(lines)
})

test("sums and counts are computed, and each series has its name", () => {
  const rows = [
    { a: "x", b: 1, c: "old" },
    { a: "x", b: 2, c: "old" },
    { a: "x", b: 5, c: "new" },
  ]
  const summed = {
    data: { values: rows },
    mark: "bar",
    encoding: { x: { field: "a" }, y: { aggregate: "sum", field: "b" }, color: { field: "c" } },
  }
  const lines = draw(summed)
  expect(lines.map((each) => each.replace(/[█▏▎▍▌▋▊▉ ]+/g, " "))).toEqual(["x, old 3", "x, new 5", "■ old ■ new "])
  const counted = draw({ ...summed, encoding: { x: { field: "a" }, y: { aggregate: "count" } } })
  expect(counted[0]).toMatch(/^x █+ 3$/)
})

test("a line spans the lowest to the highest value and the first to the last day", () => {
  const lines = draw(chart({ mark: "line", encoding: { x: { field: "year", type: "temporal" }, y } }))
  expect(lines).toHaveLength(11)
  expect(lines[0]).toMatch(/^55 +[⠀-⣿]/)
  expect(lines[5]).toMatch(/^24 /)
  expect(lines[9]).toMatch(/^-7 .*[⠀-⣿]$/)
  expect(lines[10]).toMatch(/^ +2023-01 +2025-01$/)
  const points = draw(chart({ mark: "point", encoding: { x: { field: "year", type: "temporal" }, y } })).join("")
  expect(points.match(/[⠁-⣿]/g)).toHaveLength(3)
})

test.each<[what: string, spec: object]>([
  ["a transform", chart({ transform: [{ filter: "datum.total > 1" }] })],
  ["bins", chart({ encoding: { x: { ...y, bin: true }, y: { aggregate: "count" } } })],
  ["facets", chart({ encoding: { x, y, column: x } })],
  ["a mark that cannot be drawn so", chart({ mark: "boxplot" })],
  ["charts side by side", { data: { values }, hconcat: [] }],
  ["text where a number should be", chart({ encoding: { x, y: x } })],
])("%s is more than letters can say: the rows are shown", (_, spec) => {
  expect(draw(spec)[0]).toMatch(/^country +total +year/)
})

test("no chart is wider than the screen, and none contains control sequences", () => {
  const wild = [
    { country: "\u001b[31mred\u202E", total: 1e300 },
    { country: "x".repeat(500), total: 1e-300 },
    { country: "👩‍👩‍👧 family".repeat(20), total: Number.NaN },
    { country: null, total: 3 },
    { country: { a: 1 }, total: 4 },
  ]
  for (const mark of ["bar", "line", "area", "point", "arc", "nonsense"]) {
    for (const width of [10, 24, 80]) {
      for (const encoding of [{ x, y }, { theta: y, color: x }, {}, null]) {
        const lines = draw({ data: { values: wild }, mark, encoding, title: "\u001b]0;t\u0007" }, width)
        for (const each of lines) expect(widthOf(each)).toBeLessThanOrEqual(width)
        expect(lines.join("")).not.toMatch(/[\u0000-\u001f\u202E]/)
      }
    }
  }
  expect(draw({})).toEqual([])
  expect(draw({ data: { values: [1, null, "a"] }, mark: "bar" })).toEqual([])
})
