import { expect, test } from "vitest"
import { emptyTranscript } from "./transcript.ts"
import { lastReasoning, lastThought, thinkingWords, thoughtWords } from "./thought-words.ts"

test.each([
  [undefined, "Thought"],
  [0, "Thought for 1 s"],
  [12_400, "Thought for 12 s"],
  [60_000, "Thought for 1 min"],
  [125_000, "Thought for 2 min 5 s"],
])("%j ms are said as %j", (ms, words) => expect(thoughtWords(ms)).toBe(words))

test("what goes on is said with its last line", () => {
  expect(thinkingWords(3000)).toBe("Thinking 3 s")
  expect(lastThought("first\nsecond line \n\n")).toBe("second line")
  expect(lastThought("x".repeat(1000))).toHaveLength(400)
})

test("what is being thought comes before what was", () => {
  expect(lastReasoning(emptyTranscript)).toBeUndefined()
  expect(lastReasoning({ ...emptyTranscript, thinking: { text: "now", ms: 5 } })).toEqual({ text: "now", ms: 5 })
})
