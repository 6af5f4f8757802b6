import { describe, expect, test } from "vitest"
import type { CallResult, HistoryMessage } from "../../core/index.ts"
import { CallStatus } from "../../core/protocol/conversation/message.ts"
import { greeting, notUnderstood, type OfferedTool, retold, topicOf } from "../../labs/offline-model/replies.ts"

const table: OfferedTool[] = [
  { name: "ask_database", examples: ["revenue by month"] },
  { name: "ask_analyst", examples: ["chart revenue"] },
]

const result = (name: string, status: CallResult["status"], text: string): CallResult => ({
  callId: "call_1" as CallResult["callId"],
  name,
  status,
  text,
})
const told = (...results: CallResult[]) => retold({ role: "tool", results }, "x")

describe("small talk", () => {
  test.each([
    ["hello", "hello"],
    ["Hello!", "hello"],
    ["  Hi there … ", "hello"],
    ["Good morning", "hello"],
    ["help", "help"],
    ["Help!", "help"],
    ["?", "help"],
    ["What can you do?", "help"],
    ["hello, what can you do?", "help"],
    ["what can I ask here?", "help"],
    ["who are you?", "help"],
    ["thanks", "thanks"],
    ["Thank you very much!", "thanks"],
    ["ok, thanks.", "thanks"],
  ])("%j is %s", (text, kind) => expect(topicOf(text)).toBe(kind))

  test.each([
    "",
    "hello world in README.md",
    "help me delete task Thanks",
    "what can you do about lift at high angles?",
    "thanks, now list my tasks",
    "x".repeat(5000),
  ])("%.40j is a request", (text) => expect(topicOf(text)).toBeUndefined())
})

describe("suggestions", () => {
  const asked: HistoryMessage[] = [{ role: "tool", results: [result("ask_database", "ok", "3 rows")] }]
  const failed: HistoryMessage[] = [{ role: "tool", results: [result("ask_database", "error", "no")] }]

  test("requests about a previous answer are offered only if there is one", () => {
    type Args = [Parameters<typeof notUnderstood>[0], Parameters<typeof notUnderstood>[1]]
    for (const say of [(...has: Args) => notUnderstood(...has, "x"), (...has: Args) => greeting("help", ...has)]) {
      expect(say(table, [])).not.toContain("draw a chart of it")
      expect(say(table, failed)).not.toContain("draw a chart of it")
      expect(say(table, asked)).toContain("- `draw a chart of it`")
      expect(say(table, [])).toContain("- `revenue by month`\n- `chart revenue`")
    }
    expect(greeting("hello", table, asked)).not.toContain("draw a chart of it")
  })

  test("a greeting gets a greeting, and not the reply that it was not understood", () => {
    for (const talk of ["hello", "help"] as const) {
      expect(greeting(talk, table, [])).not.toContain("understand that")
      expect(greeting(talk, table, [])).toContain("offline model")
    }
    expect(greeting("hello", table, [])).toMatch(/^Hello!/)
    expect(notUnderstood(table, [], "x")).toMatch(/^I did not understand that\./)
  })
})

test("a request that was not understood is answered with the requests that share most words with it", () => {
  const items = (text: string) =>
    [...notUnderstood(table, [], text).matchAll(/^- `(.+)`$/gm)].map(([, request]) => request)
  expect(items("please compute revenue by quarter")).toEqual(["revenue by month", "chart revenue"])
  expect(items("chart the sales")).toEqual(["chart revenue"])
  expect(items("sing")).toEqual(["revenue by month", "chart revenue"])
})

test("requests about rows that may be missing are not offered as buttons", () => {
  const changing = { name: "update_task", examples: ["mark Buy milk as done"] }
  const said = greeting("help", [...table, changing], [])
  expect(said).toContain("If you have such entries, also: “mark Buy milk as done”.")
  expect(said).not.toContain("`mark Buy milk as done`")
})

describe("the outcome of a call", () => {
  const FOR_A_MODEL = "The person rejected this. Do not try it again unasked."

  test("is reported to a person in plain words, whatever text the model received", () => {
    for (const status of CallStatus.options.filter((each) => each !== "ok" && each !== "error")) {
      const words = told(result("create_task", status, FOR_A_MODEL))
      expect(words).not.toMatch(/The person|unasked|create_task|_/)
      expect(words.length).toBeGreaterThan(20)
    }
    expect(told(result("create_task", "rejected", "The person rejected this: too soon"))).toContain("All right")
  })

  test("is reported once if several ended alike; answers are all reported", () => {
    const no = result("create_task", "rejected", FOR_A_MODEL)
    const yes = result("list_tasks", "ok", "Found 1 task(s).")
    expect(told(no, yes, no, yes).split("\n\n")).toEqual([told(no), "Found 1 task(s).", "Found 1 task(s)."])
  })
})

test.each([
  [
    "edit_file",
    'edit_file failed: src/my_file.ts does not hold that text, exactly as given; read_file {"path":"src/my_file.ts"} shows what it holds',
    "src/my_file.ts does not hold that text, exactly as given. I have changed nothing.",
  ],
  [
    "edit_file",
    "edit_file failed: src/my_file.ts is not UTF-8, so it cannot be edited as text",
    "src/my_file.ts is not UTF-8, so it cannot be edited as text. I have changed nothing.",
  ],
  [
    "get_note",
    'Note not found: "list_notes shows". list_notes shows those there are.',
    'Note not found: "list_notes shows".',
  ],
  ["list_tasks", 'There is no project "Moon".', 'There is no project "Moon".'],
  [
    "create_task",
    "The arguments of create_task do not fit: title: Too long. Mend them and call again.",
    "Too long. I have changed nothing.",
  ],
])("an error of %s is repeated without advice for a model", (tool, text, said) => {
  expect(told(result(tool, "error", text))).toBe(said)
})
