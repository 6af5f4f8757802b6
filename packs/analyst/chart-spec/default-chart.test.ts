import { expect, test } from "vitest"
import { toChartData } from "./chart-rows.ts"
import { defaultChart } from "./default-chart.ts"

type Rows = readonly (readonly unknown[])[]
type Drawn = { title?: string; transform?: unknown; encoding: Record<string, { field?: string; type?: string }> }

const draw = (names: readonly string[], rows: Rows, words = "a bar chart") =>
  defaultChart(
    toChartData(
      names.map((name) => ({ name, type: null })),
      rows,
    ),
    words,
  ) as Drawn | undefined

test.each<[what: string, names: string[], row: unknown[], drawn: string]>([
  ["a year", ["country", "founded_year", "people"], ["Chile", 1810, 5], "people"],
  ["an id", ["TrackId", "Name", "UnitPrice"], [1, "Air", 0.99], "UnitPrice"],
  ["a code", ["zip", "city", "people"], [79_098, "Freiburg", 5], "people"],
])("%s is not drawn as a value if there is another number", (_, names, row, drawn) => {
  const { x, y } = draw(names, [row, row])?.encoding ?? {}
  expect([x, y].find((each) => each?.type === "quantitative")?.field).toBe(drawn)
})

test("a period that is the only number is a value: hours worked, orders per day", () => {
  const rows = [
    ["Ada", 7],
    ["Bob", 8],
  ]
  for (const name of ["hours", "orders_per_day", "number"])
    expect(draw(["who", name], rows)?.encoding.y).toEqual({ field: name, type: "quantitative" })
  expect(draw(["who", "year"], rows)).toBeUndefined()
})

test("a bar has all rows of its name, also if there are more rows than bars; of too many names the first are drawn, with a note", () => {
  const sales = Array.from({ length: 100 }, (_, at) => [`shop ${at % 5}`, at])
  expect(draw(["shop", "sold"], sales)?.transform).toBeUndefined()
  const shops = Array.from({ length: 60 }, (_, at) => [`shop ${at}`, at])
  for (const rows of [shops, [...shops, ...shops]])
    expect(draw(["shop", "sold"], rows)?.title).toBe("The first 40 of 60")
  expect(JSON.stringify(draw(["shop", "sold"], shops)?.transform)).toContain("row_number")
  expect(JSON.stringify(draw(["shop", "sold"], [...shops, ...shops])?.transform)).toContain("dense_rank")
})
