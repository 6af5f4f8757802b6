import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { hasTurn, inTurn, leftOut } from "../support/in-turn.ts"

const seeds = Array.from({ length: 4 }, (_, turn) => turn * 2 ** 12 + 7)

test("what is run in turn is there, and named once", () => {
  const root = join(import.meta.dirname, "..", "..")
  expect(inTurn.filter((path) => !existsSync(join(root, path)))).toEqual([])
  expect(new Set(inTurn).size).toBe(inTurn.length)
})

test("each of them has its turn in one run of four, whatever else the seed decides", () => {
  for (const path of inTurn)
    expect([path, seeds.filter((seed) => !leftOut(seed).includes(path)).length]).toEqual([path, 1])
  // A list of which a test takes one in two, three or four begins at another place in other runs of the same turn.
  for (const many of [2, 3, 4, 5, 6, 8]) {
    const sameTurn = Array.from({ length: many }, (_, step) => step)
    expect(new Set(sameTurn.map((seed) => seed % many)).size).toBe(many)
    expect(new Set(sameTurn.map((seed) => leftOut(seed).join())).size).toBe(1)
  }
})

test("a file that has PostgreSQL in turn has it in one run of four, and each run has some", () => {
  const names = ["library", "tools", "oidc", "by-hand", "questions", "webhook"].map((name) => `/any/${name}.test.ts`)
  for (const name of names) expect([name, seeds.filter((seed) => hasTurn(name, seed)).length]).toEqual([name, 1])
  for (const seed of seeds) expect(names.filter((name) => hasTurn(name, seed)).length).toBeLessThan(names.length)
})

test("none is about kills, chaos, walls or what the gate promises", () => {
  expect(inTurn.filter((path) => /kill|chaos|wall|gate|recovery|approve|torn|once|secret/.test(path))).toEqual([])
})
