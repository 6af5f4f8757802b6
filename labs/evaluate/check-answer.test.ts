import { describe, expect, test } from "vitest"
import { checkAnswerText, checkSequence, checkText, fits } from "./check-answer.ts"
import { NOTHING_SPENT } from "./happened.ts"
import { checkLimits } from "./check-left-behind.ts"

test.each<[expected: unknown, actual: unknown, fit: boolean]>([
  [{ a: 1 }, { a: 1, b: 2 }, true],
  [{ a: 1, b: 2 }, { a: 1 }, false],
  [{ a: { b: [1, { c: 2 }] } }, { a: { b: [1, { c: 2, d: 3 }] } }, true],
  [[1], [1, 2], false],
  [{ a: { $contains: "ADA" } }, { a: "call Ada" }, true],
  [{ a: { $matches: "^call" } }, { a: "recall" }, false],
  [{ a: null }, {}, false],
  [{ toString: {} }, {}, false],
  ["1", 1, false],
])("of %j %j is expected to have it: %j", (expected, actual, fit) => {
  expect(fits(expected, actual)).toBe(fit)
})

test("words are looked for in large and small letters alike, patterns as they are written", () => {
  expect(checkText({ contains: ["MILK", "bread"], matches: "^Milk" }, "Milk and bread")).toEqual([])
  expect(checkText({ matches: "^milk", not: { contains: "Bread", matches: "\\d" } }, "Milk and bread")).toEqual([
    '/^milk/ is not in it; it says "Milk and bread"',
    '"Bread" is in it; it says "Milk and bread"',
  ])
  expect(checkText({ contains: "x" }, " \n")).toEqual(['"x" is not in it; it says nothing'])
})

test("an answer with expected JSON must parse and contain it", () => {
  expect(checkAnswerText({ json: { total: 50 } }, '{ "total": 50, "of": "Ada" }')).toEqual([])
  expect(checkAnswerText({ json: { total: 50 } }, "Total: 50")).toEqual([
    'it is not JSON with {"total":50}; it says "Total: 50"',
  ])
})

describe("calls", () => {
  const list = { tool: "list", arguments: {}, status: "ok" }
  const ada = { tool: "create", arguments: { title: "Ada", priority: "high" }, status: "ok" }
  const bob = { tool: "create", arguments: { title: "Bob" }, status: "rejected" }
  const calls = [list, ada, bob]

  test.each<[what: string, check: Parameters<typeof checkSequence>[0], problems: number]>([
    [
      "some of them, in another order",
      { include: [{ tool: "create", arguments: { title: "Bob" } }, { tool: "list" }] },
      0,
    ],
    ["one more than there are", { include: [{ tool: "create" }, { tool: "create" }, { tool: "create" }] }, 1],
    [
      "a plain one beside one with arguments",
      { include: [{ tool: "create" }, { tool: "create", arguments: { title: "Ada" } }] },
      0,
    ],
    ["arguments that were others", { include: [{ tool: "create", arguments: { title: "Eve" } }] }, 1],
    ["another end", { include: [{ tool: "list", status: "error" }] }, 1],
    ["some in their order", { inOrder: [{ tool: "list" }, { tool: "create", status: "rejected" }] }, 0],
    ["the same the other way round", { inOrder: [{ tool: "create" }, { tool: "list" }] }, 1],
    ["all of them", { exactly: [{ tool: "list" }, { tool: "create" }, { tool: "create" }] }, 0],
    ["all but one", { exactly: [{ tool: "list" }, { tool: "create" }] }, 1],
    ["none at all", { exactly: [] }, 1],
    ["none of these", { none: ["delete", "create"] }, 1],
  ])("that should be %s", (_, check, problems) => {
    expect(checkSequence(check, calls, "calls")).toHaveLength(problems)
  })

  test("that differ from the expected ones are reported with the actual ones", () => {
    expect(
      checkSequence({ include: [{ tool: "delete" }] }, [{ ...list, status: "error", result: "No\nway." }], "calls"),
    ).toEqual(["delete is missing; the calls were list {} (error: No way.)"])
  })
})

test("limits fail for a larger value, and for an unknown cost", () => {
  const spent = { ...NOTHING_SPENT, ms: 5000, modelMs: 4500, inputTokens: 10, outputTokens: 5, costUsd: 0.02 }
  const all = { seconds: 5, secondsWithoutModel: 0.5, tokens: 15, costUsd: 0.02, modelCalls: 0 }
  expect(checkLimits(all, spent)).toEqual([])
  expect(checkLimits({ seconds: 4, secondsWithoutModel: 0.4, tokens: 14, costUsd: 0.01 }, spent)).toEqual([
    { expectation: "limits.seconds", problem: "it took 5.0 s, and at most 4.0 s is allowed" },
    { expectation: "limits.secondsWithoutModel", problem: "it took 500 ms, and at most 400 ms is allowed" },
    { expectation: "limits.tokens", problem: "it took 15, and at most 14 is allowed" },
    { expectation: "limits.costUsd", problem: "it took $0.02, and at most $0.01 is allowed" },
  ])
  const unknown = { ...spent, costUsd: null }
  expect(checkLimits({ costUsd: 100 }, unknown)[0]?.problem).toContain("not known")
})
