import { expect, test } from "vitest"
import { titleOf } from "../protocol/conversation/title.ts"
import { count, dollars, duration, humanName } from "./words.ts"

test("small things are said as a person would say them", () => {
  expect([humanName("create_task"), humanName("_"), humanName("")]).toEqual(["Create task", "_", ""])
  expect([420, 2400, 60_000, 185_000].map(duration)).toEqual(["420 ms", "2.4 s", "1 min", "3 min 5 s"])
  expect([count(1, "reply", "replies"), count(1200, "line")]).toEqual(["1 reply", "1,200 lines"])
  expect([0, 0.00123, 1.5].map(dollars)).toEqual(["free", "$0.0012", "$1.50"])
})

test("a title is cut between words, and never within a character", () => {
  expect(titleOf("  two\nwords ")).toBe("two words")
  expect(titleOf(`${"word ".repeat(20)}`)).toBe(`${"word ".repeat(12).trim()}…`)
  expect(titleOf("😀".repeat(70))).toBe(`${"😀".repeat(60)}…`)
})
