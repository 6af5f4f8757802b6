import { execFileSync } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { seedOfCommit, seedOfRun } from "../support/seed-of-run.ts"

const git = (folder: string, ...words: string[]) =>
  execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@example.org", ...words], {
    cwd: folder,
    encoding: "utf8",
  })
const commit = (folder: string) => git(folder, "commit", "--quiet", "--allow-empty", "--message", "Another")

describe("the seed of a run", () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "pawl-seed-"))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test("is new each time where there is no Git", () => {
    expect(new Set(Array.from({ length: 4 }, () => seedOfRun({}, folder))).size).toBe(4)
  })

  test("follows from the commit, and is another for the next one", () => {
    git(folder, "init", "--quiet")
    commit(folder)
    const first = seedOfRun({}, folder)
    expect(first).toBe(seedOfCommit(git(folder, "rev-parse", "HEAD")))
    expect(seedOfRun({}, folder)).toBe(first)
    commit(folder)
    git(folder, "commit", "--quiet", "--amend", "--allow-empty", "--message", "Yet another")
    expect(seedOfRun({}, folder)).not.toBe(first)
  })

  test("is the one that is asked for, and new each time in the long run", () => {
    expect(seedOfRun({ PAWL_TEST_SEED: "7" }, folder)).toBe(7)
    expect(seedOfRun({ PAWL_TEST_SEED: "7", PAWL_TEST_LONG: "1" }, folder)).toBe(7)
    const long = { PAWL_TEST_LONG: "1" }
    expect(seedOfRun(long, folder)).not.toBe(seedOfRun(long, folder))
  })

  test("is a whole number above zero, below 2 to the 31", () => {
    for (const start of ["00000000", "00000001", "7fffffff", "80000000", "ffffffff"]) {
      const seed = seedOfCommit(start.padEnd(40, "0"))
      expect(seed).toBeGreaterThan(0)
      expect(seed).toBeLessThan(2 ** 31)
    }
  })
})
