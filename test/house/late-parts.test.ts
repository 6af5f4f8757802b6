import { execFile } from "node:child_process"
import { cp, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"
import { loadedBy } from "./sources.ts"
import { readSources, root, withoutComments } from "./sources.ts"
import { lifeNamed } from "../support/processes/package.ts"

/** The modules that an engine on SQLite loads before its first turn. */
const start = new Set(loadedBy("core/compose/open-engine.ts"))

describe("the modules of a first turn", () => {
  it.each([
    ["checks of citations", "packs/research/citations/check-answer.ts"],
    ["steps of agents with stages", "core/engine/ask/grade.ts"],
    ["summing up", "core/engine/ask/compact.ts"],
    ["erasing and exporting", "core/store/personal-tables.ts"],
    ["PostgreSQL", "core/store/engine/open-postgres.ts"],
  ])("does not hold %s", (_, path) => {
    expect(start.has("core/engine/loop.ts")).toBe(true)
    expect([...start]).not.toContain(path)
  })
})

/** Loaded while a store is opened, never later. */
const whileOpening = ["core/store/store.ts"]

it("what the loop or the store loads later is a late part, so that no turn needs a file that an upgrade has replaced", () => {
  const sources = { ...readSources("core/engine"), ...readSources("core/store") }
  const others = Object.entries(sources).flatMap(([path, source]) => {
    if (whileOpening.includes(path) || /\.(test|fixture)\.ts$/.test(path)) return []
    const loads = withoutComments(source).match(/.*\bimport\(".*/g) ?? []
    return loads
      .filter((line) => !/lazyModule\(\(\) => import\(/.test(line) && !/typeof import\(/.test(line))
      .map((line) => `${path}: ${line}`)
  })
  expect(others).toEqual([])
})

/** Erases a conversation after everything that was installed has gone. */
const replaced = `
  import { rmSync } from "node:fs"
  import { registerHooks } from "node:module"
  const [, dist] = process.argv
  const later = setTimeout
  globalThis.setTimeout = (call, ms, ...words) => later(call, ms === 1000 ? 0 : ms, ...words)
  const read = Promise.withResolvers()
  registerHooks({
    load(url, context, next) {
      if (url.includes("/export-")) setImmediate(read.resolve) // the last of them
      return next(url, context)
    },
  })
  const { openPawl } = await import(dist + "/index.js")
  const { scripted, says } = await import(dist + "/testing.js")
  const pawl = await openPawl({ store: ":memory:", models: scripted(says("Hello.")) })
  const { conversationId } = await pawl.ask("Hi.")
  await read.promise
  rmSync(dist, { recursive: true })
  await pawl.conversations.erase(conversationId)
  await pawl.close()
  process.stdout.write("erased")
`

it("a process erases with what it has loaded after its start, though the file has gone since", async () => {
  const folder = await mkdtemp(join(tmpdir(), "pawl-late-"))
  const dist = join(folder, "dist")
  await cp(dirname(lifeNamed("any")), dist, {
    recursive: true,
    filter: (path) => !/\/(web|packages)$|\.map$/.test(path),
  })
  await writeFile(join(folder, "package.json"), '{ "type": "module" }')
  await symlink(join(root, "node_modules"), join(folder, "node_modules"))
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", replaced, dist])
  await rm(folder, { recursive: true })
  expect(stdout).toBe("erased")
})
