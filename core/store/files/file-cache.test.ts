import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, inject, test } from "vitest"
import { newId } from "../../protocol/ids.ts"
import { type CacheOptions, FileCache } from "./file-cache.ts"

const user = newId("user")
const contentOf = (text: string) => ({ hash: createHash("sha256").update(text).digest("hex"), size: text.length })

function opened(options: Partial<CacheOptions> = {}) {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), inject("testRun"), "cache-"))
  let now = Date.now()
  const cache = new FileCache({ folder, now: () => now, ...options })
  let fetched = 0
  const get = (text: string, brought = text) =>
    cache.get(user, contentOf(text), async function* () {
      fetched++
      yield Buffer.from(brought.slice(0, 2))
      yield Buffer.from(brought.slice(2))
    })
  const names = () => readdirSync(join(folder, user)).sort()
  const tidy = (...texts: string[]) => cache.tidy(async () => new Set(texts.map((text) => contentOf(text).hash)))
  return { cache, folder, get, names, tidy, fetches: () => fetched, later: (ms: number) => (now += ms) }
}

test("what was fetched is not fetched again, also where many ask at once", async () => {
  const { get, fetches, names } = opened()
  const paths = await Promise.all([get("some bytes"), get("some bytes"), get("some bytes")])
  expect(new Set(paths).size).toBe(1)
  expect(readFileSync(paths[0] ?? "", "utf8")).toBe("some bytes")
  expect([fetches(), names()]).toEqual([1, [contentOf("some bytes").hash]])
})

test("what comes and is not what was asked for gets no name, and nothing of it stays", async () => {
  const { get, names } = opened()
  expect(await get("some bytes", "some byt")).toBeUndefined()
  expect(await get("some bytes", "same bytes")).toBeUndefined()
  expect(names()).toEqual([])
})

test("a file that another process or an earlier one has fetched is read through before it is trusted", async () => {
  const first = opened()
  const path = (await first.get("some bytes")) ?? ""
  const second = opened({ folder: first.folder })
  await second.get("some bytes")
  expect(second.fetches()).toBe(0)
  writeFileSync(path, "same bytes") // as long as before
  const third = opened({ folder: first.folder })
  expect(readFileSync((await third.get("some bytes")) ?? "", "utf8")).toBe("some bytes")
  expect(third.fetches()).toBe(1)
  await first.get("some bytes")
  expect(first.fetches()).toBe(1)
})

test("what the store no longer has goes, but not from under whoever has just asked for it", async () => {
  const { get, tidy, names, later } = opened({ graceMs: 1000 })
  await get("stays")
  await get("goes")
  await tidy("stays")
  expect(names()).toHaveLength(2)
  later(2000)
  await tidy("stays")
  expect(names()).toEqual([contentOf("stays").hash])
})

test("what a process that died has left half done goes when it is old", async () => {
  const { folder, tidy, names } = opened()
  mkdirSync(join(folder, user), { recursive: true })
  for (const name of ["aa.part", "bb.copy", "bb.copy-journal", "cc.part"]) writeFileSync(join(folder, user, name), "x")
  const hours = (Date.now() - 2 * 60 * 60_000) / 1000
  for (const name of ["aa.part", "bb.copy", "bb.copy-journal"]) utimesSync(join(folder, user, name), hours, hours)
  await tidy()
  expect(names()).toEqual(["cc.part"])
})

test("of too much the files go first that were used longest ago", async () => {
  const { get, tidy, names, later } = opened({ graceMs: 1000, maxBytes: 10 })
  for (const text of ["first", "secnd", "third"]) {
    await get(text)
    later(2000)
  }
  await get("first")
  later(500)
  await tidy("first", "secnd", "third")
  expect(names()).toEqual([contentOf("first").hash, contentOf("third").hash].sort())
})

test("a copy is one's own, and gone with the work, with what lies beside it", async () => {
  const { cache, get, names } = opened()
  const path = (await get("some bytes")) ?? ""
  await cache.withCopy(user, path, async (copy) => {
    writeFileSync(copy, "changed")
    writeFileSync(`${copy}-journal`, "x")
    expect(names()).toHaveLength(3)
  })
  expect([names(), readFileSync(path, "utf8")]).toEqual([[contentOf("some bytes").hash], "some bytes"])
})

test("a file that is handed in need not be fetched, and nobody else may read the folder", async () => {
  const { cache, folder, get, fetches } = opened()
  const made = join(folder, "made")
  writeFileSync(made, "some bytes")
  await cache.adopt(user, contentOf("some bytes"), made)
  await get("some bytes")
  expect([fetches(), statSync(join(folder, user)).mode & 0o077]).toEqual([0, 0])
})
