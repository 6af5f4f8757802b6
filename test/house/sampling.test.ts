import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { isSampled, leftOut, numberIn, sampled, seedOfCommit, seedOfRun } from "../support/sampling.ts"

/** One seed for each quarter. */
const seeds = Array.from({ length: 4 }, (_, quarter) => quarter * 2 ** 12 + 7)

test("the sampled files exist, are listed once, and are not about kills, chaos, the sandbox or approval", () => {
  const root = join(import.meta.dirname, "..", "..")
  expect(sampled.filter((path) => !existsSync(join(root, path)))).toEqual([])
  expect(new Set(sampled).size).toBe(sampled.length)
  expect(sampled.filter((path) => /kill|chaos|wall|gate|recovery|approve|torn|once|secret/.test(path))).toEqual([])
})

test("each sampled file runs in one of four runs, whatever else the seed decides", () => {
  for (const path of sampled)
    expect([path, seeds.filter((seed) => !leftOut(seed).includes(path)).length]).toEqual([path, 1])
  for (const seed of [1, 2, 3, 4, 5]) expect(leftOut(seed)).toEqual(leftOut(0))
  const names = ["library", "tools", "oidc", "by-hand", "questions", "webhook"].map((name) => `/any/${name}.test.ts`)
  for (const name of names) expect([name, seeds.filter((seed) => isSampled(name, seed)).length]).toEqual([name, 1])
})

test("the seed follows from the commit; the long run and a folder without Git use a new one", async () => {
  const folder = await mkdtemp(join(tmpdir(), "pawl-seed-"))
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@example.org", ...args], {
      cwd: folder,
      encoding: "utf8",
    })
  try {
    expect(seedOfRun({}, folder)).not.toBe(seedOfRun({}, folder))
    git("init", "--quiet")
    git("commit", "--quiet", "--allow-empty", "--message", "First")
    const first = seedOfRun({}, folder)
    expect(first).toBe(seedOfCommit(git("rev-parse", "HEAD")))
    expect(seedOfRun({}, folder)).toBe(first)
    expect(seedOfRun({ PAWL_TEST_LONG: "1" }, folder)).not.toBe(first)
    expect(seedOfRun({ PAWL_TEST_LONG: "1", PAWL_TEST_SEED: "7" }, folder)).toBe(7)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  for (const start of ["00000000", "00000001", "7fffffff", "80000000", "ffffffff"]) {
    const seed = seedOfCommit(start.padEnd(40, "0"))
    expect(seed > 0 && seed < 2 ** 31).toBe(true)
  }
})

test("a number in the environment is used, an empty variable is not, and any other value stops the tests", () => {
  const given = (text?: string) => numberIn("PAWL_CASES", text === undefined ? {} : { PAWL_CASES: text })
  expect(["2000", " 7 ", "", " ", undefined].map(given)).toEqual([2000, 7, undefined, undefined, undefined])
  for (const text of ["0", "-5", "1.5", "many", "10k", "NaN", "Infinity"])
    expect(() => given(text)).toThrow(`PAWL_CASES="${text}" is not a positive integer`)
})
