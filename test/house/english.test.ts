import { describe, expect, test } from "vitest"
import {
  findInCode,
  findInComments,
  findInNames,
  findInPage,
  findInStrings,
  isSubject,
  readEnglish,
  readExceptions,
  readSubjects,
  type Finding,
} from "../../scripts/english.ts"

describe("the words that our writing guide rules out", () => {
  const exceptions = readExceptions()
  const report = readEnglish(exceptions)

  test.each(Object.entries(report.found))("do not occur in %s", (_area, findings) => {
    expect(findings.map(({ file, line, word, text }) => `${file}:${line} (${word}) ${text}`)).toEqual([])
  })

  test("have exceptions only where a line needs one, each with a reason", () => {
    expect(report.unused).toEqual([])
    expect(exceptions.filter(({ because }) => because.trim() === "")).toEqual([])
  })
})

describe("the check of words", () => {
  const words = (findings: readonly Finding[]) => findings.map(({ line, word }) => `${line} ${word}`)

  test("reads the prose of a page, not its code", () => {
    const page = "Whoever asks is told.\n\n```ts\nconst told = 1\n```\n\n- `beside` goes\n  on as begun.\n"
    expect(words(findInPage("page.md", page))).toEqual(["1 whoever", "1 told", "8 begun"])
  })

  test("finds whole words only", () => {
    expect(findInPage("page.md", "A toldness, a besides, an untold unheard story, gone on.")).toEqual([])
  })

  test("reads strings and text for people, not identifiers, SQL or types", () => {
    const source = [
      `import told from "./told beside.ts"`,
      `const kind: "told beside" = "told"`,
      `const rows = sql\`select told from beside\``,
      `throw new Error(\`Nobody was \${told} about \${kind}: it goes on.\`)`,
      `export const view = <p title="Told">It is heard\n  elsewhere.</p>`,
    ].join("\n")
    expect(words(findInStrings("view.tsx", source))).toEqual([
      "4 nobody",
      "4 goes on",
      "5 told",
      "5 heard",
      "6 elsewhere",
    ])
  })

  test("reads doc comments, not others and not code", () => {
    const source = "// told\n/* told */\n/**\n * Is told `anew`,\n * beside.\n */\nexport const told = 1\n"
    expect(words(findInComments("told.ts", source))).toEqual(["4 told", "5 beside"])
  })

  test("reads all comments of code, titles of tests and exported names", () => {
    const source = [
      "// told, not `told`",
      "/* What is kept",
      "   beside. */",
      `test.each([1])("nobody is asked", () => told)`,
      "test(`it goes on ${told}`, () => {})",
      "export const keptTold = 1, fine = 2",
      "export function askedAt() {}",
      "export { fine as late_one, keptTold as keep }",
      `const told = "told"`,
    ].join("\n")
    expect(words(findInCode("told.test.ts", source))).toEqual([
      ...["2 what", "6 kept", "7 asked", "8 late"],
      ...["1 told", "3 beside", "4 nobody", "5 goes on"],
    ])
  })

  test("reads the parts of each printed name once, not values", () => {
    const page = 'type Told = "kept"\nconst askedAt: Told\nconst latest: Placed<askedAt>\nconst not_begun: 1\n'
    expect(words(findInNames("surface.md", page))).toEqual(["1 told", "2 asked", "4 begun"])
  })
})

test("commits state what changed: type(area), and at most 72 characters", () => {
  expect(readSubjects().filter((subject) => !isSubject(subject))).toEqual([])
})

test.each<[subject: string, passes: boolean]>([
  ["fix(stream): spread large fan-outs over event-loop turns", true],
  ["feat(api)!: rename brings to taint", true],
  ["Stream: spread large fan-outs", false],
  ["fix: spread large fan-outs", false],
  ["change(stream): spread large fan-outs", false],
  [`fix(stream): ${"a".repeat(60)}`, false],
])("the subject %j passes: %j", (subject, passes) => {
  expect(isSubject(subject)).toBe(passes)
})
