import { describe, expect, test } from "vitest"
import type { JournalEvent, UnknownEvent } from "../../protocol/events.ts"
import { type Conversation, conversationStatus, pauseReason, runStatus } from "../conversation.ts"
import { replay, stage } from "./replay.ts"
import { ADA, call, ID, proposal, run, type Staged, staged } from "../staged.fixture.ts"

/** The state after the events were stored and read again. */
function fromDisk(events: readonly (JournalEvent | UnknownEvent)[]): Conversation {
  return replay(ID, ADA, JSON.parse(JSON.stringify(events)) as JournalEvent[])
}

const at = ({ events }: Staged, position: number) => fromDisk(events.slice(0, position))

const RUNNING = { run: "running", conversation: "running" }
const PAUSED = { run: "paused", conversation: "awaiting_confirmation" }

/** A conversation, and the expected state at each position. */
const steps: [happens: (story: Staged) => Staged, state: Record<string, unknown>][] = [
  [(story) => story.run(), { ...RUNNING, iteration: 0 }],
  [(story) => story.words("Write two things."), { ...RUNNING, iteration: 0 }],
  [(story) => story.calls("read", "write", "write"), { ...RUNNING, iteration: 1 }],
  [(story) => story.starts(1), { ...RUNNING, iteration: 1 }],
  [(story) => story.result(1), { ...RUNNING, iteration: 1 }],
  [(story) => story.proposes(2, 3), { ...PAUSED, iteration: 1, pause: "awaiting_confirmation" }],
  [(story) => story.decides(1, "commit"), { ...RUNNING, iteration: 1 }],
  [(story) => story.starts(2), { ...RUNNING, iteration: 1 }],
  [(story) => story.result(2), { ...PAUSED, iteration: 1, pause: "awaiting_confirmation" }],
  [(story) => story.decides(2, "commit"), { ...RUNNING, iteration: 1 }],
  [(story) => story.starts(3), { ...RUNNING, iteration: 1 }],
  [(story) => story.doubts(3), { ...PAUSED, iteration: 1, pause: "in_doubt" }],
  [(story) => story.result(3, "in_doubt"), { ...RUNNING, iteration: 1 }],
  [(story) => story.says("Done."), { ...RUNNING, iteration: 1 }],
  [(story) => story.ends("completed"), { run: "completed", conversation: "active", iteration: 1 }],
  [(story) => story.run(), { ...RUNNING, iteration: 0 }],
  [(story) => story.ends("failed"), { run: "failed", conversation: "failed", iteration: 0 }],
  [(story) => story.run(), { ...RUNNING, iteration: 0 }],
  [(story) => story.ends("cancelled"), { run: "cancelled", conversation: "active", iteration: 0 }],
]

describe("the state at any position", () => {
  const story = staged()
  const told = steps.map(([happens, state]) => ({ position: happens(story).conversation.position, state }))

  test.each([{ position: 1, state: { conversation: "active" } }, ...told])("at $position: $state", (expected) => {
    const conversation = at(story, expected.position)
    expect(conversation.position).toBe(expected.position)
    expect({
      run: runStatus(conversation),
      conversation: conversationStatus(conversation),
      iteration: conversation.run?.iteration,
      pause: pauseReason(conversation),
    }).toEqual(expected.state)
  })

  test("is the same read from disk as it was in memory", () => {
    expect(fromDisk(story.events)).toEqual(story.conversation)
  })

  test("numbers messages without a gap, including those reserved for results", () => {
    const seqs = story.events.flatMap((event) => ("seq" in event && event.type !== "history_cut" ? [event.seq] : []))
    expect(seqs).toEqual([1, 2, 3, 4, 5, 6])
    expect(at(story, 4).seq).toBe(5) // the reply reserves three numbers
  })
})

