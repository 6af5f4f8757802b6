import { expect, test } from "vitest"
import { hasCode } from "../../core/protocol/index.ts"
import { readModelName, toModels } from "./model-names.ts"

test("a name contains the agent and the model with all its slashes", () => {
  expect(readModelName("pawl/workspace")).toEqual({ agent: "workspace" })
  expect(readModelName("pawl/files/qwen/qwen3-8b")).toEqual({ agent: "files", model: "qwen/qwen3-8b" })
})

test("every name in the list can be read, and unusable ones are not listed", () => {
  const models = [
    { name: "qwen/qwen3-8b", provider: "lm-studio", available: true },
    { name: "dear", provider: "x", available: false },
  ]
  const { data } = toModels({ agents: ["a", "b"], models })
  expect(data.map(({ id }) => id)).toEqual(["pawl/a", "pawl/b", "pawl/a/qwen/qwen3-8b", "pawl/b/qwen/qwen3-8b"])
  for (const { id } of data) expect(readModelName(id).agent).toMatch(/^[ab]$/)
})

test.each(["", "gpt-5", "pawl", "pawl/", "pawl//x", "pawl/a/", "PAWL/a"])("%j is not a valid name", (name) => {
  expect(() => readModelName(name)).toThrow(expect.toSatisfy((error) => hasCode(error, "unknown_model")))
})
