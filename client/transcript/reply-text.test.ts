import { describe, expect, test } from "vitest"
import { Finish } from "../../core/protocol/conversation/message.ts"
import { CATALOGUE } from "../../core/protocol/error-catalogue.ts"
import {
  describeEnding,
  describeNotice,
  describeWaiting,
  formatThinking,
  formatThought,
  lastReasoning,
  lastThought,
} from "./reply-text.ts"
import { emptyTranscript } from "./transcript.ts"

const reply = (finish: Finish, content: string) => ({ role: "assistant", finish, content, toolCalls: null }) as const
const codes = Object.keys(CATALOGUE)
const machineWord = /\b[a-z]+_[a-z_]+\b/

describe("the state of a reply as sentences", () => {
  test("for every ending except the normal ones, with and without text", () => {
    expect(describeEnding(reply("stop", "Hi"))).toBeUndefined()
    expect(describeEnding({ ...reply("calls", ""), toolCalls: [] })).toBeUndefined()
    for (const finish of Finish.options.filter((each) => each !== "stop" && each !== "calls"))
      expect(describeEnding(reply(finish, "Hi"))).toMatch(/^[A-Z].*\.$/)
    for (const finish of Finish.options) expect(describeEnding(reply(finish, " \n"))).toMatch(/^[A-Z].*\.$/)
  })

  test("without a code, for any of them", () => {
    for (const code of codes) {
      expect(describeNotice({ notice: "restarted", detail: code })).not.toMatch(machineWord)
      const failed = describeNotice({ notice: "failed", detail: `${code}: It is over: for now.` })
      expect(failed).toBe("This run failed. It is over: for now.")
      expect(describeWaiting("waiting", { provider: "OpenAI", because: code, seconds: 20 })).not.toMatch(machineWord)
    }
    expect(describeNotice({ notice: "failed", detail: null })).toBe("This run failed.")
  })

  test("with the awaited party, the reason and the duration", () => {
    expect(describeWaiting("waiting", { provider: "OpenAI", because: "rate_limited", seconds: 20 })).toBe(
      "OpenAI has reached its rate limit: waiting 20 s before the next attempt.",
    )
    const at = new Date(2026, 10, 16, 9, 5, 7).toISOString()
    const more = { provider: "OpenAI", because: "overloaded", seconds: 7, until: at, attempt: 2, attempts: 3 }
    expect(describeWaiting("waiting", more)).toBe(
      "OpenAI is overloaded: waiting 7 s before the next attempt. Request 2 of 3 at 09:05:07.",
    )
    expect(describeWaiting("waiting", "odd")).toBeUndefined()
    expect(describeWaiting("routing", {})).toBeUndefined()
  })
})

test.each([
  [undefined, "Thought"],
  [0, "Thought for 1 s"],
  [12_400, "Thought for 12 s"],
  [60_000, "Thought for 1 min"],
  [125_000, "Thought for 2 min 5 s"],
])("%j ms are shown as %j", (ms, words) => expect(formatThought(ms)).toBe(words))

test("a running call is shown with its last line", () => {
  expect(formatThinking(3000)).toBe("Thinking 3 s")
  expect(lastThought("first\nsecond line \n\n")).toBe("second line")
  expect(lastThought("x".repeat(1000))).toHaveLength(400)
})

test("current reasoning comes before earlier reasoning", () => {
  expect(lastReasoning(emptyTranscript)).toBeUndefined()
  expect(lastReasoning({ ...emptyTranscript, thinking: { text: "now", ms: 5 } })).toEqual({ text: "now", ms: 5 })
})
