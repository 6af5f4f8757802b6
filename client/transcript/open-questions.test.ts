import { expect, test } from "vitest"
import { reduce } from "../reduce.ts"
import { openQuestions, toContent } from "./open-questions.ts"
import { calling } from "./calling.fixture.ts"
import { emptyTranscript } from "./transcript.ts"

const at = "2026-01-01T00:00:00.000Z"
const call = { id: "call_1", name: "inn__book", input: {} }
const message = calling(call, at)
const question = {
  ...{ id: "ques_1", callId: "call_1", server: "inn", tool: "book", message: "For how many?", expiresAt: 1000 },
  fields: [{ name: "people", label: "People", kind: "integer", isRequired: true }],
}
const asked = [
  { id: "1", type: "run_started", data: { runId: "run_1", maxIterations: 5, at } },
  { id: "2", type: "message", data: { message, at } },
  { id: "3", type: "tool_start", data: { callId: call.id, name: call.name, input: {}, at } },
  { id: "4", type: "step", data: { step: "question", detail: question, at } },
]
const open = (now: number, ...more: readonly { id: string; type: string; data: object }[]) =>
  openQuestions([...asked, ...more].reduce(reduce, emptyTranscript), now).map(({ id }) => id)

test("a question is open until its time is up", () => {
  expect([open(999), open(1000)]).toEqual([["ques_1"], []])
})

test.each([
  [
    "is answered",
    { type: "step", data: { step: "question_settled", detail: { questionId: "ques_1", outcome: "decline" }, at } },
  ],
  ["dies with its process", { type: "restarted", data: { because: "crash", at } }],
  [
    "ends with its call",
    {
      type: "tool_end",
      data: { callId: "call_1", name: call.name, status: "cancelled", text: "", ms: 1, messageId: "msg_2", seq: 3, at },
    },
  ],
  ["is in doubt with its call", { type: "in_doubt", data: { callId: "call_1", because: "It stopped.", at } }],
])("one that %s is no longer open", (_, frame) => {
  expect(open(0, { id: "5", ...frame })).toEqual([])
})

test("input is read as the field's type, and blank input is omitted", () => {
  const field = (name: string, kind: "text" | "integer" | "boolean" | "choices") => ({
    name,
    kind,
    label: name,
    isRequired: false,
  })
  const fields = [
    field("a", "text"),
    field("n", "integer"),
    field("b", "boolean"),
    field("c", "choices"),
    field("d", "text"),
  ]
  expect(toContent(fields, { a: " x ", n: "4", b: "No", c: "one, two", d: " " })).toEqual({
    ...{ a: "x", n: 4, b: false },
    c: ["one", "two"],
  })
  expect(toContent(fields, { n: "four" })).toEqual({ n: "four" })
})