describe("the state", () => {
  test("follows mode, model and title, and ignores what a setting does not name", () => {
    const story = staged().add({ type: "settings", mode: "auto", model: "m" }).add({ type: "settings", title: "Notes" })
    expect(fromDisk(story.events)).toMatchObject({ mode: "auto", model: "m", title: "Notes", provider: null })
  })

  test.each<[string, Partial<Extract<JournalEvent, { type: "settings" }>>]>([
    ["another device", { deviceId: "laptop" }],
    ["the server", { site: "server" }],
    ["another database", { connectionId: "conn_b" as never }],
  ])("forgets what a run has read when it moves to %s, where the answer may be another", (_, moves) => {
    const story = staged().asks("?").calls("read").starts(1)
    story.result(1)
    expect(fromDisk(story.events).run?.reads).toHaveLength(1)
    expect(fromDisk(story.add({ type: "settings", title: "Notes" }).events).run?.reads).toHaveLength(1)
    expect(fromDisk(story.add({ type: "settings", ...moves }).events).run?.reads).toEqual([])
  })

  test("adds up the usage of a run's replies", () => {
    const story = staged().asks("?")
    for (const usage of [
      { inputTokens: 10, outputTokens: 1 },
      { inputTokens: null, outputTokens: 2 },
    ]) {
      const { seq } = story.conversation
      story.add({ type: "message", id: "msg_u" as never, seq: seq + 1, role: "assistant", parts: [], usage })
    }
    expect(fromDisk(story.events).run?.usage).toEqual({ inputTokens: 10, outputTokens: 3 })
  })

  test("merges what tools add to the state", () => {
    const story = staged().asks("?").calls("a", "b")
    const end = { type: "tool_end", id: "msg_r" as never, status: "ok", text: "", ms: 0 } as const
    story.add({ ...end, callId: call(1), seq: 3, state: { a: 1, b: 1 } })
    story.add({ ...end, callId: call(2), seq: 4, state: { b: 2 } })
    expect(fromDisk(story.events).state).toEqual({ a: 1, b: 2 })
  })

  test("knows open proposals until they are settled", () => {
    const story = staged().asks("?").calls("write", "write", "write").proposes(1, 2, 3)
    expect([...fromDisk(story.events).proposals.keys()]).toEqual([proposal(1), proposal(2), proposal(3)])
    story.decides(1, "reject").result(1, "rejected").decides(2, "edit").decides(3, "commit")
    expect([...fromDisk(story.events).proposals.values()]).toMatchObject([
      { proposed: { id: proposal(3) }, status: "applying", decidedBy: ADA, runId: run(1) },
    ])
  })

  test("refuses a second result for a call", () => {
    const story = staged().asks("?").calls("read").result(1)
    expect(() => story.result(1)).toThrow("has a result already")
  })

  test("refuses a result for an unknown call", () => {
    expect(() => staged().asks("?").calls("read").result(7)).toThrow("call_7")
  })

  test("never lets the journal's time go back when the clock does", () => {
    const { conversation } = staged().wait(5000).asks("?")
    const [event] = stage(conversation, [{ type: "step", step: "x" }], 1000)
    expect(event?.at).toBe(5000)
  })
})

describe("the time a run has worked", () => {
  const worked = ({ events }: Staged) => fromDisk(events).run?.workedMs

  test("grows with the time of model and tools", () => {
    expect(worked(staged().asks("?").wait(100).calls("read").wait(20).starts(1).wait(3).result(1))).toBe(123)
  })

  test("leaves out the time of waiting for a person", () => {
    const story = staged().asks("?").wait(100).calls("write").proposes(1).wait(1e6).decides(1, "commit").wait(5)
    expect(worked(story.starts(1).wait(5).result(1))).toBe(110)
  })

  test("leaves out the time of a write in doubt", () => {
    const story = staged().asks("?").calls("write").proposes(1).decides(1, "commit").starts(1).wait(7).doubts(1)
    expect(worked(story.wait(1e6).result(1, "in_doubt").wait(3).says("x"))).toBe(10)
  })

  test("leaves out the time after its writer failed", () => {
    expect(worked(staged().asks("?").wait(1e6).restarts().wait(4).says("x"))).toBe(4)
  })

  test("starts at zero with the next run, and time between runs does not count", () => {
    expect(worked(staged().asks("?").wait(50).answers("x").wait(1e6).asks("?").wait(2).says("y"))).toBe(2)
  })
})

describe("an event of a newer version", () => {
  const story = staged().asks("?").answers("x")
  const next = { version: 1, position: story.events.length + 1, at: 0 }
  const newer: [what: string, event: UnknownEvent][] = [
    ["of an unknown type", { ...next, type: "teleported", body: {} }],
    ["of a newer version", { ...next, type: "run_started", version: 2, body: {} }],
    ["named like a property every object has", { ...next, type: "constructor", body: {} }],
  ]

  test.each(newer)("%s makes the conversation one that is shown but not continued", (_what, event) => {
    const conversation = fromDisk([...story.events, event])
    expect(conversation).toMatchObject({ hasUnknownEvents: true, position: event.position, run: { id: run(1) } })
  })

  test.each(newer)("%s is not compensated by known events after it", (_what, event) => {
    const after = { ...next, type: "step", position: next.position + 1, step: "x" } as JournalEvent
    expect(fromDisk([...story.events, event, after]).hasUnknownEvents).toBe(true)
  })

  test("is not written by this version", () => {
    expect(fromDisk(story.events).hasUnknownEvents).toBe(false)
  })
})
