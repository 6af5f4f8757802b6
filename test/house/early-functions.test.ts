import { globSync, readFileSync } from "node:fs"
import { SourceMap } from "node:module"
import { dirname, join } from "node:path"
import { expect, test } from "vitest"
import { EarlyFunctions, inParentheses } from "../../scripts/early-functions.ts"
import { lifeNamed } from "../support/processes/package.ts"

/** What a program exports, which has to be the same in whatever way its functions are written. */
const exportsOf = (code: string): Promise<Record<string, unknown>> =>
  import(`data:text/javascript,${encodeURIComponent(code)}`)

const PROGRAM = `
import { basename } from "node:path";
const before = declared(1);
function declared(n) { return n > 3 ? [n] : [n, ...declared(n + 1)]; }
async function later(n) { await null; return n; }
function* counted() { yield* [1, 2]; }
const arrow = (n) => n + 1, inner = () => { function nested() { return arrow(1); } return nested(); };
const ahead = async (n) => (await later(n)) + 1;
class Part { #n = 1; get n() { return this.#n; } add(n) { return this.#n + n; } static of = () => new Part(); }
const object = { method() { return this.word; }, word: "w", value: function () { return this.word; }, get got() { return 2; } };
const listed = [1, 2].map((n) => n * 2), at = basename("/a/b");
const defaulted = (f = () => "by default") => f();
export const seen = {
  before, counted: [...counted()], inner: inner(), later: await later(1), ahead: await ahead(1), got: object.got,
  part: Part.of().add(Part.of().n), method: object.method(), value: object.value(), listed, at, defaulted: defaulted(),
};
export const names = [declared, later, counted, arrow, inner, ahead, object.value].map(({ name }) => name);
export { declared };
`

test("a program is the same with its functions in parentheses", async () => {
  const plain = await exportsOf(PROGRAM)
  const { code } = inParentheses(PROGRAM, () => true)
  const early = await exportsOf(code)
  expect(early.seen).toEqual(plain.seen)
  expect(early.names).toEqual(plain.names)
  expect(code).toContain("var declared = (function(n) {")
  expect(code).toContain("var later = (async function(n) {")
  expect(code).toContain("const arrow = ((n) => n + 1)")
})

test("only those are in parentheses that were called, whatever the files are named that they load", () => {
  const program = (file: string) => `const called = () => import("./${file}"), other = (n) => n;\n`
  const early = new EarlyFunctions()
  early.add("start", program("a-1.js"), new Set([program("").indexOf("() =>")]))
  expect(early.mark("start", program("b-22.js"))?.code).toBe(
    'const called = (() => import("./b-22.js")), other = (n) => n;\n',
  )
  expect(early.mark("other", program("b-22.js"))).toBeNull()
})

test("the loop, which every first answer runs, is compiled with its file, and a stack still leads to its source", () => {
  const dist = dirname(lifeNamed("any"))
  const [file = ""] = globSync("start-*.js", { cwd: dist }).filter((name) =>
    readFileSync(join(dist, name), "utf8").includes("runConversation"),
  )
  const lines = readFileSync(join(dist, file), "utf8").split("\n")
  const line = lines.findIndex((text) => text.startsWith("var runConversation = (async function("))
  const map = new SourceMap(JSON.parse(readFileSync(join(dist, `${file}.map`), "utf8")))
  const found = map.findEntry(line + 1, 8)
  expect("originalSource" in found && found.originalSource).toMatch(/src\/agent\/loop\.ts$/)
})
