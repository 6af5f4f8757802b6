import { expect, test } from "vitest"
import type { ConversationId, UserId } from "../../protocol/ids.ts"
import { proposalHash } from "./proposal-hash.ts"
import { ADA, ID } from "../staged.fixture.ts"

const shown = { tool: "pay", version: 1, target: "account 7", revision: "r1", expiresAt: 1000 }
const input = { to: "Bob", amount: 5, note: { a: 1, b: 2 } }
const hash = proposalHash({ id: ID, user: ADA }, { input }, shown)

test("the same proposal has the same hash, in whatever order its arguments are written", () => {
  const turned = { note: { b: 2, a: 1 }, amount: 5, to: "Bob" }
  expect(proposalHash({ id: ID, user: ADA }, { input: turned }, { ...shown })).toBe(hash)
})

test.each<[what: string, changed: string]>([
  ["tool", proposalHash({ id: ID, user: ADA }, { input }, { ...shown, tool: "pay_all" })],
  ["version", proposalHash({ id: ID, user: ADA }, { input }, { ...shown, version: 2 })],
  ["arguments", proposalHash({ id: ID, user: ADA }, { input: { ...input, amount: 50 } }, shown)],
  ["nested arguments", proposalHash({ id: ID, user: ADA }, { input: { ...input, note: { a: 1, b: 3 } } }, shown)],
  ["number of arguments", proposalHash({ id: ID, user: ADA }, { input: { ...input, urgent: true } }, shown)],
  ["target", proposalHash({ id: ID, user: ADA }, { input }, { ...shown, target: "account 8" })],
  ["revision of the target", proposalHash({ id: ID, user: ADA }, { input }, { ...shown, revision: "r2" })],
  ["user", proposalHash({ id: ID, user: "user_bob" as UserId }, { input }, shown)],
  ["conversation", proposalHash({ id: "conv_other" as ConversationId, user: ADA }, { input }, shown)],
  ["expiry", proposalHash({ id: ID, user: ADA }, { input }, { ...shown, expiresAt: 1001 })],
])("another %s has another hash", (_what, changed) => {
  expect(changed).not.toBe(hash)
})
