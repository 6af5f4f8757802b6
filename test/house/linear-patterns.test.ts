import { describe, expect, test, vi } from "vitest"
import { findPatterns, patternsIn } from "../patterns/find-patterns.ts"
import { superlinear } from "../patterns/superlinear.ts"

/**
 * Patterns whose time may grow faster than a text, and why it does no harm. By file, with how each begins. Everything else in
 * `src` and `web` takes time that grows with the text and no faster, so that no text from outside can stop a server or a page.
 */
const EXCEPTIONS: Readonly<Record<string, readonly [beginning: string, why: string][]>> = {
  "src/agent/cite/code.ts": [
    ["^[(\"'“‘«[*]*\\p{L}", "at most 2,000 characters: MAX_READ"],
    ["^(?:[–—…&-]|", "at most 2,000 characters: MAX_READ"],
    ["^\\P{L}*(?:\\p{Lo}|", "at most 2,000 characters: MAX_READ"],
  ],
  "src/agent/cite/titles.ts": [["(?:^|\\s)(?:>\\s*)*", "at most 160 characters: the end of a quote"]],
  "src/client/format-sql.ts": [["'(?:[^']|'')*'|", "at most 20,000 characters in one line: MAX_LENGTH"]],
  "src/client/protect-math.ts": [["(?:^|\\n)[\\s>*+-]*$", "at most 20 characters before a tick"]],
  "src/protocol/conversation/title.ts": [["\\s+\\S*$", "at most 60 characters: MAX_TITLE"]],
  "src/server/routes/pages/chart-frame.ts": [["<script>", "never from outside: a file of our own build"]],
  "src/server/request/read-input.ts": [
    [", (\\.\\.\\.)?", "at most a hundred characters: the engine's own message quotes no more"],
  ],
  "src/packs/analyst/postgres/json.ts": [['"(?:[^"\\\\]|', "only what JSON.parse has read: each quote has its end"]],
  "src/packs/analyst/postgres/sources.ts": [
    ["^(?:now|random", "at most 63 characters: PostgreSQL's names are no longer"],
  ],
  "src/packs/analyst/sqlite/bound-columns.ts": [["\\bexcluded", "at most 65,536 characters: MAX_SQL"]],
  "src/packs/files/folder/ignore-rules.ts": [["(?<!\\\\)[ \\t]+$", "at most 1,000 characters: LONGEST_LINE"]],
  "src/packs/research/read-atom.ts": [["arxiv\\.org", "at most 200 characters: MAX_ADDRESS"]],
}

/** Out of constants, as soon as the file is loaded: it is judged like those that are written out. */
const JUDGED = "judged when it is loaded"

/** Files that put patterns together when they run, and what they are looked for in. */
const MADE: Readonly<Record<string, string>> = {
  "src/children/child-size.ts": "never from outside: what the kernel says of a process",
  "src/models/providers/errors/error-phrases.ts": JUDGED,
  "src/models/offline/words.ts": JUDGED,
  "src/models/offline/model.ts": "at most a thousand characters: MAX_REQUEST of the offline model",
  "src/models/providers/errors/scrub-secrets.ts":
    "one loop behind fixed letters, which ends nowhere but where it matches",
  "src/protocol/text/hidden-characters.ts": JUDGED,
  "src/protocol/text/hidden-words.ts": JUDGED,
  "src/protocol/schema.ts": "one loop from the beginning to the end of an id",
  "src/packs/analyst/tools/ask-analyst.ts": "phrases of the offline model: MAX_REQUEST",
  "src/packs/analyst/tools/sample-questions.ts": "phrases of the offline model: MAX_REQUEST",
  "src/packs/files/sandbox/command-limits.ts": "never from outside: what the kernel says of a process",
  "src/packs/files/phrase.ts": "phrases of the offline model: MAX_REQUEST",
  "src/packs/research/read-markdown.ts": "at most 10,000 characters, and one loop to the end of a line",
  "src/packs/workspace/tables/phrase.ts": "phrases of the offline model: MAX_REQUEST",
  "web/markdown/citations.ts": "plain words, without a loop",
}

const { written, made } = findPatterns(["src", "web"])

