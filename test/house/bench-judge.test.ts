import { expect, test } from "vitest"
import { type Series, toRow } from "../../bench/judge.ts"
import type { Measure } from "../../bench/measures.ts"

const line = (given: Partial<Measure>): Measure => ({
  ...{ workload: "w4", what: "x", ours: "pawl-normal", floor: "floor-normal", key: "n" },
  ...{ unit: "ms", judged: "value", must: 15, goal: 5 },
  ...given,
})
const series: Series = {
  workload: "w4",
  ours: "pawl-normal",
  rounds: [{ ours: { n: 20 }, floors: { "floor-normal": [{ n: 10 }, { n: 8 }] } }],
}
const verdict = (given: Partial<Measure>, slowness: number | undefined) => toRow(line(given), series, slowness).verdict

test("a time limit scales with the slowness of the machine; a ratio and a count are the same everywhere", () => {
  expect(verdict({}, 1)).toBe("MISSED")
  expect(verdict({}, 1.5)).toBe("must")
  expect(verdict({}, 4)).toBe("goal")
  // Against the better floor: 20 / 8.
  expect(verdict({ judged: "ratio", must: 2.4, goal: 1 }, 4)).toBe("MISSED")
  expect(verdict({ judged: "ratio", must: 2.6, goal: 1 }, 1)).toBe("must")
  expect(verdict({ unit: "KB" }, 4)).toBe("MISSED")
  expect(verdict({}, undefined)).toBe("not judged")
})
