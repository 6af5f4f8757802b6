import { expect, test } from "vitest"
import { EvalFileFault, parseEvalFile } from "./read-eval-file.ts"

const faultsOf = (text: string): Promise<string> =>
  parseEvalFile(text, "x.yaml").then(
    () => "",
    (error: unknown) => {
      if (error instanceof EvalFileFault) return error.message
      throw error
    },
  )
const caseWith = (lines: string) => `cases:\n  - name: one\n    say: Hello\n${lines.replaceAll(/^/gm, "    ")}`

test("short forms are read as their long forms", async () => {
  const { cases, concurrency } = await parseEvalFile(
    caseWith("agent: files\nscript: [Hi]\nexpect: { answer: Hi, calls: [read_file], judge: is polite }"),
    "x.yaml",
  )
  expect(concurrency).toBe(4)
  expect(cases).toEqual([
    {
      name: "one",
      agent: ["files"],
      say: [{ text: "Hello" }],
      script: { replies: [{ says: "Hi" }] },
      expect: {
        answer: { contains: "Hi" },
        calls: { include: [{ tool: "read_file" }] },
        judge: [{ rubric: "is polite" }],
      },
    },
  ])
})

test("JSON is read too", async () => {
  const json = JSON.stringify({ cases: [{ name: "one", say: ["a", "b"], expect: { answer: "x" } }] })
  expect((await parseEvalFile(json, "x.json")).cases[0]?.say).toEqual([{ text: "a" }, { text: "b" }])
})

test.each<[what: string, text: string, fault: string]>([
  ["a field that is none", caseWith("expect: { anser: x }"), 'x.yaml:4:15: case "one", expect: unknown field "anser"'],
  ["a field that is missing", "cases:\n  - name: one\n    say: Hello\n", 'x.yaml:2:5: case "one", expect: '],
  ["a case without a name", "cases:\n  - say: Hello\n    expect: { answer: x }\n", "x.yaml:2:5: case 1, name: "],
  [
    "a name that is there twice",
    "cases:\n  - { name: a, say: x, expect: { answer: x } }\n  - { name: a, say: x, expect: { answer: x } }\n",
    'x.yaml:3:7: case "a", name: another case is called "a" too',
  ],
  [
    "a fault deep in what may be written in two ways",
    caseWith("expect:\n  calls:\n    - list_tasks\n    - { tool: get_task, argument: {} }"),
    'x.yaml:7:29: case "one", expect.calls[1]: unknown field "argument"',
  ],
  [
    "a value that fits no way at all",
    caseWith("expect: { answer: 12 }"),
    'x.yaml:4:15: case "one", expect.answer: must be a text, or an object of contains, matches, json and not',
  ],
  [
    "an empty list of calls",
    caseWith("expect: { calls: [] }"),
    'x.yaml:4:15: case "one", expect.calls: is empty: exactly: [] says that there are none',
  ],
  [
    "a pattern that is none",
    caseWith("expect: { answer: { matches: '(' } }"),
    'x.yaml:4:25: case "one", expect.answer.matches: is no regular expression: ',
  ],
  ["an expectation of nothing", caseWith("expect: {}"), 'x.yaml:4:5: case "one", expect: expects nothing'],
  ["broken YAML", "cases:\n  - name: [a\n", "x.yaml:3:1: "],
  ["no cases", "agent: files\n", "x.yaml:1:1: cases: "],
  ["a text", "hello\n", "x.yaml:1:1: "],
])("%s is refused with its place", async (_, text, fault) => {
  expect(await faultsOf(text)).toContain(fault)
})

test("every fault of a file is reported with its line", async () => {
  const faults = await faultsOf(caseWith("approve: perhaps\nexpect: { ends: dead }"))
  expect(faults.split("\n").map((line) => line.split(", ")[0])).toEqual([
    'x.yaml:4:5: case "one"',
    'x.yaml:5:15: case "one"',
  ])
})
