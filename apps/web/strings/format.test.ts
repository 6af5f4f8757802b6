import { expect, test } from "vitest"
import { time } from "./format.ts"

test("a moment beyond all calendars, of whichever program, is shown as the last there is", () => {
  expect(time(9e15)).toBe(time(8_640_000_000_000_000))
  expect(time(-9e15)).toBe(time(-8_640_000_000_000_000))
  expect(time(9e15)).not.toContain("Invalid")
  expect(time(Date.UTC(2024, 4, 6))).toBe(time("2024-05-06T00:00:00.000Z"))
})
