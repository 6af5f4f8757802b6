import { expect, test } from "vitest"
import type { JournalEvent } from "../../protocol/events.ts"
import { PendingCalls } from "./frame-maker.ts"

const see = (calls: PendingCalls, ...events: object[]) => {
  for (const event of events) calls.see(event as JournalEvent)
  return calls.paused
}
const reply = { type: "message", parts: [{ type: "call", id: "call_1", name: "change", input: {} }] }
const granted = { type: "proposal", proposal: { id: "prop_1", callId: "call_1" }, approvedBy: "grant" }

test("a call that a grant has agreed to waits for a person again when the grant is taken back, unless it has begun", () => {
  const calls = new PendingCalls()
  expect(see(calls, reply, granted)).toBe(false)
  expect(see(calls, { type: "grant_revoked", tool: "other" })).toBe(false)
  expect(see(calls, { type: "grant_revoked", tool: "change" })).toBe(true)
  const begun = new PendingCalls()
  expect(see(begun, reply, granted, { type: "tool_start", callId: "call_1" }, { type: "grant_revoked" })).toBe(false)
})

test("calls that are the same in one reply wait for a person together, and end together", () => {
  const same = { type: "call", name: "change", input: { q: 1 } }
  const parts = [
    { ...same, id: "call_1" },
    { ...same, id: "call_2" },
    { ...same, id: "call_3", input: { q: 2 } },
  ]
  const proposals = ["call_1", "call_3"].map((callId) => ({ id: `prop_${callId}`, callId }))
  const calls = new PendingCalls()
  expect(see(calls, { type: "message", parts })).toBe(false)
  expect(see(calls, { type: "awaiting_confirmation", proposals })).toBe(true)
  expect(see(calls, { type: "tool_end", callId: "call_1" }, { type: "tool_end", callId: "call_2" })).toBe(true)
  expect(see(calls, { type: "tool_end", callId: "call_3" })).toBe(false)
})
