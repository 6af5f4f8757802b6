import { expect, test } from "vitest"
import { emptySettings, readSettingsDraft, settingsInShort, settingsPatch, toSettingsDraft } from "./settings-draft.ts"

const ALL = {
  effort: "low",
  thinking: false,
  thinkingTokens: 2048,
  temperature: 0.2,
  maxOutputTokens: 500,
  stop: ["END", "\n\n", " x"],
  parallelCalls: false,
} as const

test("what is set stands in the fields, and is read from them as it was", () => {
  expect(readSettingsDraft(toSettingsDraft({ ...ALL, stop: [...ALL.stop] }))).toEqual({ settings: ALL })
  expect(readSettingsDraft(emptySettings)).toEqual({ settings: {} })
})

test("a number may be written as people write it", () => {
  expect(readSettingsDraft({ ...emptySettings, temperature: " 0,7 " })).toEqual({ settings: { temperature: 0.7 } })
  expect(readSettingsDraft({ ...emptySettings, temperature: ".5" })).toEqual({ settings: { temperature: 0.5 } })
})

test.each([
  ["temperature", "3", "from 0 to 2"],
  ["temperature", "warm", "from 0 to 2"],
  ["maxOutputTokens", "0", "1 to 1,000,000"],
  ["maxOutputTokens", "1.5", "whole number"],
  ["thinkingTokens", "100", "1,024 to 1,000,000"],
  ["stop", "a\nb\nc\nd\ne", "four texts"],
  ["effort", "huge", "one of none, minimal"],
] as const)("a field %s that says %j is told what it takes", (name, text, words) => {
  const { problems } = readSettingsDraft({ ...emptySettings, [name]: text })
  expect(problems?.[name]).toContain(words)
})

test("only what has changed is sent, and what was taken away as taken back", () => {
  expect(settingsPatch({ effort: "low", temperature: 1 }, { effort: "low", stop: ["x"] })).toEqual({
    temperature: null,
    stop: ["x"],
  })
  expect(settingsPatch({ stop: ["x"] }, { stop: ["x"] })).toEqual({})
})

test("what is set is said in short", () => {
  expect(settingsInShort({ effort: "high", temperature: 0.2, parallelCalls: false })).toBe(
    "high effort · temperature 0.2 · one call at a time",
  )
  expect(settingsInShort({})).toBe("")
})
