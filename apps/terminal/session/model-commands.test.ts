import { expect, test } from "vitest"
import type { ListedModel } from "../../../core/protocol/answers.ts"
import type { ModelEndpoint } from "../../../core/protocol/models/providers.ts"
import type { Line } from "../line.ts"
import { modelCommand } from "./model-commands.ts"
import type { TerminalSession } from "./terminal-session.ts"

const listed = (name: string, more: Partial<ListedModel> = {}): ListedModel => ({
  ...{ name, provider: "p", aliases: [], features: [], contextTokens: 128_000, available: true, need: null },
  can: { tools: true, images: false, files: false, reasoning: false },
  ...more,
})

const SOURCES = { contextTokens: "endpoint", price: "assumed" } as ListedModel["sources"]

/** Returns what `/model` prints, requests and chooses with these models. */
async function typed(words: string, items: readonly ListedModel[], endpoints: readonly ModelEndpoint[] = []) {
  const printed: string[] = []
  const chosen: string[] = []
  const asked: unknown[] = []
  const windows = new Map<string, number>()
  const client = {
    listModels: async (given: unknown) => {
      asked.push(given)
      return { items, default: "p/a", endpoints }
    },
  }
  const session = {
    client,
    print: (...lines: Line[]) => void printed.push(...lines.map((line) => line.map(({ text }) => text).join(""))),
    setModel: async (name: string) => void chosen.push(name),
    windows,
  }
  await modelCommand(session as unknown as TerminalSession, words)
  return { printed, chosen, asked, windows }
}

test("/model lists context size, price and abilities of each model, and the state of the endpoints", async () => {
  const { printed, asked } = await typed(
    "",
    [
      listed("p/locked", { available: false, need: "set P_KEY, or store your own" }),
      listed("p/a", { price: { input: 3, output: 15 } }),
      listed("p/b\u202e", { can: { tools: false, images: true, files: false, reasoning: false } }),
    ],
    [{ provider: "p", state: "failed", models: 3, leftOut: 0, answeredAt: null, problem: "it refused the key" }],
  )
  expect(printed).toEqual([
    "",
    "* p/a · 128k tokens · $3 in, $15 out per million · tools",
    "  p/b⟨U+202E⟩ · 128k tokens · price unknown · no tools, images",
    "The models of p could not be loaded: it refused the key.",
    "1 other model needs a key or an address: /model and part of a name shows what to set.",
    "/model NAME selects one.",
  ])
  expect(asked).toEqual([{ query: { wait: 3 } }])
})

test("a long list is shortened, can be searched, and is refreshed on request", async () => {
  const many = Array.from({ length: 400 }, (_, at) => listed(`openrouter/Model-${at}`))
  const { printed, asked } = await typed("again", many)
  expect(printed).toHaveLength(43)
  expect(printed.at(-2)).toBe("… and 360 more models. /model LETTERS filters them.")
  expect(asked).toEqual([{ query: { wait: 3, refresh: "true" } }])
  const found = await typed("model-39", many)
  expect(found.printed.filter((line) => line.includes("openrouter/"))).toHaveLength(11)
  expect(found.chosen).toEqual([])
})

test("a name chooses a model; the server judges unlisted ones, and text that is not a name is refused", async () => {
  const models = [
    listed("p/a", { aliases: ["a"] }),
    listed("p/b", { can: { ...listed("p/b").can!, tools: false }, sources: SOURCES }),
  ]
  expect((await typed("a", models)).chosen).toEqual(["p/a"])
  expect((await typed("groq/new-one", models)).chosen).toEqual(["groq/new-one"])
  const without = await typed("p/b", models)
  expect([without.chosen, without.printed]).toEqual([
    ["p/b"],
    [
      "Model: p/b. 128k tokens · price unknown · no tools. It cannot use tools, so agents that need tools cannot use it.",
      "Reported by the endpoint: window. Assumed: price.",
    ],
  ])
  expect(without.windows.get("p/b")).toBe(128_000)
  const none = await typed("nothing", models)
  expect([none.chosen, none.printed]).toEqual([[], ['! There is no model "nothing". /model lists them.']])
})

test("a name without provider chooses the only available model with it, not an alias of an unavailable one", async () => {
  const models = [
    listed("qwen/qwen3-8b", { aliases: ["qwen3-8b"], available: false, need: "LM Studio does not have it" }),
    listed("lmstudio/qwen3-8b"),
    listed("lmstudio/gemma-3-4b"),
  ]
  expect((await typed("gemma-3-4b", models)).chosen).toEqual(["lmstudio/gemma-3-4b"])
  const found = await typed("qwen3-8b", models)
  expect([found.chosen, found.printed[0]]).toEqual([
    ["lmstudio/qwen3-8b"],
    "Model: lmstudio/qwen3-8b. 128k tokens · price unknown · tools.",
  ])
})
