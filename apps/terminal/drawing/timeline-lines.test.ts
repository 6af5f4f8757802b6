import { expect, test } from "vitest"
import { toTimeline } from "../../../client/timeline/timeline.ts"
import { EVENT_VERSION } from "../../../core/protocol/events.ts"
import { widthOf } from "../wrap.ts"
import { sideBySide, timelineLines } from "./timeline-lines.ts"

test("a timeline fits its width and contains no control sequences", () => {
  const hostile = { role: "user", parts: [{ type: "text", text: `\u001b[2J${"漢字".repeat(200)}` }] }
  const told = [{ type: "run_started" }, { type: "message", ...hostile }, { type: "run_ended", status: "completed" }]
  const timeline = toTimeline(
    told.map((row, at) => ({ ...row, version: EVENT_VERSION, position: at + 2, at: at * 900 })),
  )
  expect(timelineLines(timeline, 100).join("\n")).toContain("⟨U+001B⟩[2J漢")
  for (const width of [40, 100]) {
    const lines = timelineLines(timeline, width)
    for (const line of [...lines, ...sideBySide(lines, lines.slice(1), width)]) {
      expect(widthOf(line)).toBeLessThanOrEqual(width)
      expect(line).not.toContain("\u001b")
    }
  }
})

test("a long entry is cut so that its usage and its outcome stay visible", () => {
  const usage = { inputTokens: 1000, outputTokens: 50, cachedTokens: 800, cost: 0.00048 }
  const parts = [{ type: "text", text: "word ".repeat(60) }]
  const proposals = [{ id: "prop_1", callId: "call_1", summary: `Create task "${"milk ".repeat(30)}"` }]
  const told = [
    { type: "run_started" },
    { type: "message", role: "assistant", model: "m", parts, usage },
    { type: "awaiting_confirmation", proposals },
    { type: "decision", proposalId: "prop_1", decision: "reject", by: "ada" },
  ]
  const rows = told.map((row, at) => ({ ...row, version: EVENT_VERSION, position: at + 2, at: at * 900 }))
  const lines = timelineLines(toTimeline(rows), 120)
  expect(lines.find((line) => line.includes("word"))).toMatch(
    /  m · word word .*… · 1,000 → 50 tokens, 800 cached, \$0\.00048$/,
  )
  expect(lines.find((line) => line.includes("Waiting"))).toMatch(
    /Waiting for approval: Create task "milk .*… · rejected$/,
  )
  for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(120)
  const narrow = timelineLines(toTimeline(rows), 80)
  const reply = narrow.findIndex((line) => line.includes("word"))
  expect(narrow[reply]).toMatch(/  m · word word .*…$/)
  expect(narrow[reply + 1]?.trim()).toBe("1,000 → 50 tokens, 800 cached, $0.00048")
  for (const line of narrow) expect(widthOf(line)).toBeLessThanOrEqual(80)
  // In half a window the totals take more lines.
  const sums = timelineLines(toTimeline(rows), 40).slice(0, 4)
  expect(sums.join(" · ")).toMatch(
    / in total · models .* · tools 0 ms · waiting 900 ms · 1 model call · 0 tool calls · 1,000 → /,
  )
})
