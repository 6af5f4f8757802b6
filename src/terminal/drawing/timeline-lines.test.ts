import { expect, test } from "vitest"
import { toTimeline } from "../../client/timeline/timeline.ts"
import { EVENT_VERSION } from "../../protocol/event-version.ts"
import { widthOf } from "../text-width.ts"
import { sideBySide, timelineLines } from "./timeline-lines.ts"

test("a timeline is drawn within its width, and nothing in it is an order to the terminal", () => {
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
