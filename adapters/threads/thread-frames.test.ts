import { expect, test } from "vitest"
import type { UnknownFrame } from "../../core/protocol/index.ts"
import { ThreadFrames } from "./thread-frames.ts"

const frame = (type: string, data: unknown): UnknownFrame => ({ id: "1", type, data })
const message = (role: string, content: string) => frame("message", { message: { role, content } })
const told = (frames: readonly UnknownFrame[]) => {
  const translating = new ThreadFrames()
  return frames.flatMap((each) => translating.translate(each))
}

test("the chunks of several replies add up to the full response", () => {
  const all = told([
    frame("run_started", {}),
    message("user", "How many?"),
    frame("text_delta", { text: "Let me " }),
    frame("text_delta", { text: "look." }),
    message("assistant", "Let me look."),
    frame("tool_end", { text: "5", status: "ok" }),
    message("assistant", ""),
    frame("tool_end", { text: "6", status: "error" }),
    frame("text_delta", { text: "Five." }),
    message("assistant", "Five."),
    frame("run_ended", {}),
    frame("usage", {}),
    frame("done", { status: "completed" }),
    frame("something_new", {}),
  ])
  expect(all).toEqual([
    { type: "chunk", content: "Let me " },
    { type: "chunk", content: "look." },
    { type: "tool_result", content: "5" },
    { type: "tool_result", content: "6" },
    { type: "chunk", content: "\n\nFive." },
    { type: "end", full_response: "Let me look.\n\nFive." },
  ])
})

test("a restarted reply is correct at the end", () => {
  const all = told([
    frame("text_delta", { text: "Fif" }),
    frame("restarted", { because: "provider" }),
    frame("text_delta", { text: "Five." }),
    message("assistant", "Five."),
    frame("done", { status: "completed" }),
  ])
  expect(all.at(-1)).toEqual({ type: "end", full_response: "Five." })
})

test("a model that called tools instead of answering leaves a reason, not an empty response", () => {
  const calls = { message: { role: "assistant", content: "", finish: "calls" } }
  const all = told([frame("message", calls), frame("done", { status: "completed" })])
  expect(all.at(-1)).toEqual({ type: "end", full_response: expect.stringMatching(/limit of rounds/) })
})

test("a chart's spec is text, and the names around it are in snake_case; names inside the spec are unchanged", () => {
  const spec = { mark: "bar", data: { values: [{ someName: 1 }] } }
  const data = { kind: "chart", type: "vega_lite_spec", spec, sql: "SELECT 1", resultId: "res_1", resultHash: "h" }
  expect(told([frame("tool_end", { text: "A chart.", data })])).toEqual([
    {
      type: "tool_result",
      content: {
        ...{ type: "vega_lite_spec", sql: "SELECT 1", result_id: "res_1", result_hash: "h" },
        spec: JSON.stringify(spec),
      },
    },
  ])
})

test("a table has its rows, a failed run its reason, a pending write its effect", () => {
  const table = { kind: "table", resultId: "res_1", columns: [{ name: "n", type: null }], rows: [[1]], rowCount: 1 }
  expect(told([frame("tool_end", { text: "1", data: table })])[0]).toMatchObject({
    content: { type: "table", result_id: "res_1", columns: [{ name: "n" }], rows: [[1]], row_count: 1 },
  })
  expect(told([frame("error", { code: "provider_error", message: "It broke." })])).toEqual([
    { type: "error", error: "It broke." },
  ])
  const waiting = told([
    frame("awaiting_confirmation", { proposals: [{ summary: "Delete 2 rows" }] }),
    frame("done", { status: "paused" }),
  ])
  expect(waiting.at(-1)).toEqual({ type: "end", full_response: "Waiting for your decision: Delete 2 rows" })
})
