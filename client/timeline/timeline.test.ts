import { describe, expect, test } from "vitest"
import { EVENT_VERSION } from "../../core/protocol/events.ts"
import type { RecordedEvent } from "../../core/protocol/conversation/conversation.ts"
import { toTimeline } from "./timeline.ts"
import { describeTotals } from "./totals.ts"

const START = 1_700_000_000_000

/** Events at these seconds of a run. */
function rows(...told: [seconds: number, type: string, fields?: Record<string, unknown>][]): RecordedEvent[] {
  return told.map(([seconds, type, fields], index) => {
    return { type, version: EVENT_VERSION, position: index + 2, at: START + seconds * 1000, ...fields }
  })
}

const words = { role: "user", parts: [{ type: "text", text: "Add a task,\n  please." }] }
const call = (id: string, name: string) => ({ type: "call", id, name, input: {} })
const usage = (inputTokens: number, cachedTokens: number, cost: number | null) => ({
  ...{ inputTokens, outputTokens: 10, cachedTokens, cost },
})
const reply = (parts: unknown[], rest = {}) => ({ role: "assistant", model: "m", parts, ...rest })

describe("the timeline of a run", () => {
  test("lists replies, calls and waits with their durations, in order of start", () => {
    const { entries, totals } = toTimeline(
      rows(
        [0, "run_started"],
        [0, "message", words],
        [2, "message", reply([call("call_1", "create_task")], { finish: "calls", usage: usage(100, 60, 0.01) })],
        [2, "awaiting_confirmation", { proposals: [{ id: "prop_1", callId: "call_1", summary: "Create task" }] }],
        [12, "decision", { proposalId: "prop_1", decision: "commit", by: "ada" }],
        [12, "tool_start", { callId: "call_1" }],
        [13, "tool_end", { callId: "call_1", status: "ok", text: "Made.", ms: 900 }],
        [16, "message", reply([{ type: "text", text: "Done." }], { finish: "stop", usage: usage(150, 100, 0.02) })],
        [16, "run_ended", { status: "completed" }],
      ),
    )
    expect(entries.map(({ kind, title, detail, ms }) => [kind, title, detail, ms])).toEqual([
      ["other", "Run started", undefined, undefined],
      ["words", "Message", "Add a task, please.", undefined],
      ["model", "m", "calls create_task", 2000],
      ["wait", "Waiting for approval: Create task", "approved", 10_000],
      ["call", "Create task", "done", 1000],
      ["model", "m", "Done.", 3000],
      ["end", "Completed", undefined, undefined],
    ])
    // A period names the events of its start and end: the approval ends its wait, the result its call.
    const spans = entries.flatMap(({ position, endPosition }) => (endPosition ? [[position, endPosition]] : []))
    expect(spans).toEqual([
      [5, 6],
      [7, 8],
    ])
    expect(totals).toEqual({
      ...{ ms: 16_000, modelMs: 5000, callMs: 1000, waitingMs: 10_000, modelCalls: 2, calls: 1, troubles: 0 },
      ...{ retries: 0, restarts: 0, fallbacks: 0 },
      ...{ inputTokens: 250, outputTokens: 20, cachedTokens: 160, cost: 0.03 },
    })
  })

  test("counts parallel work once, and names unfinished parts", () => {
    const { entries, totals } = toTimeline(
      rows(
        [0, "run_started"],
        [1, "message", reply([call("call_1", "a"), call("call_2", "b")], { usage: usage(1, 0, null) })],
        [1, "tool_start", { callId: "call_1" }],
        [2, "tool_start", { callId: "call_2" }],
        [4, "tool_end", { callId: "call_1", status: "error", text: "There is no b.\nAt all.", ms: 3000 }],
        [5, "step", { step: "thinking_about_it" }],
      ),
    )
    const told = entries.filter(({ kind }) => kind === "call")
    expect(told.map(({ title, detail, ms, isOpen }) => [title, detail, ms, isOpen])).toEqual([
      ["A", "failed: There is no b.", 3000, undefined],
      ["B", undefined, 3000, true],
    ])
    expect(totals).toMatchObject({ callMs: 4000, cost: null })
  })

  test("lists problems: waiting is no time of the model, and an undecided question ends with its call", () => {
    const { entries, totals } = toTimeline(
      rows(
        [0, "run_started"],
        [1, "step", { step: "waiting", detail: { provider: "openai", because: "rate_limited", seconds: 4 } }],
        [8, "restarted", { because: "crash" }],
        [8, "fallback", { from: "m", to: "n", because: "overloaded", message: "It is overloaded.", until: 0 }],
        [10, "message", reply([call("call_1", "delete_task")])],
        [10, "awaiting_confirmation", { proposals: [{ id: "prop_1", callId: "call_1", summary: "Delete task" }] }],
        [12, "tool_end", { callId: "call_1", status: "expired", text: "", ms: 0 }],
        [12, "run_ended", { status: "failed", error: { code: "expired", message: "Nobody said yes." } }],
      ),
    )
    expect(entries.map(({ kind, title, detail, ms }) => [kind, title, detail, ms]).slice(1)).toEqual([
      ["trouble", "Waiting 4 s for openai", "rate_limited", 4000],
      ["trouble", "Started over: the server stopped", undefined, 3000],
      ["trouble", "n instead of m: It is overloaded.", undefined, undefined],
      ["model", "m", "calls delete_task", 2000],
      ["wait", "Waiting for approval: Delete task", "expired", 2000],
      ["call", "Delete task", "expired", undefined],
      ["end", "Failed", "expired: Nobody said yes.", undefined],
    ])
    expect(totals).toMatchObject({ modelMs: 2000, waitingMs: 2000, troubles: 3 })
    expect(totals).toMatchObject({ retries: 1, restarts: 1, fallbacks: 1 })
    expect(describeTotals(totals)[1]).toBe("0 model calls · 1 tool call · 1 restart · 1 retry · 1 fallback")
  })

  test("the time until a failure during a model request is time of the model", () => {
    const { entries, totals } = toTimeline(
      rows(
        [0, "run_started"],
        [0, "message", words],
        [3, "run_ended", { status: "failed", error: { code: "provider_error", message: "It broke." } }],
      ),
    )
    const told = entries.map(({ kind, title, detail, ms }) => [kind, title, detail, ms])
    expect(told.slice(2)).toEqual([
      ["model", "No reply", "provider_error", 3000],
      ["end", "Failed", "provider_error: It broke.", undefined],
    ])
    expect(totals.modelMs).toBe(3000)
  })

  test("a read whose rows are in one commit took as long as its result says", () => {
    const { entries, totals } = toTimeline(
      rows(
        [0, "run_started"],
        [1, "message", reply([call("call_1", "look")])],
        [3, "tool_start", { callId: "call_1" }],
        [3, "tool_end", { callId: "call_1", status: "ok", text: "Seen.", ms: 1500 }],
      ),
    )
    expect(entries.at(-1)).toMatchObject({ title: "Look", at: START + 1500, ms: 1500 })
    expect(totals.callMs).toBe(1500)
  })

  test("is complete after its end, whatever is settled later; the usage of a title counts", () => {
    const told = rows(
      [0, "run_started"],
      [2, "message", reply([{ type: "text", text: "Hello." }], { usage: usage(100, 0, 0.01) })],
      [2, "run_ended", { status: "completed" }],
      [4, "settings", { title: "Hello", titledBy: { model: "s", tries: 1, usage: usage(50, 0, 0.02) } }],
      [9000, "settings", { mode: "auto" }],
    )
    const { totals, until, entries } = toTimeline(told, START + 9_999_000)
    expect([until, totals.ms, totals.modelMs]).toEqual([START + 2000, 2000, 2000])
    expect(totals).toMatchObject({ modelCalls: 2, inputTokens: 150, cost: 0.03 })
    expect(entries.at(-2)).toMatchObject({ title: 'Set: title "Hello"', detail: "s", ms: 2000 })
  })

  test("has the time waited so far for a waiting run", () => {
    const told = rows(
      [0, "run_started"],
      [1, "awaiting_confirmation", { proposals: [{ id: "prop_1", callId: "call_1", summary: "Save" }] }],
    )
    expect(toTimeline(told, START + 61_000)).toMatchObject({ until: START + 61_000, totals: { waitingMs: 60_000 } })
    expect(toTimeline(told).totals.waitingMs).toBe(0)
  })

  test("has the start time for a run that is working", () => {
    const told = rows([0, "run_started"], [1, "message", words])
    const { entries } = toTimeline(told, START + 31_000)
    expect(entries.at(-1)).toMatchObject({ title: "At work", position: 3, at: START + 1000, ms: 30_000, isOpen: true })
    expect(toTimeline(told).entries).toHaveLength(2)
  })

  test("shows rows of a newer Pawl, and rows named like a property of every object, as unknown", () => {
    const [started] = rows([0, "run_started"])
    const newer = { type: "run_started", version: EVENT_VERSION + 1, position: 3, at: START, body: {} }
    const named = { type: "constructor", version: EVENT_VERSION, position: 4, at: START }
    const { entries } = toTimeline([started!, newer, named])
    expect(entries.map(({ title }) => title).slice(1)).toEqual([
      "run_started, of a newer Pawl",
      "constructor, of a newer Pawl",
    ])
  })
})
