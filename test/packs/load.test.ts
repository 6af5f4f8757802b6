import { mkdir, mkdtemp, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { expect, inject, test } from "vitest"
import { type Clock, systemClock } from "../../core/shared/time/clock.ts"
import { TurnedClock } from "../../core/engine/turned-clock.fixture.ts"
import { type ThirdPartyServices, loadPacks } from "../../core/packs/load-packs.ts"
import { openPacks } from "../../core/packs/open-packs.ts"
import type { PackTables } from "../../core/engine/pack-services.ts"

/** A folder with these files in it. */
async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), inject("testRun"), "packs-"))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  return folder
}

const services = {
  clock: systemClock,
  log: { info() {}, warn() {}, error() {} },
  openTables: async () => ({}) as PackTables,
} as unknown as ThirdPartyServices

/** Loads and opens packs, as a server does when it starts. */
async function start(files: Readonly<Record<string, string>>, names: string[], clock: Clock = systemClock) {
  const folder = await folderWith(files)
  const packs = await loadPacks(names, { folder, clock, usedNames: ["workspace"] })
  return openPacks(packs, services)
}

/** An agent as `defineAgent` returns it, in a file without imports. */
const agent = (name: string, ...tools: string[]) =>
  `{ name: "${name}", description: "d", instructions: "", maxIterations: 5, tools: { names: ${JSON.stringify(tools)}, visibleIn: () => [] } }`
const pack = (name: string, opens = "agents: []") => `export default { name: "${name}", open: () => ({ ${opens} }) }`

test("packs are loaded in order, from files relative to the server's working folder", async () => {
  const files = {
    "a.mjs": pack("one", `agents: [${agent("first", "look")}]`),
    "in/b.mjs": pack("two", `agents: [${agent("second")}]`),
  }
  await using packs = await start(files, ["./a.mjs", "./in/b.mjs"])
  expect(packs.names).toEqual(["one", "two"])
  expect(packs.agents.map(({ name }) => name)).toEqual(["first", "second"])
})

test("routes of packs are under the name of their pack", async () => {
  const zod = import.meta.resolve("zod")
  const route = `{ method: "GET", path: "/loans/{id}", needs: "read", says: "One.", answer: z.object({}), handle: () => ({}) }`
  const code = `import { z } from "${zod}"\n${pack("books", `agents: [], routes: { readLoan: ${route} }`)}`
  await using packs = await start({ "a.mjs": code }, ["./a.mjs"])
  expect(packs.routes).toMatchObject([{ pack: "books", name: "readLoan", path: "/loans/{id}" }])
})

const loans = `CREATE TABLE pack_books_loan (id TEXT NOT NULL, person TEXT NOT NULL)`

