import { describe, expect, test } from "vitest"
import { ADA, call, proposal, run, type Staged, staged } from "../../engine/staged.fixture.ts"
import { stage } from "../../engine/replay/replay.ts"
import type { NewEvent } from "../../protocol/events.ts"
import type { InboxId, MessageId } from "../../protocol/ids.ts"
import type { InboxItem } from "../../engine/input.ts"
import { toCommit } from "./to-commit.ts"

const HOLD = { lease: "hold", node: "node_1", now: 1, release: false } as const

/** The commit of these events, after a commit that updated every row. */
function commit(story: Staged, events: readonly NewEvent[], taken: readonly InboxItem[] = []) {
  const { conversation } = story
  toCommit(conversation, [], HOLD)
  return toCommit(conversation, stage(conversation, events, 1), { ...HOLD, taken })
}

const end = (n: number, status: "ok" | "error" | "in_doubt" = "ok"): NewEvent => {
  const id = `msg_result${n}` as MessageId
  return { type: "tool_end", callId: call(n), id, seq: n + 2, status, text: "", ms: 1 }
}
const commits = { type: "decision", proposalId: proposal(1), decision: "commit", by: ADA } as const

const asked = () => staged().asks("Write it.")
const called = () => asked().calls("write", "write")
const waits = () => called().proposes(1, 2)
const granted = () => called().granted(1).granted(2)
const applying = () => waits().decides(1, "commit").decides(2, "commit").starts(1)
const oneWaits = () => waits().decides(1, "commit").starts(1)
const doubted = () => applying().doubts(1)

const paid = { model: "m", promptHash: "", tries: 1, usage: { inputTokens: 1, outputTokens: 1 } }

test.each<[what: string, story: Staged, events: NewEvent[], rows: [head: boolean, run: boolean, proposals: string[]]]>([
  ["a title", asked(), [{ type: "settings", title: "New" }], [true, false, []]],
  [
    "a title that a model was asked for",
    asked().ends("completed"),
    [{ type: "settings", titledBy: paid }],
    [true, true, []],
  ],
  ["a step", asked(), [{ type: "step", step: "next" }], [false, false, []]],
  ["a run", staged(), [{ type: "run_started", runId: run(1), maxIterations: 5 }], [true, true, []]],
  ["the end of a run", asked(), [{ type: "run_ended", status: "completed" }], [true, true, []]],
  ["the start of a call", applying(), [{ type: "tool_start", callId: call(2) }], [false, false, []]],
  ["the result of a read", called(), [end(1)], [false, false, []]],
  ["the result of a write", applying(), [end(1)], [false, false, ["applied"]]],
  ["the result of a write beside one that waits", oneWaits(), [end(1)], [false, true, ["applied"]]],
  ["an agreement", waits(), [commits], [true, false, ["applying"]]],
  ["a doubt", applying(), [{ type: "in_doubt", callId: call(1), because: "" }], [true, true, ["in_doubt"]]],
  [
    "the end of a run in doubt",
    doubted(),
    [end(1, "in_doubt"), { type: "run_ended", status: "failed" }],
    [true, true, []],
  ],
  [
    "what comes late",
    doubted(),
    [{ type: "late_result", callId: call(1), status: "ok", text: "" }],
    [false, false, ["applied"]],
  ],
  ["a grant taken back", granted(), [{ type: "grant_revoked", by: ADA }], [true, true, ["pending", "pending"]]],
  [
    "an agreement in the place of a grant",
    granted(),
    [{ type: "grant_revoked", by: ADA }, commits],
    [true, true, ["applying", "pending"]],
  ],
  ["a grant of nothing", asked(), [{ type: "grant_revoked", by: ADA }], [false, false, []]],
])("the commit of %s changes only its own rows", (_, story, events, rows) => {
  const { head, runs, proposals } = commit(story, events)
  expect([head !== null, runs.length > 0, proposals.map(([, , , status]) => status)]).toEqual(rows)
})

test("a result next to proposals for other calls does not change the row of the run", () => {
  const story = called()
  const proposed: NewEvent = { type: "proposal", proposal: story.proposed(2), approvedBy: "policy" }
  expect(commit(story, [end(1, "error"), proposed])).toMatchObject({ runs: [], proposals: [{ length: 8 }] })
})

test("a message that ends a run and starts another changes the rows of both", () => {
  const next: NewEvent[] = [
    { type: "run_ended", status: "cancelled", reason: "superseded" },
    { type: "run_started", runId: run(2), maxIterations: 5 },
  ]
  const story = waits()
  expect(
    commit(story, next).runs.map(([id, status, , , pause, , , , , , endedAt]) => [id, status, pause, endedAt]),
  ).toEqual([
    [run(1), "cancelled", null, 1],
    [run(2), "running", null, null],
  ])
  const last = commit(story, [{ type: "run_ended", status: "completed" }])
  expect(last.runs.map(([id, status]) => [id, status])).toEqual([[run(2), "completed"]])
  expect(commit(story, [{ type: "run_started", runId: run(3), maxIterations: 5 }]).runs).toHaveLength(1)
})

describe("a proposal", () => {
  test("is written again only after a change, and no more once it is settled", () => {
    const story = waits()
    expect(commit(story, [commits]).proposals).toHaveLength(1)
    expect(commit(story, [{ type: "tool_start", callId: call(1) }]).proposals).toEqual([])
    expect(commit(story, [end(1)]).proposals).toHaveLength(1)
    expect(commit(story, [{ type: "step", step: "next" }]).proposals).toEqual([])
    expect([...story.conversation.proposals.keys()]).toEqual([proposal(2)])
  })

  test("has its row restored if a queued decision has no effect", () => {
    const story = waits()
    const input = { type: "decide", proposalId: proposal(1), decision: "reject", by: ADA } as const
    const taken = [{ id: "in_1" as InboxId, number: 7, input }]
    const { proposals, events, taken: numbers } = commit(story, [], taken)
    expect(proposals.map(([id, , , status]) => [id, status])).toEqual([[proposal(1), "pending"]])
    expect([events, numbers]).toEqual([[], [7]])
  })

  test("that is applied gets its audit row in the same commit", () => {
    const story = applying()
    const inverse = { tool: "unwrite", input: { n: 1 } }
    const change = { before: null, after: { n: 1 } }
    const { audits } = commit(story, [{ ...end(1), change, inverse } as NewEvent, { type: "step", step: "next" }])
    expect(audits).toHaveLength(1)
    expect(audits[0]).toEqual(
      expect.arrayContaining(["aud_1", call(1), proposal(1), '{"n":1}', JSON.stringify(inverse), ADA]),
    )
    expect(commit(story, [{ type: "step", step: "next" }]).audits).toEqual([])
  })
})
