import { expect, test } from "vitest"
import { newId } from "../protocol/ids.ts"
import { accept } from "./accept.ts"
import { emptyConversation } from "./conversation.ts"
import { stage } from "./replay.ts"

const accepting = { now: 1, maxIterations: 5, timeZone: "UTC" }

function running(credential?: string) {
  const conversation = emptyConversation(newId("conv"), newId("user"))
  const by = credential === undefined ? {} : { credential }
  stage(conversation, [{ type: "run_started", runId: newId("run"), maxIterations: 5, ...by }], 1)
  return conversation
}

test.each<[credential: string | undefined, named: string | undefined, ends: boolean]>([
  ["tok_a", undefined, true],
  [undefined, undefined, true],
  ["tok_a", "tok_a", true],
  ["tok_a", "tok_b", false],
  [undefined, "tok_b", false],
])("a run that %j has set going is ended by a cancel for %j: %j", (credential, named, ends) => {
  const input = { type: "cancel", by: "user_1", ...(named === undefined ? {} : { credential: named }) } as const
  const events = accept(running(credential), input, accepting)
  expect(events.map((event) => event.type)).toEqual(ends ? ["run_ended"] : [])
})

test("words and resumptions leave in the journal with what their sender came in", () => {
  const conversation = emptyConversation(newId("conv"), newId("user"))
  const words = { type: "message", id: newId("msg"), text: "hi", when: "queue", credential: "tok_a" } as const
  expect(accept(conversation, words, accepting)[0]).toMatchObject({ type: "run_started", credential: "tok_a" })
  const cancelled = running("tok_a")
  stage(cancelled, [{ type: "run_ended", status: "cancelled" }], 2)
  const resumed = accept(cancelled, { type: "resume", by: "user_1", credential: "sess_b" }, accepting)
  expect(resumed).toMatchObject([{ type: "run_started", credential: "sess_b" }])
})
