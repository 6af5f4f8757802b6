import { expect, test } from "vitest"
import type { ConversationDetail } from "../../core/protocol/answers.ts"
import { CallStatus } from "../../core/protocol/conversation/message.ts"
import { ProposalStatus } from "../../core/protocol/proposals/proposal.ts"
import { reduce } from "../reduce.ts"
import { calling } from "./calling.fixture.ts"
import { fromDetail } from "./from-detail.ts"
import { callLabels, describeClientWait, describeProposal } from "./shown-calls.ts"
import { type ProposalItem, type Transcript, emptyTranscript } from "./transcript.ts"

const at = "2026-01-01T00:00:00.000Z"
const expiresAt = "2026-01-01T00:15:00.000Z"
const call = { id: "call_1", name: "client-weather", input: { city: "Oslo" } }
const message = calling(call, at)

const live = [
  { id: "1", type: "run_started", data: { runId: "run_1", maxIterations: 5, at } },
  { id: "2", type: "message", data: { message, at } },
  { id: "3", type: "handed_over", data: { callId: call.id, name: call.name, input: call.input, expiresAt, at } },
].reduce(reduce, emptyTranscript)

const reloaded = fromDetail({
  ...{ position: 3, status: "awaiting_confirmation", messages: [message], proposals: [] },
  handedOver: [{ callId: call.id, expiresAt }],
} as unknown as ConversationDetail)

const says = (transcript: Transcript, now = Date.parse(at)) =>
  describeClientWait(transcript, { now, toTime: (iso) => iso.slice(11, 16) })

test.each([
  ["live", live],
  ["after a reload", reloaded],
])("a delegated call shows its tool, its expiry and how to continue: %s", (_, transcript) => {
  expect(says(transcript)).toBe(
    "Waiting until 00:15 for the program that provides weather. Send a message to continue without it, or stop the run.",
  )
  expect(says(transcript, Date.parse(expiresAt))).toMatch(/^The program that provides weather did not answer in time/)
  // Other events change nothing: it still waits.
  const renamed = reduce(transcript, { id: "4", type: "settings", data: { title: "Oslo", at } })
  expect([renamed.status, says(renamed)]).toEqual(["awaiting_confirmation", says(transcript)])
  const end = { callId: call.id, name: call.name, status: "ok", text: "rain", ms: 1, messageId: "msg_2", seq: 3, at }
  const ended = reduce(renamed, { id: "5", type: "tool_end", data: end })
  expect([ended.status, says(ended)]).toEqual(["running", undefined])
})

test("a call whose reply is before the list is shown nevertheless", () => {
  const data = { callId: call.id, name: call.name, input: call.input, expiresAt, at }
  const later = { ...emptyTranscript, status: "running", cursor: "2" } as const
  expect(says(reduce(later, { id: "3", type: "handed_over", data }))).toMatch(/^Waiting until 00:15 for the program/)
})

const words = (status: ProposalStatus, code?: string, decidedBy: string | null = null) =>
  describeProposal({ proposal: { status, ...(code ? { code } : {}) }, decidedBy } as ProposalItem)

test("every status of a proposal and every end of a call has a text without codes", () => {
  const all = [
    ...ProposalStatus.options.map((status) => words(status)),
    ...CallStatus.options.map((end) => callLabels[end]),
  ]
  for (const said of all) expect(said).toMatch(/^[a-z][a-z, ]+$/)
})

test("a change that was not made is never called done or replaced: another change may have overtaken it", () => {
  expect([words("superseded"), callLabels.superseded]).toEqual(["not applied", "not applied"])
  expect([words("expired"), callLabels.expired]).toEqual(["expired", "expired"])
  expect(words("failed", "proposal_stale")).toBe("skipped: it changed in the meantime")
})

test("a change made without approval says so", () => {
  expect(["policy", "grant", "device", "user_ada"].map((by) => words("applied", undefined, by))).toEqual([
    "done automatically",
    "done, allowed by you earlier",
    "done, approved on the device",
    "done",
  ])
})
