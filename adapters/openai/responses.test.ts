import type { OutputItem } from "../../core/adapter.ts"
import { newId, type UnknownFrame } from "../../core/protocol/index.ts"
import { expect, test } from "vitest"
import { ResponseAnswer } from "./responses.ts"

const frame = (type: string, data: unknown): UnknownFrame => ({ id: "1", type, data })
const reply = (content: string, more: object = {}) =>
  frame("message", { message: { role: "assistant", content, ...more } })
const text = (value: string) => frame("text_delta", { text: value })
const done = (status: string) => frame("done", { status })
const began = frame("run_started", { runId: "run_1" })

const conversation = newId("conv", null)

function told(frames: readonly UnknownFrame[], after?: number) {
  const resumed = after === undefined ? {} : { after }
  const answer = new ResponseAnswer({ model: "pawl/test", conversation, created: 1 }, {}, resumed)
  const texts = frames.flatMap((each) => answer.translate(each))
  const events = texts.map((each) => JSON.parse(each.slice(each.indexOf("data: ") + 6)))
  expect(texts.map((each) => each.split("\n")[0])).toEqual(events.map(({ type }) => `event: ${type}`))
  return { answer, events, types: events.map(({ type }) => type.replace("response.", "")), whole: answer.toResponse() }
}

const textOf = (item: OutputItem) => (item.type === "message" ? item.content[0]?.text : item.name)

test("every opened item is closed, in order, and numbered after the previous ones", () => {
  const { events, types, whole } = told([
    ...[began, text("Let me "), text("look."), reply("Let me look.")],
    ...[frame("tool_end", { text: "5" }), text("Five."), reply("Five."), done("completed")],
  ])
  const item = ["output_item.added", "content_part.added", "output_text.delta"]
  const end = ["output_text.done", "content_part.done", "output_item.done"]
  expect(types).toEqual([
    ...["created", "in_progress", ...item, "output_text.delta", ...end, ...item, ...end, "completed"],
  ])
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual([
    ...[0, 1, 2, 3, 10, 15, 16, 17, 18, 19, 20, 25, 26, 27, 28, 29],
  ])
  expect(whole.output.map((item) => [item.id, textOf(item)])).toEqual([
    ["msg_1_0", "Let me look."],
    ["msg_1_1", "Five."],
  ])
  expect(events.at(-1).response).toEqual(whole)
})

test("a restarted reply is closed as incomplete, and only the next one is in the full response", () => {
  const { events, whole } = told([
    ...[began, text("Fif"), frame("restarted", {}), text("Five."), reply("Five."), done("completed")],
  ])
  const closed = events.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item.status)
  expect(closed).toEqual(["incomplete", "completed"])
  expect(whole.output.map(textOf)).toEqual(["Five."])
})

test("a reply cut by its limit is an incomplete response, and a failure states its reason", () => {
  const limited = told([began, text("Fi"), reply("Fi", { finish: "limit" }), done("completed")])
  expect(limited.types.at(-1)).toBe("incomplete")
  expect(limited.whole).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } })
  const failed = told([began, text("Fi"), frame("error", { code: "provider_error", message: "It broke." })])
  expect(failed.types.slice(-2)).toEqual(["output_item.done", "failed"])
  expect(failed.whole).toMatchObject({ status: "failed", error: { code: "provider_error" }, output: [] })
})

test("a reply without deltas is sent as a whole", () => {
  const { types, whole } = told([began, reply("Five."), done("completed")])
  expect(types).toContain("output_text.delta")
  expect(whole.output).toHaveLength(1)
})

test.each([
  ["completed", done("completed")],
  ["failed, with text that nobody has kept", frame("error", { code: "provider_error", message: "It broke." })],
])("replay from any event gives the same events, also with other deltas: %s", (_what, end) => {
  const again = frame("restarted", {})
  const calls = [frame("handed_over", { callId: "call_1", name: "client-look", input: {} }), done("paused")]
  const broken = end.type === "error" ? [text("An"), text("d ")] : []
  const last = end.type === "error" ? [end] : calls
  const live = told([
    ...[began, text("Let 🌍"), text(" me look."), reply("Let 🌍 me look."), text("Fif"), text("ty"), again, again],
    ...[text("Five"), text("."), reply("Five."), ...broken, ...last],
  ])
  const kept = [began, text("Let 🌍 me look."), reply("Let 🌍 me look."), again, again, text("Five."), reply("Five.")]
  const whole = told([...kept, ...last])
  expect(whole.whole).toEqual(live.whole)
  const numbers = live.events.map(({ sequence_number }) => sequence_number as number)
  expect(numbers.toSorted((a, b) => a - b)).toEqual(numbers)
  for (const [at, number] of numbers.entries()) {
    const both = [...live.events.slice(0, at + 1), ...told([...kept, ...last], number).events]
    expect(textsOf(both)).toEqual(textsOf(live.events))
    expect(both.at(-1)).toEqual(live.events.at(-1))
  }
})

/** The texts and positions of completed items, as a client assembles them. */
function textsOf(
  events: { type: string; item_id?: string; delta?: string; output_index?: number; item?: OutputItem }[],
) {
  const texts = new Map<string, string>()
  for (const { type, item_id = "", delta = "" } of events)
    if (type.endsWith(".delta")) texts.set(item_id, (texts.get(item_id) ?? "") + delta)
  const closed = events.filter(({ type, item }) => type === "response.output_item.done" && item?.status === "completed")
  return closed.map(({ output_index, item }) => [output_index, item?.id, texts.get(item?.id ?? "")])
}
