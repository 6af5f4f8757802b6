import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { programs } from "../../scripts/entries.ts"

const root = join(import.meta.dirname, "..", "..")

test("every program that is started as a file of its own is built as one, under its name", () => {
  const sources = globSync("src/**/*.ts", { cwd: root }).map((path) => readFileSync(join(root, path), "utf8"))
  const started = sources.flatMap((source) => [...source.matchAll(/besideModule\(import\.meta\.url, "([^"]+)"\)/g)])
  const names = [...new Set(started.map(([, name]) => name!))]
  expect(Object.keys(programs).sort()).toEqual(names.sort())
  expect(names.length).toBeGreaterThan(8)
})

test("nobody starts one of them but by way of src/children", () => {
  const sources = globSync("src/**/*.ts", { cwd: root }).filter(
    (path) => !path.startsWith("src/children/") && !path.endsWith(".test.ts"),
  )
  const starting = sources.filter((path) =>
    /process\.execPath|extends Worker|new Worker\(/.test(readFileSync(join(root, path), "utf8")),
  )
  expect(starting.sort()).toEqual([
    "src/cli/crashtest/life-process.ts", // a whole Pawl, which is to be killed
    "src/cli/crashtest/outside.ts", // opens it, as it would any file
    "src/store/engine/sqlite/backup.ts", // whoever makes a backup waits for it, and is told what went wrong with it
  ])
})