test.each<[what: string, files: Record<string, string>, names: string[], says: RegExp]>([
  ["a file that is not there", {}, ["./a.mjs"], /pack \.\/a\.mjs .*there is no file .*\/a\.mjs/],
  ["a package that is not there", {}, ["@acme/none"], /no package @acme\/none in .*: `npm install` it there/],
  ["a file named like a package", { "a.mjs": "" }, ["a.mjs"], /there is a file of that name: write \.\/a\.mjs/],
  [
    "a file that imports what is not there",
    { "a.mjs": `import "nothing-of-this-name"` },
    ["./a.mjs"],
    /nothing-of-this-/,
  ],
  ["a file that is no JavaScript", { "a.mjs": "export default {" }, ["./a.mjs"], /loading it failed: /],
  ["a file that throws", { "a.mjs": `throw new Error("no licence")` }, ["./a.mjs"], /loading it failed: no licence\./],
  [
    "no default export",
    { "a.mjs": "export const a = 1" },
    ["./a.mjs"],
    /has no default export.*export default definePack/,
  ],
  ["a default export of another shape", { "a.mjs": "export default 7" }, ["./a.mjs"], /default export is no pack/],
  ["a bad name", { "a.mjs": pack("My-Pack") }, ["./a.mjs"], /name: a pack's name: up to 30 small letters/],
  [
    "a field that nobody reads",
    { "a.mjs": `export default { name: "a", open() {}, agent: 1 }` },
    ["./a.mjs"],
    /"agent"/,
  ],
  [
    "a view that the page does not have",
    { "a.mjs": `export default { name: "a", open() {}, needs: { views: ["hologram"] } }` },
    ["./a.mjs"],
    /needs\.views\.0: .*"table"/,
  ],
  [
    "a table of somebody else's",
    {
      "a.mjs": `export default { name: "a", open() {}, needs: { migrations: [{ name: "1", statements: ["${loans}"] }] } }`,
    },
    ["./a.mjs"],
    /names of this pack begin with pack_a_/,
  ],
  ["the name of one of ours", { "a.mjs": pack("workspace") }, ["./a.mjs"], /a pack "workspace" already.*another name/],
  [
    "the name of another",
    { "a.mjs": pack("a"), "b.mjs": pack("a") },
    ["./a.mjs", "./b.mjs"],
    /b\.mjs.*a pack "a" already/,
  ],
  [
    "an agent of a name that is taken",
    { "a.mjs": pack("a", `agents: [${agent("x")}]`), "b.mjs": pack("b", `agents: [${agent("x")}]`) },
    ["./a.mjs", "./b.mjs"],
    /pack b .*an agent "x" already/,
  ],
  [
    "a tool of a name that is taken",
    { "a.mjs": pack("a", `agents: [${agent("x", "look")}]`), "b.mjs": pack("b", `agents: [${agent("y", "look")}]`) },
    ["./a.mjs", "./b.mjs"],
    /pack b .*a tool "look" already/,
  ],
  [
    "open() that throws",
    { "a.mjs": `export default { name: "a", open() { throw new Error("no key") } }` },
    ["./a.mjs"],
    /open\(\) failed: no key/,
  ],
  [
    "open() that gives nothing",
    { "a.mjs": `export default { name: "a", open() {} }` },
    ["./a.mjs"],
    /what it opens is not right/,
  ],
  [
    "an agent of its own making",
    { "a.mjs": pack("a", `agents: [{ name: "x", description: "d", instructions: "", tools: [] }]`) },
    ["./a.mjs"],
    /agents\.0\.tools: use defineAgent/,
  ],
  [
    "a route for strangers",
    {
      "a.mjs": pack(
        "a",
        `agents: [], routes: { r: { method: "GET", path: "/x", needs: "nobody", says: "x", answer: null, handle() {} } }`,
      ),
    },
    ["./a.mjs"],
    /routes\.r\.needs/,
  ],
  [
    "a route that leaves its place",
    {
      "a.mjs": pack(
        "a",
        `agents: [], routes: { r: { method: "GET", path: "/../x", needs: "read", says: "x", answer: null, handle() {} } }`,
      ),
    },
    ["./a.mjs"],
    /routes\.r\.path/,
  ],
  [
    "two routes at one address",
    {
      "a.mjs": `const r = (path) => ({ method: "GET", path, needs: "read", says: "x", answer: null, handle() {} })
        ${pack("a", `agents: [], routes: { one: r("/x/{id}"), two: r("/x/{name}") }`)}`,
    },
    ["./a.mjs"],
    /two of its routes are GET \/x\/\{\}/,
  ],
])("%s is refused by name, with what is wrong and what to do", async (_what, files, names, says) => {
  const refusal = await start(files, names).then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(refusal).toMatchObject({ code: "pack_refused", message: expect.stringMatching(says) })
  expect((refusal as Error).message).toMatch(/^The pack .* in PAWL_PACKS could not be loaded: .*\. To fix it: .*\.$/)
})

test.each([
  ["loading it", "globalThis.packHangs(); await new Promise(() => {})"],
  ["open()", `export default { name: "a", open: () => { globalThis.packHangs(); return new Promise(() => {}) } }`],
])("a pack for which %s never ends is refused after half a minute", async (what, code) => {
  const clock = new TurnedClock()
  const hangs = new Promise<void>((resolve) => Reflect.set(globalThis, "packHangs", resolve))
  const starting = start({ "a.mjs": code }, ["./a.mjs"], clock)
  const refused = expect(starting).rejects.toThrow(`${what} has not ended after 30 s`)
  await hangs
  clock.turn(30_000)
  await refused
})

test("a refused pack is closed, and so are the packs loaded before it", async () => {
  const closes = (name: string, agents: string) =>
    pack(name, `agents: ${agents}, close: async () => void (globalThis.closedPacks ??= []).push("${name}")`)
  const files = { "a.mjs": closes("a", "[]"), "b.mjs": closes("b", `["no agent"]`) }
  await expect(start(files, ["./a.mjs", "./b.mjs"])).rejects.toThrow("what it opens is not right")
  expect(Reflect.get(globalThis, "closedPacks")).toEqual(["b", "a"])
})
