import { expect, test } from "vitest"
import type { Column } from "../protocol/databases/connections.ts"
import { toChartData } from "./chart-rows.ts"
import { chartWorthSeeing } from "./worth-seeing.ts"

type Rows = readonly (readonly unknown[])[]
const chartOf = (names: readonly string[], rows: Rows) =>
  chartWorthSeeing(
    toChartData(
      names.map((name): Column => ({ name, type: null })),
      rows,
    ),
  ) as { mark: { type: string }; encoding: Record<string, { field?: string; scale?: object }> } | undefined

const months = ["2025-01", "2025-02", "2025-03"]

test("one number for each moment is a line, by the days of the calendar", () => {
  const chart = chartOf(
    ["month", "revenue"],
    months.map((month, at) => [month, String(at * 10)]),
  )
  expect(chart?.mark.type).toBe("line")
  expect(chart?.encoding).toMatchObject({ x: { field: "month", scale: { type: "utc" } }, y: { field: "revenue" } })
  expect(
    chartOf(
      ["year", "revenue"],
      [2023, 2024, 2025].map((year) => [year, 5]),
    )?.encoding.x?.field,
  ).toBe("year")
})

test("one for each moment and series has a colour for each", () => {
  const rows = months.flatMap((month) => ["a", "b"].map((name) => [month, name, 1]))
  expect(chartOf(["month", "name", "revenue"], rows)?.encoding.color?.field).toBe("name")
})

test("one for each name is bars", () => {
  const chart = chartOf(
    ["country", "customers"],
    [
      ["Portugal", 3],
      ["Spain", 2],
    ],
  )
  expect(chart?.mark.type).toBe("bar")
  expect(chart?.encoding).toMatchObject({ x: { field: "country" }, y: { field: "customers" } })
})

test.each<[what: string, names: string[], rows: Rows]>([
  ["a single number", ["count"], [[5]]],
  ["a single row", ["country", "customers"], [["Portugal", 3]]],
  [
    "records",
    ["id", "name", "price"],
    [
      [1, "a", 5],
      [2, "b", 6],
    ],
  ],
  [
    "records that name others",
    ["name", "customer_id"],
    [
      ["a", 5],
      ["b", 6],
    ],
  ],
  [
    "many columns",
    ["a", "b", "c", "d", "e"],
    [
      ["x", 1, 2, 3, 4],
      ["y", 1, 2, 3, 4],
    ],
  ],
  [
    "names that come twice",
    ["country", "customers"],
    [
      ["Portugal", 3],
      ["Portugal", 2],
    ],
  ],
  [
    "moments that come twice",
    ["day", "amount"],
    ["2025-01-01", "2025-01-01", "2025-01-02", "2025-01-03"].map((day) => [day, 1]),
  ],
  ["two moments", ["month", "revenue"], months.slice(1).map((month) => [month, 1])],
  ["more names than a picture holds", ["name", "n"], Array.from({ length: 41 }, (_, at) => [`n${at}`, at])],
  [
    "texts alone",
    ["a", "b"],
    [
      ["x", "y"],
      ["z", "w"],
    ],
  ],
  ["nothing", ["a"], []],
])("no chart of %s", (_, names, rows) => {
  expect(chartOf(names, rows)).toBeUndefined()
})
