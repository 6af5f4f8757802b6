import { expect, test } from "vitest"
import type { ConversationDetail } from "../../protocol/answers.ts"
import { fromDetail } from "./from-detail.ts"

const at = "2026-01-01T00:00:00.000Z"

test("a proposal stands behind the calls of its reply, before what happened after it", () => {
  const reply = {
    id: "msg_1",
    seq: 1,
    role: "assistant",
    content: "",
    toolCalls: ["call_1", "call_2"].map((id) => ({ id, name: "pay", input: {} })),
    toolCallId: null,
    createdAt: at,
  }
  const proposals = ["1", "2"].map((id) => ({
    id: `prop_${id}`,
    callId: `call_${id}`,
    status: "pending",
    arguments: {},
  }))
  const notices = [{ position: 7, after: 1, notice: "run_stopped", detail: null, at }]
  const detail = { position: 8, messages: [reply], proposals, notices, steps: [], status: "running" }
  const { items } = fromDetail(detail as unknown as ConversationDetail)
  expect(items.map(({ key }) => key)).toEqual(["msg_1", "call_1", "call_2", "prop_1", "prop_2", "7"])
})
