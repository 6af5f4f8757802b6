import { expect, test } from "vitest"
import { EVENT_VERSION, type JournalEvent } from "../../protocol/events.ts"
import { toSharedRow } from "./to-shared-row.ts"

const row = (type: string, fields: Record<string, unknown>, version = EVENT_VERSION) =>
  ({ type, version, position: 12, at: 1, ...fields }) as unknown as JournalEvent

const text = { type: "text", text: "Add a task." }
const usage = { inputTokens: 1, outputTokens: 2, provider: "HIDDEN", paidBy: "own" }
const proposed = {
  id: "prop_1",
  callId: "call_1",
  summary: "Create task",
  arguments: "HIDDEN",
  diff: { after: "HIDDEN" },
}

test.each([
  [
    "words",
    row("message", { role: "user", parts: [text], files: ["HIDDEN"], brought: ["HIDDEN"], id: "HIDDEN", seq: 9 }),
  ],
  [
    "a reply",
    row("message", { role: "assistant", parts: [{ type: "reasoning", text: "HIDDEN" }], usage, data: "HIDDEN" }),
  ],
  [
    "a call",
    row("message", { role: "assistant", parts: [{ type: "call", id: "call_1", name: "a", metadata: "HIDDEN" }] }),
  ],
  ["a step", row("step", { step: "grading", detail: "HIDDEN", asked: { model: "m", tries: 1, promptHash: "HIDDEN" } })],
  ["a result", row("tool_end", { callId: "call_1", text: "Done.", data: "HIDDEN", state: "HIDDEN", change: "HIDDEN" })],
  ["proposals", row("awaiting_confirmation", { proposals: [proposed] })],
  ["a decision", row("decision", { proposalId: "prop_1", decision: "edit", by: "HIDDEN", arguments: { a: "HIDDEN" } })],
  ["a setting", row("settings", { model: "m", title: "HIDDEN", connectionId: "HIDDEN" })],
  [
    "a run's beginning",
    row("run_started", { runId: "HIDDEN", credential: "HIDDEN", undoes: "HIDDEN", timeZone: "HIDDEN" }),
  ],
  ["a summary", row("compaction", { what: "summary", summary: "HIDDEN", messages: 40, kept: { files: ["HIDDEN"] } })],
])("of %s only the listed fields are shown, counted from the run's first row", (_what, event) => {
  expect(JSON.stringify(event)).toContain("HIDDEN")
  const shown = toSharedRow(event, 10)
  expect(shown).toMatchObject({ type: event.type, position: 3 })
  expect(JSON.stringify(shown)).not.toContain("HIDDEN")
})

test.each([
  ["a title alone", row("settings", { title: "A title" })],
  ["how many messages there were", row("history_cut", { seq: 40, tokens: 9 })],
  ["what a newer Pawl has written", row("run_ended", { body: {} }, EVENT_VERSION + 1)],
  ["a type that nobody knows", row("whispered", { text: "Hello" })],
  ["a name that every object has", row("constructor", {})],
])("%s is not shown", (_what, event) => {
  expect(toSharedRow(event, 10)).toBeUndefined()
})
