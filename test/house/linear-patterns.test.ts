import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parseSync, Visitor } from "rolldown/utils"
import { analyse } from "scslre"
import { expect, test, vi } from "vitest"
import { PROGRAM_FOLDERS } from "./sources.ts"

/**
 * Patterns whose time may grow faster than the text, and why that is harmless. By file, with how each starts. All others are
 * linear as far as `scslre` can tell (the analyser of eslint-plugin-regexp), so that no text from outside can block a server or
 * a page. `linear-parsers.slow.test.ts` measures the parsers themselves.
 */
const EXCEPTIONS: Readonly<Record<string, readonly [beginning: string, why: string][]>> = {
  "packs/research/citations/code.ts": [
    ["^[(\"'“‘«[*]*\\p{L}", "at most 2,000 characters: MAX_READ"],
    ["^(?:[–—…&-]|", "at most 2,000 characters: MAX_READ"],
    ["^\\P{L}*(?:\\p{Lo}|", "at most 2,000 characters: MAX_READ"],
  ],
  "core/tools/mcp/result.ts": [["[?#].*$", "none: it matches at the first ? or #"]],
  "client/format-sql.ts": [["'(?:[^']|'')*'|", "at most 20,000 characters in one line: MAX_LENGTH"]],
  "client/protect-math.ts": [["(?:^|\\n)[\\s>*+-]*$", "at most 20 characters before a tick"]],
  "core/protocol/conversation/message.ts": [["\\s+\\S*$", "at most 60 characters: MAX_TITLE"]],
  "labs/offline-model/replies.ts": [
    ["(?<=[.!?]) (?=\\S)|; ", "at most 2,000 characters: MAX_ERROR"],
    ['"[^"]*"|', "at most 2,000 characters: MAX_ERROR"],
  ],
  "labs/offline-model/tasks.ts": [["[.!?]+$", "at most 1,000 characters: MAX_REQUEST"]],
  "packs/files/folder/ignore-rules.ts": [["(?<!\\\\)[ \\t]+$", "at most 1,000 characters: LONGEST_LINE"]],
}

/** Created from constants when the file is loaded, and checked like literals. */
const CHECKED = "checked when it is loaded"

/** Files that create patterns when they run, and what the patterns are matched against. */
const CREATED: Readonly<Record<string, string>> = {
  "core/shared/processes/child.ts": "never from outside: what the kernel says of a process",
  "core/models/providers/errors/error-phrases.ts": CHECKED,
  "core/models/providers/errors/scrub-secrets.ts":
    "one loop behind fixed letters, which ends nowhere but where it matches",
  "core/shared/text/hidden-characters.ts": CHECKED,
  "core/shared/text/show-hidden.ts": CHECKED,
  "core/protocol/schema.ts": "one loop from the beginning to the end of an id",
  "packs/files/sandbox/command-limits.ts": "never from outside: what the kernel says of a process",
  "packs/research/read-markdown.ts": "at most 10,000 characters, and one loop to the end of a line",
  ...Object.fromEntries(
    ["analyst", "changes", "model", "phrase", "replies", "tasks"].map((name) => [
      `labs/offline-model/${name}.ts`,
      "at most a thousand characters: MAX_REQUEST of the offline model",
    ]),
  ),
  "apps/web/markdown/citations.ts": "plain words, without a loop",
}

const root = join(import.meta.dirname, "..", "..")
const files = PROGRAM_FOLDERS.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name))
    .map((name) => `${folder}/${name}`),
)
const found = files.map((file) => ({ file, ...patternsIn(file, readFileSync(join(root, file), "utf8")) }))
const written = found.flatMap(({ file, literals }) => literals.map((literal) => ({ file, ...literal })))
const superlinear = (source: string, flags: string): boolean => analyse({ source, flags }).reports.length > 0

/** The regular expressions of a file, and whether it creates others when it runs. */
function patternsIn(file: string, text: string) {
  const { program, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`)
  const literals: { readonly source: string; readonly flags: string }[] = []
  let createsOthers = false
  const visitCallee = (callee: object) => (createsOthers ||= "name" in callee && callee.name === "RegExp")
  new Visitor({
    Literal: (node) => void ("regex" in node && literals.push({ source: node.regex.pattern, flags: node.regex.flags })),
    NewExpression: ({ callee }) => void visitCallee(callee),
    CallExpression: ({ callee }) => void visitCallee(callee),
  }).visit(program)
  return { literals, createsOthers }
}

test("every regular expression takes time that grows linearly with the text, or has an exception with a reason", () => {
  const faults = written.filter(
    ({ file, source, flags }) =>
      !EXCEPTIONS[file]?.some(([beginning]) => source.startsWith(beginning)) && superlinear(source, flags),
  )
  expect(faults).toEqual([])
  expect(written.length).toBeGreaterThan(400)
})

test.each(Object.entries(EXCEPTIONS).flatMap(([file, all]) => all.map(([beginning]) => [file, beginning] as const)))(
  "the exception in %s for %s is still needed",
  (file, beginning) => {
    const literal = written.find((each) => each.file === file && each.source.startsWith(beginning))
    expect(literal && superlinear(literal.source, literal.flags)).toBe(true)
  },
)

test("each file that creates a pattern when it runs states what it is matched against", () => {
  const creating = found.filter(({ createsOthers }) => createsOthers).map(({ file }) => file)
  expect(creating.toSorted()).toEqual(Object.keys(CREATED).toSorted())
})

test("patterns that are created from constants are checked as well", async () => {
  const patterns: RegExp[] = []
  const { RegExp: original } = globalThis
  const create = (...args: Parameters<RegExpConstructor>) => {
    const pattern = new original(...args)
    patterns.push(pattern)
    return pattern
  }
  const constant = Object.keys(CREATED).filter((file) => CREATED[file] === CHECKED)
  vi.resetModules()
  globalThis.RegExp = new Proxy(original, { construct: (_, args: Parameters<RegExpConstructor>) => create(...args) })
  try {
    for (const file of constant) await import(/* @vite-ignore */ `../../${file}`)
  } finally {
    globalThis.RegExp = original
  }
  expect(patterns.length).toBeGreaterThan(constant.length)
  expect(patterns.filter(({ source, flags }) => superlinear(source, flags))).toEqual([])
})

test.each([
  ["nested loops", /^(?:a+)+$/, true],
  ["adjacent loops over the same letters", /^a*a*$/, true],
  ["an end that is searched from every position", /[ \t]+$/m, true],
  ["a start without an end", /\[[^\]]*\]/, true],
  ["one loop", /^a*b*\.c*$/, false],
  ["an end that is searched once", /(?<!\s)\s+$/, false],
  ["a bounded loop", /\[[^\]\n]{0,500}\]/, false],
])("the check reports its cases: %s", (_, { source, flags }, isReported) => {
  expect(superlinear(source, flags)).toBe(isReported)
})

test("the check finds literals in the syntax tree, not in comments and strings", () => {
  const code = 'const a = /x[/]y/g // /no/\nconst b = "/no/" + 1 / 2 / 3\nconst c = new RegExp(b)\n'
  expect(patternsIn("core/x.ts", code)).toEqual({ literals: [{ source: "x[/]y", flags: "g" }], createsOthers: true })
})
