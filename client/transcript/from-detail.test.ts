import { expect, test } from "vitest"
import type { ConversationDetail } from "../../core/protocol/answers.ts"
import type { Message } from "../../core/protocol/conversation/message.ts"
import { addMessages, fromDetail, olderThan, withOlderMessages } from "./from-detail.ts"
import { type Item, emptyTranscript } from "./transcript.ts"

const at = "2026-01-01T00:00:00.000Z"

test("a proposal is placed after the calls of its reply, before later rows", () => {
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

const message = (seq: number, more: Partial<Message> = {}): Message => ({
  id: `msg_${seq}` as Message["id"],
  seq,
  role: seq % 2 === 1 ? "user" : "assistant",
  content: `text ${seq}`,
  toolCalls: null,
  toolCallId: null,
  createdAt: "2026-01-01T00:00:00.000Z",
  ...more,
})

const call = { id: "call_1" as never, name: "list_tasks", input: {} }
/** 1 asks, 2 calls, 3 is the result, 4 answers, 5 asks. */
const all = [
  message(1),
  message(2, { role: "assistant", toolCalls: [call] }),
  message(3, { role: "tool", toolCallId: call.id, content: "two tasks" }),
  message(4),
  message(5),
]

/** Steps after the first message and the result; notices before the second and after the last. */
const step = (after: number) => ({
  position: 100 + after,
  after,
  step: "routing",
  detail: {},
  at: "2026-01-01T00:00:00.000Z",
})
const steps = [step(1), step(3)]
const notice = (after: number) => ({
  position: 90 + after,
  after,
  notice: "restarted" as const,
  detail: "crash",
  at: "2026-01-01T00:00:00.000Z",
})
const notices = [notice(3), notice(4)]

/** The steps and notices of these messages. */
function beside(messages: readonly Message[]) {
  const isTold = ({ after }: { after: number }) => messages.some(({ seq }) => seq === after)
  return { steps: steps.filter(isTold), notices: notices.filter(isTold) }
}

function fold(messages: readonly Message[]): Item[] {
  const items: Item[] = []
  addMessages(items, messages, beside(messages))
  return items
}

test.each([1, 2, 3, 4])("wherever the newest page starts, the older one completes it (from message %i)", (first) => {
  const newest = { ...emptyTranscript, items: fold(all.slice(first)) }
  const before = olderThan(newest)
  const older = all.filter(({ seq }) => before !== null && seq < before)
  expect(withOlderMessages(newest, { items: older, ...beside(older) }).items).toEqual(fold(all))
})

test("there is nothing before the first message, and the same page twice adds nothing", () => {
  const whole = { ...emptyTranscript, items: fold(all) }
  expect(olderThan(whole)).toBeNull()
  expect(withOlderMessages(whole, { items: all, ...beside(all) })).toBe(whole)
})
