import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { runInNewContext } from "node:vm"
import { expect, test } from "vitest"
import { programs } from "../../scripts/entries.ts"
import { toPlainLetters } from "../../scripts/plain-letters.ts"
import { lifeNamed } from "../support/processes/package.ts"

const dist = dirname(lifeNamed("any"))

/** Returns the files that a file of `dist` imports statically. */
const importsOf = (name: string): string[] =>
  [...readFileSync(join(dist, name), "utf8").matchAll(/^(?:import|export) (?:[^"\n]* from )?"([^"\n]+)"/gm)].map(
    ([, from]) => from!.replace(/^\.\//, ""),
  )

/** Returns all that is loaded with a file: our files and external packages. */
function loadedWith(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found
  found.add(name)
  if (name.endsWith(".js")) for (const each of importsOf(name)) loadedWith(each, found)
  return found
}

function firstImport(name: string): string {
  const pawl = readFileSync(join(dist, "pawl.js"), "utf8")
  const [, found] = new RegExp(`import\\("\\./(${name}-[^"]+)"\\)`).exec(pawl) ?? []
  if (!found) throw new Error(`pawl.js imports nothing that is called ${name}`)
  return found
}

test.each(["client.js", "protocol.js"])("%s, which browsers load, imports nothing of Node", (entry) => {
  const loaded = [...loadedWith(entry)]
  expect(loaded.filter((name) => name.startsWith("node:"))).toEqual([])
  expect(loaded.some((name) => name.startsWith("zod-"))).toBe(true) // or this test would show nothing
})

test.each(["pawl.js", firstImport("chat")])("no schema is created before the first output of %s", (entry) => {
  expect([...loadedWith(entry)].filter((name) => name.startsWith("zod-"))).toEqual([])
})

test.each(["device.js", "index.js", firstImport("token")])("%s loads no server", (entry) => {
  expect([...loadedWith(entry)].filter((name) => name.startsWith("server-"))).toEqual([])
  expect([...loadedWith(firstImport("serve"))].filter((name) => name.startsWith("server-"))).toHaveLength(1)
})

test("modules that load a second later load no server either", () => {
  const late = globSync("late-*.js", { cwd: dist })
  expect(late).toHaveLength(1)
  const loaded = late.flatMap((name) => [...loadedWith(name)])
  expect(loaded.filter((name) => /^(?:server|library)-/.test(name))).toEqual([])
})

test("only the command that evaluates loads the modules for it", () => {
  const holds = (name: string) => readFileSync(join(dist, name), "utf8").includes('"evaluation-judge"')
  const commands = ["serve", "chat", "exec", "acp", "mcp", "ingest"].map(firstImport)
  const loaded = [...commands, "index.js", "server.js"].flatMap((entry) => [...loadedWith(entry)])
  expect(loaded.filter((name) => name.endsWith(".js") && holds(name))).toEqual([])
  expect([...loadedWith(firstImport("eval"))].filter((name) => name.endsWith(".js") && holds(name))).toHaveLength(1)
})

test("a server is a dozen files, and no two of them import each other", () => {
  const files = [...loadedWith(firstImport("serve"))].filter((name) => name.endsWith(".js"))
  expect(files.length).toBeLessThanOrEqual(15)
  const both = files.filter((name) => importsOf(name).some((other) => loadedWith(other).has(name)))
  expect(both).toEqual([])
})

test("no file of any program imports itself through others: a schema must exist before another file uses it", () => {
  const files = globSync("*.js", { cwd: dist })
  const imports = new Map(files.map((name) => [name, importsOf(name).filter((other) => files.includes(other))]))
  const isOver = new Set<string>()
  const leadsBack = (name: string, path: readonly string[] = []): boolean => {
    if (path.includes(name)) return true
    if (isOver.has(name) || !imports.get(name)?.some((other) => leadsBack(other, [...path, name]))) {
      isOver.add(name)
      return false
    }
    return true
  }
  expect(files.filter((name) => leadsBack(name))).toEqual([])
  expect([...imports.values()].flat().length).toBeGreaterThan(100) // or this test would show nothing
})

test("code that runs in a process or a thread of its own shares no file with the server", () => {
  const ofServer = loadedWith(firstImport("serve"))
  for (const name of Object.keys(programs)) {
    const own = [...loadedWith(`${name}.js`)].filter((each) => each.endsWith(".js"))
    expect(own.filter((each) => ofServer.has(each))).toEqual([])
  }
})

test("no program has a letter beyond ASCII, because V8 would then store it with two bytes a letter", () => {
  const files = globSync("*.js", { cwd: dist })
  expect(files).toContain("pawl.js")
  expect(files.filter((name) => /[^\x00-\x7f]/.test(readFileSync(join(dist, name), "utf8")))).toEqual([])
})

test.each([
  "'…'",
  "'\\…'",
  "'\\\\…'",
  "'\\\\\\…'",
  "`“${1}😀\\n`",
  "/^[–-—]$/.test('—')",
  "/^\\：$/.test('：')",
  "/^[😀]$/u.test('😀')",
])("%s means the same when it is written in ASCII", (code) => {
  const plain = toPlainLetters(code)
  expect(plain).not.toMatch(/[^\x00-\x7f]/)
  expect([runInNewContext(plain), runInNewContext(code)]).toEqual([runInNewContext(code), expect.anything()])
})
