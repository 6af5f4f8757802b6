import { existsSync, mkdirSync, mkdtempSync, readdirSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, inject, test } from "vitest"
import { SandboxHome } from "./home.ts"

const homes = () => mkdtempSync(join(tmpdir(), inject("testRun"), "homes-"))

test("a home folder is reused by the next command, and emptied if it has grown too large", async () => {
  const place = { homes: homes(), id: "folder" }
  const home = new SandboxHome({ ...place, mostBytes: 1000 })
  await home.prepare()
  mkdirSync(join(home.path, ".npm"))
  writeFileSync(join(home.path, ".npm/cache"), "x".repeat(900))
  await new SandboxHome({ ...place, mostBytes: 1000 }).prepare()
  expect(readdirSync(join(home.path, ".npm"))).toEqual(["cache"])
  writeFileSync(join(home.path, ".npm/more"), "x".repeat(900))
  await new SandboxHome({ ...place, mostBytes: 1000 }).prepare()
  expect(readdirSync(home.path)).toEqual([])
})

test("home folders that were not used for a month are removed", async () => {
  const place = homes()
  const [old, young] = [new SandboxHome({ homes: place, id: "old" }), new SandboxHome({ homes: place, id: "young" })]
  for (const home of [old, young]) await home.prepare()
  const long = new Date(Date.now() - 31 * 24 * 60 * 60 * 1000)
  utimesSync(join(place, "old"), long, long)
  await new SandboxHome({ homes: place, id: "mine" }).prepare()
  expect([old, young].map(({ path }) => existsSync(path))).toEqual([false, true])
})
