import { execFile } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, inject, test } from "vitest"
import { builtProgram, markOf, writeMark } from "../../scripts/built.js"

const root = join(import.meta.dirname, "..", "..")

/** A checkout whose program reports from where it runs. */
function checkout() {
  const folder = mkdtempSync(join(tmpdir(), inject("testRun"), "built-"))
  for (const path of ["bin", "scripts", "core", "client", "packs", "adapters", "apps/cli", "labs", "dist"])
    mkdirSync(join(folder, path), { recursive: true })
  for (const path of ["bin/pawl.js", "scripts/built.js", "package.json", "package-lock.json"])
    cpSync(join(root, path), join(folder, path))
  writeFileSync(join(folder, "apps/cli/pawl.ts"), 'console.log("from source" as string)\n')
  writeFileSync(join(folder, "apps/cli/other.ts"), "export const a = 1\n")
  writeFileSync(join(folder, "dist/pawl.js"), 'console.log("as it was built")\n')
  const says = async () => (await promisify(execFile)(process.execPath, [join(folder, "bin/pawl.js")])).stdout.trim()
  return { folder, says }
}

test("a checkout starts the build of its current sources, and the sources if there is none", async () => {
  const { folder, says } = checkout()
  expect(await says()).toBe("from source")
  writeMark(folder, markOf(folder))
  expect(await says()).toBe("as it was built")
})

test("a build becomes outdated when a source is changed, added or has another time; a test does not count", () => {
  const { folder } = checkout()
  const isFresh = () => builtProgram(folder) !== undefined
  const build = () => {
    writeMark(folder, markOf(folder))
    expect(isFresh()).toBe(true)
  }
  build()
  writeFileSync(join(folder, "apps/cli/other.test.ts"), "")
  expect(isFresh()).toBe(true)
  writeFileSync(join(folder, "apps/cli/other.ts"), "export const a = 22\n")
  expect(isFresh()).toBe(false)
  build()
  utimesSync(join(folder, "apps/cli/pawl.ts"), 1, 1)
  expect(isFresh()).toBe(false)
  build()
  writeFileSync(join(folder, "core/more.ts"), "")
  expect(isFresh()).toBe(false)
})
