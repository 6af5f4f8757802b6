import { expect, test } from "vitest"
import { newId, type UnknownFrame } from "../../core/protocol/index.ts"
import { ChatAnswer } from "./chat.ts"

const frame = (type: string, data: unknown): UnknownFrame => ({ id: "1", type, data })
const reply = (content: string, more: object = {}) =>
  frame("message", { message: { role: "assistant", content, ...more } })
const text = (value: string) => frame("text_delta", { text: value })
const done = (status: string) => frame("done", { status })

function told(frames: readonly UnknownFrame[]) {
  const answer = new ChatAnswer({ model: "pawl/test", conversation: newId("conv", null), created: 1 })
  const lines = frames.flatMap((each) => answer.translate(each))
  const chunks = lines.filter((line) => line.startsWith("data: {")).map((line) => JSON.parse(line.slice(6)))
  const content = chunks.map(({ choices }) => choices?.[0]?.delta.content ?? "").join("")
  return { answer, lines, chunks, content, whole: answer.toCompletion() }
}

test("a restarted reply is correct in the full response and separated in the chunks", () => {
  const { content, whole } = told([
    text("Fif"),
    frame("restarted", { because: "provider" }),
    text("Five."),
    reply("Five."),
    done("completed"),
  ])
  expect(whole.choices[0]?.message.content).toBe("Five.")
  expect(content).toBe("Fif\n\nFive.")
})

test.each([
  ["limit", "length"],
  ["refused", "content_filter"],
  ["stop", "stop"],
  ["unknown", "stop"],
])("a reply that ended with %s finishes with %s", (finish, reason) => {
  const { chunks, whole } = told([text("Five"), reply("Five", { finish }), done("completed")])
  expect([chunks.at(-1).choices[0].finish_reason, whole.choices[0]?.finish_reason]).toEqual([reason, reason])
})

test("only a reply that ended normally reports a normal finish", () => {
  expect(told([reply("Five."), done("completed")]).lines.at(-1)).toBe("data: [DONE]\n\n")
  for (const last of [done("cancelled"), frame("error", { code: "provider_error", message: "It broke." })]) {
    const { answer, lines, chunks } = told([text("Fi"), last])
    expect([answer.isOver, lines.some((line) => line.includes("[DONE]"))]).toEqual([true, false])
    expect(chunks.at(-1).error.code).toBe(answer.failed?.code)
  }
  expect(told([text("Fi")]).answer.isOver).toBe(false)
})

test("a failure code of a newer server is passed through", () => {
  const { chunks } = told([frame("error", { code: "constructor", message: "Odd." })])
  expect(chunks[0].error).toEqual({ message: "Odd.", type: "server_error", param: null, code: "constructor" })
})

test("usage that was not counted is not reported as zero", () => {
  expect(told([reply("Five."), done("completed")]).whole.usage).toBeUndefined()
  const usage = frame("usage", { inputTokens: 3, outputTokens: null })
  expect(told([reply("Five."), usage, done("completed")]).whole.usage).toMatchObject({ total_tokens: 3 })
})

test("a pause over a doubtful write is reported, also without a decision to make by name", () => {
  const { content, whole } = told([text("Well."), reply("Well."), done("paused")])
  expect(content).toMatch(/^Well\.\n\nWaiting for you: it is not known whether/)
  expect([whole.choices[0]?.message.content, whole.pawl.status]).toEqual([content, "paused"])
})
