import { expect, test } from "vitest"
import { checkSize } from "./draw-limits.ts"

test("columns that are folded repeatedly are refused before any work", () => {
  const values = Array.from({ length: 2000 }, (_, at) => ({ a: at, b: at, c: at, d: at }))
  const spec = { data: { values }, mark: "bar" }
  const fold = { fold: ["a", "b", "c", "d"] }
  expect(() => checkSize({ ...spec, transform: [fold, fold, fold] })).toThrow("too many rows")
  checkSize({ ...spec, transform: [fold] })
  const parts = { data: spec.data, layer: [{ mark: "bar", transform: [fold] }] }
  expect(() => checkSize({ ...parts, transform: [fold, fold] })).toThrow("too many rows")
  checkSize({ ...parts, transform: [fold] })
})
