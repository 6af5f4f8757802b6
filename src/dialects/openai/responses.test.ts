import type { OutputItem } from "../../protocol/openai-responses.ts"
import { expect, test } from "vitest"
import type { UnknownFrame } from "../../protocol/frames.ts"
import { newId } from "../../protocol/ids.ts"
import { ResponseAnswer } from "./responses.ts"

const frame = (type: string, data: unknown): UnknownFrame => ({ id: "1", type, data })
const reply = (content: string, more: object = {}) =>
  frame("message", { message: { role: "assistant", content, ...more } })
const text = (value: string) => frame("text_delta", { text: value })
const done = (status: string) => frame("done", { status })
const began = frame("run_started", { runId: "run_1" })

function told(frames: readonly UnknownFrame[]) {
  const request = { model: "pawl/test", input: "How many?" }
  const answer = new ResponseAnswer({ model: "pawl/test", conversation: newId("conv", null), created: 1 }, request)
  const texts = frames.flatMap((each) => answer.translate(each))
  const events = texts.map((each) => JSON.parse(each.slice(each.indexOf("data: ") + 6)))
  expect(texts.map((each) => each.split("\n")[0])).toEqual(events.map(({ type }) => `event: ${type}`))
  return { answer, events, types: events.map(({ type }) => type.replace("response.", "")), whole: answer.toResponse() }
}

const textOf = (item: OutputItem) => (item.type === "message" ? item.content[0]?.text : item.name)

test("every item that is opened is closed, in order and numbered through", () => {
  const { events, types, whole } = told([
    ...[began, text("Let me "), text("look."), reply("Let me look.")],
    ...[frame("tool_end", { text: "5" }), text("Five."), reply("Five."), done("completed")],
  ])
  const item = ["output_item.added", "content_part.added", "output_text.delta"]
  const end = ["output_text.done", "content_part.done", "output_item.done"]
  expect(types).toEqual([
    ...["created", "in_progress", ...item, "output_text.delta", ...end, ...item, ...end, "completed"],
  ])
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at))
  expect(whole.output.map((item) => [item.id, textOf(item)])).toEqual([
    ["msg_1_0", "Let me look."],
    ["msg_1_1", "Five."],
  ])
  expect(events.at(-1).response).toEqual(whole)
})

test("a reply that had to begin again is closed as incomplete, and only the next one is in the whole", () => {
  const { events, whole } = told([
    ...[began, text("Fif"), frame("restarted", {}), text("Five."), reply("Five."), done("completed")],
  ])
  const closed = events.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item.status)
  expect(closed).toEqual(["incomplete", "completed"])
  expect(whole.output.map(textOf)).toEqual(["Five."])
})

test("a reply that was cut by its limit is an incomplete response, and a failure says what it was", () => {
  const limited = told([began, text("Fi"), reply("Fi", { finish: "limit" }), done("completed")])
  expect(limited.types.at(-1)).toBe("incomplete")
  expect(limited.whole).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } })
  const failed = told([began, text("Fi"), frame("error", { code: "provider_error", message: "It broke." })])
  expect(failed.types.slice(-2)).toEqual(["output_item.done", "failed"])
  expect(failed.whole).toMatchObject({ status: "failed", error: { code: "provider_error" }, output: [] })
})

test("a reply that came without bits is told all the same", () => {
  const { types, whole } = told([began, reply("Five."), done("completed")])
  expect(types).toContain("output_text.delta")
  expect(whole.output).toHaveLength(1)
})
