import { expect, test } from "vitest"
import { JournalEvent, type NewEvent } from "../protocol/events.ts"
import type { CallId, ConversationId, MessageId, ProposalId, RunId } from "../protocol/ids.ts"
import { type RecordedRun, runSpans } from "./run-spans.ts"

const START: NewEvent = { type: "run_started", runId: "run_1" as RunId, maxIterations: 5 }
const CALL = "call_1" as CallId
const PROPOSAL = "prop_1" as ProposalId

const words = (role: "user" | "assistant", text: string, more: Partial<Extract<NewEvent, { type: "message" }>> = {}) =>
  ({ type: "message", id: "msg_1" as MessageId, seq: 1, role, parts: [{ type: "text", text }], ...more }) as NewEvent
const calling = words("assistant", "", {
  parts: [{ type: "call", id: CALL, name: "save", input: {} }],
  model: "m",
  usage: { inputTokens: 10, outputTokens: 2, cachedTokens: 8, provider: "mistral", cost: 0.5 },
})
const result = (status: Extract<NewEvent, { type: "tool_end" }>["status"], ms = 0): NewEvent => ({
  ...{ type: "tool_end", callId: CALL, id: "msg_2" as MessageId, seq: 2, status, text: "", ms },
})
const waiting: NewEvent = {
  type: "awaiting_confirmation",
  proposals: [
    {
      ...{ id: PROPOSAL, callId: CALL, tool: "save", action: "safe_create", summary: "Save", undoable: false },
      ...{ version: 1, hash: "h", expiresAt: 1 },
    },
  ],
}
const ended = (status: "completed" | "failed" | "cancelled", more: object = {}): NewEvent => ({
  type: "run_ended",
  status,
  ...more,
})

/** Each span as `name from–to, error`, for events a second apart. */
function told(...events: readonly NewEvent[]): string[] {
  const rows = [START, words("user", "Go."), ...events].map((event, index) =>
    JournalEvent.parse({ ...event, version: 1, position: index + 1, at: index * 1000 }),
  )
  const run = {
    conversation: "conv_1" as ConversationId,
    agent: "test",
    events: rows as unknown as RecordedRun["events"],
  }
  return runSpans(run, { content: false }).map(
    ({ name, from, to, error }) => `${name} ${from / 1000}–${to / 1000}${error ? `, ${error}` : ""}`,
  )
}

test.each<[what: string, events: readonly NewEvent[], spans: readonly string[]]>([
  [
    "an attempt whose process died ends where another takes it up, and the next begins there",
    [{ type: "restarted", because: "crash" }, words("assistant", "Hi.", { model: "m" }), ended("completed")],
    ["chat 1–2, crash", "chat m 2–3", "step 1–3", "invoke_agent test 0–4"],
  ],
  [
    "a provider that broke off is told by its code",
    [
      { type: "restarted", because: "provider", detail: "provider_unavailable" },
      words("assistant", "Hi."),
      ended("completed"),
    ],
    ["chat 1–2, provider_unavailable", "chat 2–3", "step 1–3", "invoke_agent test 0–4"],
  ],
  [
    "a model that could not answer is told, and so is the one in its place; one that was passed over was not asked",
    [
      { type: "fallback", from: "a", to: "b", because: "rate_limited", message: "Later.", until: 1 },
      { type: "fallback", from: "b", to: "c", because: "rate_limited", message: "Later.", until: 1, earlier: true },
      words("assistant", "Hi.", { model: "c" }),
      ended("completed"),
    ],
    ["chat a 1–2, rate_limited", "chat c 3–4", "step 1–4", "invoke_agent test 0–5"],
  ],
  [
    "a run that fails for its model's sake",
    [ended("failed", { error: { code: "provider_unavailable", message: "Away." } })],
    ["chat 1–2, provider_unavailable", "step 1–2", "invoke_agent test 0–2, provider_unavailable"],
  ],
  [
    "a call that dies with its process goes on: no model was asked",
    [
      calling,
      { type: "tool_start", callId: CALL },
      { type: "restarted", because: "crash" },
      result("interrupted"),
      ended("cancelled"),
    ],
    ["chat m 1–2", "execute_tool save 3–5, interrupted", "step 1–5", "invoke_agent test 0–6"],
  ],
  [
    "a write that is rejected was waited for, and not executed",
    [
      calling,
      waiting,
      { type: "decision", proposalId: PROPOSAL, decision: "reject", by: "ada" },
      result("rejected"),
      ended("cancelled"),
    ],
    ["chat m 1–2", "wait proposal 3–4", "step 1–5", "invoke_agent test 0–6"],
  ],
  [
    "one that nobody decides was waited for until it expired",
    [calling, waiting, result("expired"), ended("cancelled")],
    ["chat m 1–2", "wait proposal 3–4", "step 1–4", "invoke_agent test 0–5"],
  ],
  [
    "a doubt is waited for until somebody resolves it",
    [
      ...[
        calling,
        { type: "tool_start", callId: CALL } as const,
        { type: "in_doubt", callId: CALL, because: "cut" } as const,
      ],
      ...[{ type: "resolution", callId: CALL, choice: "done", by: "ada" } as const, result("ok"), ended("completed")],
    ],
    ["chat m 1–2", "wait in_doubt 4–5", "execute_tool save 3–6", "step 1–6", "invoke_agent test 0–7"],
  ],
  [
    "a read that was on record at once began when its result says",
    [calling, result("ok", 1500), ended("completed")],
    ["chat m 1–2", "execute_tool save 1.5–3", "step 1–3", "invoke_agent test 0–4"],
  ],
  [
    "a stage that asked a model is a step with a call of it; one that asked nobody is a moment",
    [
      { type: "step", step: "guardrail", asked: { model: "judge", promptHash: "h", tries: 1 } },
      { type: "step", step: "routing" },
      words("assistant", "Hi.", { model: "m" }),
      ended("completed"),
    ],
    ["chat judge 1–2", "step guardrail 1–2", "chat m 3–4", "step 3–4", "invoke_agent test 0–5"],
  ],
])("%s", (_, events, spans) => {
  expect(told(...events)).toEqual(spans)
})

