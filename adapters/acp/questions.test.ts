import { expect, test } from "vitest"
import type { Client } from "../../client/client.ts"
import { emptyTranscript, type Transcript } from "../../client/transcript/transcript.ts"
import { failure } from "../../core/protocol/errors.ts"
import type { ConnectedEditor } from "./editor.ts"
import { Questions } from "./questions.ts"

const proposal = {
  id: "prop_1",
  callId: "call_1",
  tool: "edit_file",
  summary: "Edit",
  arguments: {},
  status: "pending",
}
const waiting = { ...emptyTranscript, items: [{ type: "proposal", proposal }] } as unknown as Transcript

test("an editor that approves automatically is not asked repeatedly about calls it cannot approve", async () => {
  let asked = 0
  const complaints: unknown[] = []
  const over = Promise.withResolvers<void>()
  const editor = {
    ask: async () => {
      // Ends the test if it is asked without end.
      if (++asked > 20) return new Promise<never>(() => over.resolve())
      return { outcome: "selected", optionId: "yes" }
    },
  } as unknown as ConnectedEditor
  const client = {
    commitProposal: () => Promise.reject(failure("forbidden", { scope: "approve" })),
  } as unknown as Client
  const questions = new Questions({
    ...{ client, editor, id: "conv_1", root: "/" },
    cancelled: async () => {},
    complain: (error) => void (complaints.push(error) === 3 && setImmediate(over.resolve)),
  })
  questions.follow(waiting)
  await over.promise
  expect([asked, complaints.length]).toEqual([3, 3])
})
