import { describe, expect, test } from "vitest"
import { Finish } from "../../protocol/conversation/message.ts"
import { CATALOGUE } from "../../protocol/error-catalogue.ts"
import { endingWords, noticeWords, waitingWords } from "./reply-words.ts"

const reply = (finish: Finish, content: string) => ({ role: "assistant", finish, content, toolCalls: null }) as const
const codes = Object.keys(CATALOGUE)
const machineWord = /\b[a-z]+_[a-z_]+\b/

describe("what becomes of a reply is told in sentences", () => {
  test("about every ending but the plain ones, with words and without", () => {
    expect(endingWords(reply("stop", "Hi"))).toBeUndefined()
    expect(endingWords({ ...reply("calls", ""), toolCalls: [] })).toBeUndefined()
    for (const finish of Finish.options.filter((each) => each !== "stop" && each !== "calls"))
      expect(endingWords(reply(finish, "Hi"))).toMatch(/^[A-Z].*\.$/)
    for (const finish of Finish.options) expect(endingWords(reply(finish, " \n"))).toMatch(/^[A-Z].*\.$/)
  })

  test("without a code, whichever it was", () => {
    for (const code of codes) {
      expect(noticeWords({ notice: "restarted", detail: code })).not.toMatch(machineWord)
      const failed = noticeWords({ notice: "failed", detail: `${code}: It is over: for now.` })
      expect(failed).toBe("This run failed. It is over: for now.")
      expect(waitingWords("waiting", { provider: "OpenAI", because: code, seconds: 20 })).not.toMatch(machineWord)
    }
    expect(noticeWords({ notice: "failed", detail: null })).toBe("This run failed.")
  })

  test("with whom is waited for, why, and how long", () => {
    expect(waitingWords("waiting", { provider: "OpenAI", because: "rate_limited", seconds: 20 })).toBe(
      "OpenAI limits our rate: waiting 20 s, then asking again.",
    )
    const at = new Date(2026, 10, 16, 9, 5, 7).toISOString()
    const more = { provider: "OpenAI", because: "overloaded", seconds: 7, until: at, attempt: 2, attempts: 3 }
    expect(waitingWords("waiting", more)).toBe(
      "OpenAI is overloaded: waiting 7 s, then asking again. Request 2 of 3 at 09:05:07.",
    )
    expect(waitingWords("waiting", "odd")).toBeUndefined()
    expect(waitingWords("routing", {})).toBeUndefined()
  })
})
