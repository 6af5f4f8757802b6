import { expect, test } from "vitest"
import { toChartData } from "../chart-spec/chart-rows.ts"
import { checkTransforms } from "./transforms.ts"

const { columns } = toChartData(
  ["many", "others", "few", "n"].map((name) => ({ name, type: null })),
  Array.from({ length: 2000 }, (_, at) => [`m${at}`, `o${at}`, `f${at % 10}`, at]),
)
const known = new Map(columns.map((column) => [column.name, column]))
const check = (...transform: readonly object[]) => checkTransforms({ transform }, known)

test.each<[what: string, transforms: object[]]>([
  ["a gap for each of many in each of many", [{ impute: "n", key: "many", groupby: ["others"], value: 0 }]],
  ["a curve for each of many", [{ density: "n", groupby: ["many"] }]],
  ["a curve with at least so many steps", [{ density: "n", groupby: ["few"], minsteps: 20_000 }]],
  ["a curve with nobody knows how many steps", [{ density: "n", groupby: ["few"], steps: { expr: "2 * 1e6" } }]],
  ["hundredths of each of many", [{ quantile: "n", step: 0.001, groupby: ["many"] }]],
  ["columns folded again and again", Array.from({ length: 3 }, () => ({ fold: ["n", "many", "few", "others"] }))],
  [
    "columns folded where gaps were filled",
    [{ impute: "n", key: "many", groupby: ["few"], value: 0 }, { fold: ["n", "many", "few", "others", "n", "n"] }],
  ],
])("%s would create too many rows for a browser", (_, transforms) => {
  expect(() => check(...transforms)).toThrow(/too many/)
})

test("transforms that create a few more rows are allowed", () => {
  check({ impute: "n", key: "many", groupby: ["few"], value: 0 }, { fold: ["n", "many"] })
  check({ density: "n", groupby: ["few"] }, { quantile: "n", groupby: ["few"] })
})

test("folded values are grouped by their columns, because those are few", () => {
  check({ fold: ["n", "many"] }, { density: "value", groupby: ["key"] })
  check({ fold: ["n", "many"], as: ["which", "how many"] }, { density: "how many", groupby: ["which"] })
})

test("the transforms of a view run before those of its children, independent of their order in the text", () => {
  const fold = { transform: [{ fold: ["n", "many", "few", "others", "n", "n"] }] }
  const transform = [{ impute: "n", key: "many", groupby: ["few"], value: 0 }]
  expect(() => checkTransforms({ layer: [fold], transform }, known)).toThrow(/too many/)
})