test("no regular expression takes time that grows faster than the text, but for those with a reason", () => {
  const judged = new Map<string, string | undefined>()
  const faults = written.flatMap(({ at, file, source, flags }) => {
    if (EXCEPTIONS[file]?.some(([beginning]) => source.startsWith(beginning))) return []
    const key = `/${source}/${flags}`
    if (!judged.has(key)) judged.set(key, superlinear(source, flags))
    const fault = judged.get(key)
    return fault ? [`${at} ${key}: ${fault}`] : []
  })
  expect(faults).toEqual([])
  expect(written.length).toBeGreaterThan(400)
})

test.each(Object.entries(EXCEPTIONS).flatMap(([file, all]) => all.map(([beginning]) => [file, beginning] as const)))(
  "the exception in %s for %s is still needed",
  (file, beginning) => {
    const found = written.find((pattern) => pattern.file === file && pattern.source.startsWith(beginning))
    expect(found && superlinear(found.source, found.flags)).toBeDefined()
  },
)

test("whatever puts a pattern together says what it is looked for in", () => {
  expect(made.toSorted()).toEqual(Object.keys(MADE).toSorted())
})

test("what is put together out of constants is judged as well", async () => {
  const patterns: RegExp[] = []
  const { RegExp: original } = globalThis
  const keep = (...words: Parameters<RegExpConstructor>) => {
    const pattern = new original(...words)
    patterns.push(pattern)
    return pattern
  }
  const files = Object.keys(MADE).filter((file) => MADE[file] === JUDGED)
  vi.resetModules()
  globalThis.RegExp = new Proxy(original, { construct: (_, words: Parameters<RegExpConstructor>) => keep(...words) })
  try {
    for (const file of files) await import(/* @vite-ignore */ `../../${file}`)
  } finally {
    globalThis.RegExp = original
  }
  expect(patterns.length).toBeGreaterThan(files.length)
  expect(patterns.filter(({ source, flags }) => superlinear(source, flags))).toEqual([])
})

describe("the check", () => {
  test.each([
    ["two loops in each other", /^(?:a+)+$/],
    ["two loops beside each other", /^a*a*$/],
    ["the same letter in two ways", /^(?:a|a)*$/],
    ["sets that overlap", /^(?:\w|\d)*$/],
    ["an empty round", /(?:a*)*b/],
    ["an end that is looked for from every place", /\s+$/],
    ["the same with a line's end", /[ \t]+$/m],
    ["beginnings without an end", /\[[^\]]*\]/],
    ["beginnings at each line", /^\[[^\]\n]+\]:/m],
    ["a fence without an end", /```[a-z]*\s*\n([\s\S]*?)```/],
    ["letters of another case", /^[a-z]*[A-Z]*$/i],
    ["what is looked at ahead", /a(?=.*b)/],
    ["what is looked at behind", /(?<=a.*)b/],
    ["many rounds", /(?:x{2,}){2,}y/],
  ])("finds %s", (_, { source, flags }) => {
    expect(superlinear(source, flags)).toBeDefined()
  })

  test.each([
    ["one loop", /^a*$/],
    ["loops with something between them", /^a*b*\.c*$/],
    ["an end that is looked for once", /(?<!\s)\s+$/],
    ["what matches wherever it goes on", /foo.*/],
    ["what begins after an edge", /\bfoo\w*\./],
    ["texts in quotes", /"(?:[^"\\]|\\.)*"/y],
    ["a bound", /\[[^\]\n]{0,500}\]/],
    ["all that follows", /from here:[\s\S]*$/],
    ["lines", /^[^\n\r\u2028\u2029]*$/gm],
    ["nothing", /(?!)/],
  ])("lets %s be", (_, { source, flags }) => {
    expect(superlinear(source, flags)).toBeUndefined()
  })

  test("reads the code as a parser does", () => {
    const code = 'const a = /x[/]y/g // /no/\nconst b = "/no/" + 1 / 2 / 3\nconst c = new RegExp(b)\n'
    const found = patternsIn("src/x.ts", code)
    expect(found.written).toMatchObject([{ at: "src/x.ts:1", source: "x[/]y", flags: "g" }])
    expect(found.made).toEqual(["src/x.ts"])
  })
})
