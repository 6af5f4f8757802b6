import fc from "fast-check"
import { expect, test } from "vitest"
import { pauseReason } from "../../core/engine/conversation.ts"
import { Story } from "../client/client-story.ts"

test("a stream reports a pause exactly when the state of the loop starts to wait for a person", () => {
  let pauses = 0
  const dice = fc.array(fc.nat(10_000), { minLength: 20, maxLength: 250 })
  fc.assert(
    fc.property(dice, (rolls) => {
      let waited = false
      let read = 0
      new Story(rolls, ({ frames, conversation }) => {
        const told = frames
          .slice(read)
          .filter(({ type, data }) => type === "done" && (data as { status: string }).status === "paused")
        const waits = pauseReason(conversation) !== undefined
        expect(told).toHaveLength(waits && !waited ? 1 : 0)
        pauses += told.length
        waited = waits
        read = frames.length
      })
    }),
    { numRuns: 200 },
  )
  expect(pauses).toBeGreaterThan(30) // usually 100 and more, by chance; none would show nothing
}, 120_000)
