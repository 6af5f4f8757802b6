import { expect, test } from "vitest"
import { toChartData } from "./chart-rows.ts"

const cellsOf = (values: readonly unknown[]) => {
  const { columns, rows } = toChartData(
    [{ name: "at", type: null }],
    values.map((value) => [value]),
  )
  return { kind: columns[0]?.kind, cells: rows.map(({ at }) => at) }
}

test.each([
  [["2025-03-01 00:00:00+01", "2025-04-01 00:00:00+02"]],
  [["2025-03-01 00:00:00", null, "2025-04-01 00:00:00.000"]],
  [["2025-03-01T00:00Z", "2025-04-01T00:00Z"]],
])(
  "a column of only midnights, as of date_trunc, is days: in another zone %j would be the evening before",
  (values) => {
    const days = values.map((value) => value && value.slice(0, 10))
    expect(cellsOf(values)).toEqual({ kind: "time", cells: days })
  },
)

test("times keep their time of day, also midnights among them", () => {
  expect(cellsOf(["2025-03-01 00:00:00+00", "2025-03-01 12:30:00+00"]).cells).toEqual([
    ...["2025-03-01T00:00:00+00:00", "2025-03-01T12:30:00+00:00"],
  ])
  expect(cellsOf(["2025-03", "2025-04"]).cells).toEqual(["2025-03", "2025-04"])
})
