import { expect, test } from "vitest"
import { numberIn } from "../support/number-in.ts"

const given = (text?: string) => numberIn("PAWL_CASES", text === undefined ? {} : { PAWL_CASES: text })

test("a size or a seed is taken from the environment, and an empty variable is none", () => {
  expect([given("2000"), given(" 7 "), given(""), given(" "), given()]).toEqual([
    2000,
    7,
    undefined,
    undefined,
    undefined,
  ])
})

test.each(["0", "-5", "1.5", "many", "10k", "NaN", "Infinity"])("%s stops the tests: none would be tried", (text) => {
  expect(() => given(text)).toThrow(`PAWL_CASES="${text}" is no whole number above zero`)
})
