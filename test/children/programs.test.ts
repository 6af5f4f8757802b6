import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, inject, test } from "vitest"
import { siblingScript, JobThread, startThread } from "../../core/shared/processes/thread.ts"
import { programs } from "../../scripts/entries.ts"

const root = join(import.meta.dirname, "..", "..")

test("every program that is started as a separate file is built as one, under its name", () => {
  const files = globSync("{core,client,packs,adapters,apps,labs}/**/*.ts", { cwd: root }).filter(
    (path) => !path.endsWith(".test.ts"),
  )
  const sources = files.map((path) => readFileSync(join(root, path), "utf8"))
  const started = sources.flatMap((source) => [...source.matchAll(/siblingScript\(import\.meta\.url, "([^"]+)"\)/g)])
  const names = [...new Set(started.map(([, name]) => name!))]
  expect(Object.keys(programs).sort()).toEqual(names.sort())
  expect(names.length).toBeGreaterThan(8)
})

test("tests start the built programs, which is five times as fast as from source", () => {
  expect(siblingScript(import.meta.url, "csv-child").pathname).toBe(join(inject("package"), "dist", "csv-child.js"))
  expect([typeof JobThread, typeof startThread]).toEqual(["function", "function"])
})

test("only core/shared/processes starts child processes", () => {
  const sources = globSync("{core,client,packs,adapters,apps,labs}/**/*.ts", { cwd: root }).filter(
    (path) => !/^(core\/shared\/processes|apps\/web)\//.test(path) && !path.endsWith(".test.ts"),
  )
  const starting = sources.filter((path) =>
    /process\.execPath|extends Worker|new Worker\(/.test(readFileSync(join(root, path), "utf8")),
  )
  expect(starting.sort()).toEqual([
    "core/require-node.ts", // names the Node that runs, and starts nothing
    "core/store/engine/sqlite/backup.ts", // the caller of a backup waits for it, and gets its error
    "labs/crashtest/life-process.ts", // a whole Pawl, which is to be killed
    "labs/crashtest/outside.ts", // opens it, as it would any file
  ])
})
