import { expect, test } from "vitest"
import type { Column } from "../../../core/protocol/databases/connections.ts"
import { toChartData } from "./chart-rows.ts"
import { chartedColumns, automaticChart } from "./automatic-chart.ts"

type Rows = readonly (readonly unknown[])[]
const chartOf = (names: readonly string[], rows: Rows) =>
  automaticChart(
    toChartData(
      names.map((name): Column => ({ name, type: null })),
      rows,
    ),
  ) as { mark: { type: string }; encoding: Record<string, { field?: string; scale?: object }> } | undefined

const months = ["2025-01", "2025-02", "2025-03"]

test("one number for each moment is a line over calendar days", () => {
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

test("one number for each moment and series is a line per series", () => {
  const rows = months.flatMap((month) => ["a", "b"].map((name) => [month, name, 1]))
  expect(chartOf(["month", "name", "revenue"], rows)?.encoding.color?.field).toBe("name")
})

test("one number for each name is a bar chart", () => {
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
    "records that are numbered in one word",
    ["TrackId", "Name", "UnitPrice"],
    [1, 2, 3].map((id) => [id, `n${id}`, 0.99]),
  ],
  ["a number for each record", ["AlbumId", "tracks"], [1, 2, 3].map((id) => [id, 9])],
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

test("periods and numbers that are names are never drawn as values", () => {
  const years = [2023, 2024, 2025].flatMap((year) => ["PT", "ES"].map((country) => [year, country, 10]))
  expect(chartOf(["order_year", "country", "revenue"], years)?.encoding).toMatchObject({
    ...{ x: { field: "order_year" }, y: { field: "revenue" }, color: { field: "country" } },
  })
  const places = [
    [79_098, "Freiburg", 5],
    [10_115, "Berlin", 9],
    [20_095, "Hamburg", 7],
  ]
  expect(chartOf(["zip", "city", "people"], places)?.encoding).toMatchObject({
    ...{ x: { field: "city" }, y: { field: "people" } },
  })
  const zips = chartOf(
    ["zip", "people"],
    places.map(([zip, , people]) => [zip, people]),
  )
  expect([zips?.mark.type, zips?.encoding.x]).toEqual(["bar", { field: "zip", type: "nominal", sort: null }])
})

test("a chart reports the columns that are drawn, whatever the order of the columns", () => {
  const revenueByCountry = { value: "revenue", along: "country" }
  const rows = [
    ["Portugal", 3, 1],
    ["Spain", 2, 2],
  ]
  expect(chartedColumns(chartOf(["country", "revenue", "customers"], rows) ?? {})).toEqual(revenueByCountry)
  const many = Array.from({ length: 12 }, (_, at) => [at, `a long name of a country ${at}`])
  expect(chartedColumns(chartOf(["revenue", "country"], many) ?? {})).toEqual(revenueByCountry)
})
