import { expect, test } from "vitest"
import type { Item } from "../../../../client/index.ts"
import type { ListedModel } from "../../../../core/protocol/index.ts"
import {
  emptySettings,
  readSettingsDraft,
  settingNotes,
  settingsInShort,
  settingsPatch,
  toSettingsDraft,
} from "./settings-draft.ts"

const ALL = {
  effort: "low",
  thinking: false,
  thinkingTokens: 2048,
  temperature: 0.2,
  maxOutputTokens: 500,
  stop: ["END", "\n\n", " x"],
  parallelCalls: false,
} as const

test("settings are shown in the fields and read back unchanged", () => {
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
  ["maxOutputTokens", "0", "from 1 to 1,000,000"],
  ["maxOutputTokens", "1.5", "whole number"],
  ["thinkingTokens", "100", "from 1,024 to 1,000,000"],
  ["stop", "a\nb\nc\nd\ne", "four stop sequences"],
  ["effort", "huge", "one of none, minimal"],
] as const)("a field %s with %j shows its allowed values", (name, text, words) => {
  const { problems } = readSettingsDraft({ ...emptySettings, [name]: text })
  expect(problems?.[name]).toContain(words)
})

test("only changed settings are sent, and removed ones as null", () => {
  expect(settingsPatch({ effort: "low", temperature: 1 }, { effort: "low", stop: ["x"] })).toEqual({
    temperature: null,
    stop: ["x"],
  })
  expect(settingsPatch({ stop: ["x"] }, { stop: ["x"] })).toEqual({})
})

test("settings have a short summary", () => {
  expect(settingsInShort({ effort: "high", temperature: 0.2, parallelCalls: false })).toBe(
    "high effort · temperature 0.2 · one call at a time",
  )
  expect(settingsInShort({})).toBe("")
})

const model = (reasoning: boolean, says: "catalogue" | "assumed", tools = true): ListedModel => ({
  ...{ name: "m", provider: "p", need: null, available: true, aliases: [], features: [], contextTokens: 1000 },
  ...{ can: { tools, images: false, files: false, reasoning } },
  sources: { contextTokens: says, tools: says, images: says, files: says, reasoning: says },
})

const leftOut = (name: string): Item => ({
  ...{ type: "step", key: "1", step: "left_out", at: "" },
  detail: { model: name, settings: [{ name: "temperature", because: "it takes none" }] },
})

test("for a model that does not think, the settings about thinking are marked as ignored", () => {
  const notes = settingNotes(model(false, "catalogue"), [])
  expect(Object.keys(notes)).toEqual(["effort", "thinking", "thinkingTokens"])
  expect(notes.effort).toContain("does not support thinking")
  expect(settingNotes(model(true, "catalogue"), [])).toEqual({})
})

test("an assumption is marked as one", () => {
  expect(settingNotes(model(false, "assumed"), []).effort).toContain("It is unknown")
})

test("settings that the model ignored in this conversation are marked, for this model only", () => {
  expect(settingNotes(model(true, "catalogue"), [leftOut("m"), leftOut("other")])).toEqual({
    temperature: "Ignored: it takes none.",
  })
  expect(settingNotes(model(true, "catalogue"), [leftOut("other")])).toEqual({})
})

test("where no tools are called it changes nothing how many at a time", () => {
  expect(settingNotes(model(true, "catalogue", false), []).parallelCalls).toContain("does not support tools")
})
