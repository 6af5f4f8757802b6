import fc from "fast-check"
import { expect, test } from "vitest"
import { mendText } from "../../protocol/text/text.ts"
import { reasoningOf } from "../../protocol/conversation/reasoning.ts"
import { LiveThinking } from "./live-thinking.ts"

const still = { now: () => 0 }

test("what is shown of it while it comes is what is kept, whatever a provider sends and wherever it cuts", () => {
  const unit = fc.constantFrom("a", "\0", "\ud83d", "\udc4b", "é", "👋🏽", "")
  const block = fc.array(fc.array(unit, { maxLength: 4 }).map((units) => units.join("")))
  fc.assert(
    fc.property(fc.array(block, { maxLength: 4 }), (blocks) => {
      const thinking = new LiveThinking(still)
      let shown = ""
      for (const deltas of blocks) {
        for (const delta of deltas) shown += thinking.more(delta)
        shown += thinking.end(mendText(deltas.join(""))).rest
        expect(thinking.offset).toBe(shown.length)
      }
      const parts = blocks.map((deltas) => ({ type: "reasoning" as const, text: mendText(deltas.join("")) }))
      expect(shown).toBe(reasoningOf(parts)?.text ?? "")
    }),
  )
})

test("a model that tells only whole blocks is shown with them, without a time that nobody saw", () => {
  const thinking = new LiveThinking(still)
  expect(thinking.hasBegun).toBe(false)
  expect(thinking.end("Hm.")).toEqual({ rest: "Hm." })
  expect(thinking.end("And so.")).toEqual({ rest: "\n\nAnd so." })
  expect(thinking.hasBegun).toBe(true)
})

test("the time of each block counts from its first sign, and pauses between them do not", () => {
  let now = 1000
  const thinking = new LiveThinking({ now: () => now })
  expect(thinking.more("")).toBe("")
  now += 3000
  thinking.more("Hm.")
  expect(thinking.ms).toBe(3000)
  now += 1000
  expect(thinking.end("Hm.")).toEqual({ rest: "", ms: 4000 })
  now += 60_000
  thinking.more("Again")
  now += 500
  expect(thinking.ms).toBe(4500)
})
