import { expect, test } from "vitest"
import { titleOf } from "../core/protocol/conversation/message.ts"
import { formatEstimate, count, dollars, duration, humanName, formatTimeLeft } from "./format.ts"

test("small values are formatted for people", () => {
  expect([humanName("create_task"), humanName("_"), humanName("")]).toEqual(["Create task", "_", ""])
  expect([420, 2400, 60_000, 185_000].map(duration)).toEqual(["420 ms", "2.4 s", "1 min", "3 min 5 s"])
  expect([count(1, "reply", "replies"), count(1200, "line")]).toEqual(["1 reply", "1,200 lines"])
  expect([0, 0.00123, 1.5].map(dollars)).toEqual(["free", "$0.0012", "$1.50"])
})

test("an estimated time is marked as an estimate", () => {
  const said = [1, 9, 12, 41, 56, 61, 3540, 3541, 4500, 7190, 7200].map(formatEstimate)
  expect(said.slice(0, 5)).toEqual(["less than 10 s", "less than 10 s", "about 20 s", "about 50 s", "about 1 min"])
  expect(said.slice(5, 8)).toEqual(["about 2 min", "about 59 min", "about 1 h"])
  expect(said.slice(8)).toEqual(["about 1 h 20 min", "about 2 h", "about 2 h"])
})

test("the time left to decide is in days, below two days in hours, and below two hours in minutes", () => {
  const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]
  const said = (times: readonly number[]) => times.map(formatTimeLeft)
  // A week, seconds after the change was proposed.
  expect(said([7 * day - 20_000, 2.5 * day, 2 * day])).toEqual(["7 days left", "2 days left", "2 days left"])
  expect(said([2 * day - hour, 3 * hour - 1000, 2 * hour])).toEqual(["47 hours left", "3 hours left", "2 hours left"])
  expect(said([2 * hour - minute, 2 * minute])).toEqual(["119 min left", "2 min left"])
  expect(said([2 * minute - 1000, 1, 0, -5])).toEqual(["119 s left", "1 s left", "expired", "expired"])
})

test("a title is cut between words, and never within a character", () => {
  expect(titleOf("  two\nwords ")).toBe("two words")
  expect(titleOf(`${"word ".repeat(20)}`)).toBe(`${"word ".repeat(12).trim()}…`)
  expect(titleOf("😀".repeat(70))).toBe(`${"😀".repeat(60)}…`)
})
