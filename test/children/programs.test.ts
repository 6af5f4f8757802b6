import { globSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { expect, test } from "vitest"

const root = join(import.meta.dirname, "..", "..")

test("every program that runs in a process or a thread of its own is in the bundle, under its name", () => {
  const build = readFileSync(join(root, "scripts", "build.ts"), "utf8")
  const scripts = globSync("src/**/*-{child,thread}.ts", { cwd: root })
  const missing = scripts.filter((path) => !build.includes(`"${basename(path, ".ts")}": "${path}"`))
  expect(missing).toEqual([])
  expect(scripts.length).toBeGreaterThan(8)
})

test("nobody starts one of them but by way of src/children", () => {
  const sources = globSync("src/**/*.ts", { cwd: root }).filter(
    (path) => !path.startsWith("src/children/") && !path.endsWith(".test.ts"),
  )
  const starting = sources.filter((path) =>
    /process\.execPath|extends Worker|new Worker\(/.test(readFileSync(join(root, path), "utf8")),
  )
  // Whoever makes a backup waits for it, and is told what went wrong with it.
  expect(starting).toEqual(["src/store/engine/backup.ts"])
})
