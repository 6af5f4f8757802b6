import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, inject, test } from "vitest"
import { hasGit, NO_GIT } from "../../test/support/processes/processes.ts"
import type { Answer, CallContext } from "../../core/pack.ts"
import { findProgram } from "./folder/find-program.ts"
import { gitLog } from "./git-log.ts"
import { openFolder } from "./folder/local-folder.ts"
import { place } from "../../test/support/files/commands.ts"
import { findSandbox } from "./sandbox/sandbox.ts"

const PATH = process.env.PATH ?? ""

/** A project that ships programs of its own, and a sign that one of them was run. */
function trap() {
  const base = mkdtempSync(join(tmpdir(), inject("testRun"), "program-"))
  const [root, sprung] = [join(base, "work"), join(base, "sprung")]
  const bin = join(root, "node_modules", ".bin")
  mkdirSync(bin, { recursive: true })
  for (const name of ["git", "bwrap"]) {
    writeFileSync(join(bin, name), `#!/bin/sh\ntouch ${sprung}\nexit 0\n`)
    chmodSync(join(bin, name), 0o755)
  }
  symlinkSync(bin, join(base, "led-inside"))
  mkdirSync(join(base, "linked"))
  symlinkSync(join(bin, "git"), join(base, "linked", "git"))
  symlinkSync("/usr/bin", join(root, "led-outside"))
  return { base, root, bin, sprung }
}

test("a git or bwrap that the project ships is never run, whichever way the search path leads to it", async ({
  skip,
}) => {
  skip(!hasGit, NO_GIT)
  const { base, root, bin, sprung } = trap()
  execFileSync("git", ["init", "-q", "-b", "main"], { cwd: root })
  const as = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
  execFileSync("git", [...as, "commit", "-q", "--allow-empty", "-m", "The first"], { cwd: root })
  using folder = openFolder(root)
  const context = { state: {}, signal: new AbortController().signal } as unknown as CallContext
  const searchPath = [bin, join(base, "led-inside"), join(base, "linked"), PATH].join(":")
  const { text } = (await gitLog({ folder, searchPath }).run({}, context)) as Answer
  expect(text).toContain("Ada: The first")
  expect(findSandbox(place({ searchPath: `${bin}:${join(base, "led-inside")}`, root })).isEnforced).toBe(false)
  expect(existsSync(sprung)).toBe(false)
})

test("entries that are empty, relative or in the folder are passed over, by their names and by where they lead", () => {
  const { base, root, bin } = trap()
  const before = process.cwd()
  process.chdir(bin)
  try {
    for (const entry of ["", ".", "node_modules/.bin", bin, join(base, "led-inside"), join(base, "linked")])
      expect(findProgram("git", `${entry}:/nonexistent`, root), entry).toBeUndefined()
    expect(findProgram("git", join(root, "led-outside"), root)).toBeUndefined()
  } finally {
    process.chdir(before)
  }
  expect(findProgram("git", bin, `${root}-old`)).toBe(join(bin, "git"))
})

test("without a git of the machine the tools say so", async () => {
  const { root, bin } = trap()
  mkdirSync(join(root, ".git", "objects", "info"), { recursive: true })
  using folder = openFolder(root)
  const context = { state: {}, signal: new AbortController().signal } as unknown as CallContext
  await expect(async () => gitLog({ folder, searchPath: bin }).run({}, context)).rejects.toThrow("git is not installed")
})
