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

test("a file is fetched once, also by concurrent callers", async () => {
  const { get, fetches, names } = opened()
  const paths = await Promise.all([get("some bytes"), get("some bytes"), get("some bytes")])
  expect(new Set(paths).size).toBe(1)
  expect(readFileSync(paths[0] ?? "", "utf8")).toBe("some bytes")
  expect([fetches(), names()]).toEqual([1, [contentOf("some bytes").hash]])
})

test("unexpected content gets no name and is deleted", async () => {
  const { get, names } = opened()
  expect(await get("some bytes", "some byt")).toBeUndefined()
  expect(await get("some bytes", "same bytes")).toBeUndefined()
  expect(names()).toEqual([])
})

test("a file of another process is verified before it is used", async () => {
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

test("a file that the store no longer has is deleted, but not right after it was requested", async () => {
  const { get, tidy, names, later } = opened({ graceMs: 1000 })
  await get("stays")
  await get("goes")
  await tidy("stays")
  expect(names()).toHaveLength(2)
  later(2000)
  await tidy("stays")
  expect(names()).toEqual([contentOf("stays").hash])
})

test("temporary files of a failed process are deleted when they are old", async () => {
  const { folder, tidy, names } = opened()
  mkdirSync(join(folder, user), { recursive: true })
  for (const name of ["aa.part", "bb.copy", "bb.copy-journal", "cc.part"]) writeFileSync(join(folder, user, name), "x")
  const hours = (Date.now() - 2 * 60 * 60_000) / 1000
  for (const name of ["aa.part", "bb.copy", "bb.copy-journal"]) utimesSync(join(folder, user, name), hours, hours)
  await tidy()
  expect(names()).toEqual(["cc.part"])
})

test("the least recently used files are deleted first", async () => {
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

test("a copy is private, and deleted after the work with the files next to it", async () => {
  const { cache, get, names } = opened()
  const path = (await get("some bytes")) ?? ""
  await cache.withCopy(user, path, async (copy) => {
    writeFileSync(copy, "changed")
    writeFileSync(`${copy}-journal`, "x")
    expect(names()).toHaveLength(3)
  })
  expect([names(), readFileSync(path, "utf8")]).toEqual([[contentOf("some bytes").hash], "some bytes"])
})

test("an adopted file need not be fetched, and only its owner can read the folder", async () => {
  const { cache, folder, get, fetches } = opened()
  const made = join(folder, "made")
  writeFileSync(made, "some bytes")
  await cache.adopt(user, contentOf("some bytes"), made)
  await get("some bytes")
  expect([fetches(), statSync(join(folder, user)).mode & 0o077]).toEqual([0, 0])
})
