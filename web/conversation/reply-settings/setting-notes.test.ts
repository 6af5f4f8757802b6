import { expect, test } from "vitest"
import type { Item } from "../../../src/client/index.ts"
import type { ListedModel } from "../../../src/protocol/index.ts"
import { settingNotes } from "./setting-notes.ts"

const model = (reasoning: boolean, says: "catalogue" | "assumed", tools = true): ListedModel => ({
  ...{ name: "m", provider: "p", need: null, available: true, aliases: [], features: [], contextTokens: 1000 },
  ...{ can: { tools, images: false, files: false, reasoning } },
  sources: { contextTokens: says, tools: says, images: says, files: says, reasoning: says },
})

const leftOut = (name: string): Item => ({
  ...{ type: "step", key: "1", step: "left_out", at: "" },
  detail: { model: name, settings: [{ name: "temperature", because: "it takes none" }] },
})

test("a model that does not think is said to leave out what is about thinking", () => {
  const notes = settingNotes(model(false, "catalogue"), [])
  expect(Object.keys(notes)).toEqual(["effort", "thinking", "thinkingTokens"])
  expect(notes.effort).toContain("does not think")
  expect(settingNotes(model(true, "catalogue"), [])).toEqual({})
})

test("what is only assumed is said to be", () => {
  expect(settingNotes(model(false, "assumed"), []).effort).toContain("Nobody has said")
})

test("what the model was found to leave out in this conversation is said, of this model only", () => {
  expect(settingNotes(model(true, "catalogue"), [leftOut("m"), leftOut("other")])).toEqual({
    temperature: "Left out: it takes none.",
  })
  expect(settingNotes(model(true, "catalogue"), [leftOut("other")])).toEqual({})
})

test("where no tools are called it changes nothing how many at a time", () => {
  expect(settingNotes(model(true, "catalogue", false), []).parallelCalls).toContain("calls no tools")
})
