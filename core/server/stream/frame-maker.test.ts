import { expect, test } from "vitest"
import type { JournalEvent } from "../../protocol/events.ts"
import { PendingCalls } from "./frame-maker.ts"

const add = (calls: PendingCalls, ...events: object[]) => {
  for (const event of events) calls.add(event as JournalEvent)
  return calls.paused
}
const reply = { type: "message", parts: [{ type: "call", id: "call_1", name: "change", input: {} }] }
const granted = { type: "proposal", proposal: { id: "prop_1", callId: "call_1" }, approvedBy: "grant" }

test("a call allowed by a grant waits for a person again when the grant is revoked, unless it has started", () => {
  const calls = new PendingCalls()
  expect(add(calls, reply, granted)).toBe(false)
  expect(add(calls, { type: "grant_revoked", tool: "other" })).toBe(false)
  expect(add(calls, { type: "grant_revoked", tool: "change" })).toBe(true)
  const begun = new PendingCalls()
  expect(add(begun, reply, granted, { type: "tool_start", callId: "call_1" }, { type: "grant_revoked" })).toBe(false)
})

test("identical calls in one reply wait for a person together, and end together", () => {
  const same = { type: "call", name: "change", input: { q: 1 } }
  const parts = [
    { ...same, id: "call_1" },
    { ...same, id: "call_2" },
    { ...same, id: "call_3", input: { q: 2 } },
  ]
  const proposals = ["call_1", "call_3"].map((callId) => ({ id: `prop_${callId}`, callId }))
  const calls = new PendingCalls()
  expect(add(calls, { type: "message", parts })).toBe(false)
  expect(add(calls, { type: "awaiting_confirmation", proposals })).toBe(true)
  expect(add(calls, { type: "tool_end", callId: "call_1" }, { type: "tool_end", callId: "call_2" })).toBe(true)
  expect(add(calls, { type: "tool_end", callId: "call_3" })).toBe(false)
})
