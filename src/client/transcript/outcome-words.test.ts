import { expect, test } from "vitest"
import { CallStatus } from "../../protocol/conversation/call-status.ts"
import { ProposalStatus } from "../../protocol/proposals/proposal.ts"
import { callWords, proposalWords } from "./outcome-words.ts"
import type { ProposalItem } from "./transcript.ts"

const words = (status: ProposalStatus, code?: string, decidedBy: string | null = null) =>
  proposalWords({ proposal: { status, ...(code ? { code } : {}) }, decidedBy } as ProposalItem)

test("every status of a proposal and every end of a call has words, and none of them is a code", () => {
  const all = [
    ...ProposalStatus.options.map((status) => words(status)),
    ...CallStatus.options.map((end) => callWords[end]),
  ]
  for (const said of all) expect(said).toMatch(/^[a-z][a-z, ]+$/)
})

test("what was not done is never called done, nor replaced: it may have been overtaken by other words", () => {
  expect([words("superseded"), callWords.superseded]).toEqual(["not done", "not done"])
  expect([words("expired"), callWords.expired]).toEqual(["expired", "expired, not done"])
  expect(words("failed", "proposal_stale")).toBe("not done: it had changed meanwhile")
})

test("what was done without asking says so", () => {
  expect(["policy", "grant", "device", "user_ada"].map((by) => words("applied", undefined, by))).toEqual([
    "done automatically",
    "done, as you allowed",
    "done, approved by the device",
    "done",
  ])
})