test("a run that Pawl wrote has no model call", () => {
  const rows = [{ ...START, again: PROPOSAL }, words("user", "Again."), calling, result("ok"), ended("completed")]
  const events = rows.map((event, index) =>
    JournalEvent.parse({ ...event, version: 1, position: index + 1, at: index }),
  )
  const run = {
    conversation: "conv_1" as ConversationId,
    agent: "test",
    events: events as unknown as RecordedRun["events"],
  }
  expect(runSpans(run, { content: false }).map(({ name }) => name)).toEqual([
    "execute_tool save",
    "step",
    "invoke_agent test",
  ])
})

test("the usage of a run is that of its model calls, by the conventions' names", () => {
  const rows = [
    START,
    words("user", "Go."),
    {
      type: "step",
      step: "waiting",
      detail: { provider: "m", because: "rate_limited", seconds: 3, attempt: 2 },
    } as NewEvent,
    calling,
    result("ok"),
    { ...calling, parts: [] } as NewEvent,
    ended("completed"),
  ]
  const events = rows.map((event, index) =>
    JournalEvent.parse({ ...event, version: 1, position: index + 1, at: index }),
  )
  const run = {
    conversation: "conv_1" as ConversationId,
    agent: "test",
    events: events as unknown as RecordedRun["events"],
  }
  const whole = runSpans(run, { content: false }).at(-1)
  const why = { "pawl.retry.because": "rate_limited", "pawl.retry.after_seconds": 3, "pawl.retry.attempt": 2 }
  expect(whole?.events).toEqual([{ name: "waiting", at: 2, attributes: why }])
  expect(whole?.attributes).toMatchObject({
    "gen_ai.provider.name": "mistral_ai",
    "gen_ai.usage.input_tokens": 20,
    "gen_ai.usage.output_tokens": 4,
    "gen_ai.usage.cache_read.input_tokens": 16,
    "pawl.usage.cost_usd": 1,
  })
})

test("two doubts of one call are two spans, even if they start and end in the same millisecond", () => {
  const doubt: NewEvent = { type: "in_doubt", callId: CALL, because: "cut" }
  const again: NewEvent = { type: "resolution", callId: CALL, choice: "retry", by: "ada" }
  const rows = [
    START,
    words("user", "Go."),
    calling,
    { type: "tool_start", callId: CALL } as const,
    doubt,
    again,
    doubt,
    again,
  ]
  const events = rows.map((event, index) => JournalEvent.parse({ ...event, version: 1, position: index + 1, at: 1 }))
  const run = {
    conversation: "conv_1" as ConversationId,
    agent: "test",
    events: events as unknown as RecordedRun["events"],
  }
  const waits = runSpans(run, { content: false }).filter(({ name }) => name === "wait in_doubt")
  expect(new Set(waits.map(({ id }) => id)).size).toBe(2)
})
