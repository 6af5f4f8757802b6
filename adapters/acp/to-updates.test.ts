import { expect, test } from "vitest"
import type { Frame } from "../../core/protocol/frames.ts"
import type { CallId, FileId } from "../../core/protocol/ids.ts"
import { ToUpdates } from "./to-updates.ts"

const callId = "call_1" as CallId
const frame = (type: string, data: object): Frame => ({ id: "4", type, data: { callId, ...data } }) as unknown as Frame

test("an editor receives a call's progress and its result files", () => {
  const updates = new ToUpdates({ root: "/", notices: false })
  expect(updates.of(frame("tool_progress", { text: "Half of it", done: 1, total: 2 }))).toMatchObject([
    { toolCallId: callId, status: "in_progress", content: [{ content: { text: "Half of it · 50 %" } }] },
  ])
  expect(updates.of(frame("tool_progress", { text: "" }))).toEqual([])
  const files = [{ id: "file_1" as FileId, name: "a.png", type: "image/png", size: 12 }]
  const end = { name: "draw", status: "ok", text: "Here.", ms: 1, data: { kind: "files", files } }
  expect(updates.of(frame("tool_end", end))).toMatchObject([
    {
      status: "completed",
      content: [{ content: { text: "Here." } }, { content: { type: "resource_link", uri: "pawl:file_1", size: 12 } }],
    },
  ])
})
