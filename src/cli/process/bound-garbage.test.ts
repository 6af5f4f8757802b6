import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { rulesFor, USUAL_RULES } from "./bound-garbage.ts"

const MB = 1024 * 1024

/** Makes much that lives for a moment, in turns of the event loop, and says how large the part for new things has become. */
const CHURN = `
  const { getHeapSpaceStatistics } = await import("node:v8")
  let kept = []
  for (let turn = 0; turn < 150; turn++) {
    await new Promise((resolve) => setImmediate(resolve))
    for (let made = 0; made < 20_000; made++) kept.push({ made, list: [made, turn] })
    if (turn % 10 === 9) kept = []
  }
  console.log(getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space").space_size)
`

async function newSpaceBehind(before: string): Promise<number> {
  // As V8 has it where there is memory enough.
  const words = ["--max-semi-space-size=64", "--input-type=module", "--eval", before + CHURN]
  return Number((await promisify(execFile)(process.execPath, words)).stdout)
}

test("what V8 has for new things stays small in a process that bounds it, and not by itself", async () => {
  const module = JSON.stringify(new URL("bound-garbage.ts", import.meta.url).href)
  const bounded = newSpaceBehind(`(await import(${module})).boundGarbage();`)
  const [left, bound] = await Promise.all([newSpaceBehind(""), bounded])
  expect(left).toBe(128 * MB)
  // Once more than it should where two collections follow each other within a turn.
  expect(bound).toBeLessThanOrEqual(64 * MB)
})

test("a server that rests goes by V8's own rules, also one that has just started and whose heap has grown a little", () => {
  expect(rulesFor({ used: 45 * MB, newSpace: 16 * MB }, USUAL_RULES)).toEqual(USUAL_RULES)
})

test("what was made earlier may grow by less while there is much, until there is little again", () => {
  const [much, between, little] = [60, 50, 40].map((used) => ({ used: used * MB, newSpace: 16 * MB }))
  expect(rulesFor(between!, USUAL_RULES)).toEqual(USUAL_RULES)
  const bounded = rulesFor(much!, USUAL_RULES)
  expect(bounded.growingPercent).toBeGreaterThan(0)
  expect(rulesFor(between!, bounded)).toEqual(bounded)
  expect(rulesFor(little!, bounded)).toEqual(USUAL_RULES)
})

test("new things get room again once V8 has taken it back from them", () => {
  const full = rulesFor({ used: 40 * MB, newSpace: 32 * MB }, USUAL_RULES)
  expect(full.newGrowthFactor).toBe(1)
  expect(rulesFor({ used: 40 * MB, newSpace: 2 * MB }, full)).toEqual(USUAL_RULES)
})
