import { describe, expect, test } from "vitest"
import type { Routing } from "../../core/engine/definition/agent.ts"
import { orchestrator } from "../../packs/workspace/routing/orchestrator.ts"
import { heldBack, measure, profiles, utterances } from "./utterances.ts"
import { countWork } from "../support/worked.ts"

const never = new AbortController().signal
const asks = (words: string, more: Partial<Routing> = {}): Routing => ({ words, history: [], profiles, ...more })

describe("by rules alone, the router", () => {
  test("leaves out no needed profile, and is sure of most requests", async () => {
    const { exact, more, unsure, missing } = await measure(orchestrator, utterances)
    expect(utterances.length).toBeGreaterThanOrEqual(130)
    expect(missing).toEqual([])
    // 13 are about nothing and 5 about everything: of those it should not be sure.
    expect(unsure.length).toBeLessThanOrEqual(33)
    expect(exact.length).toBeGreaterThanOrEqual(90)
    expect(exact.length + more.length + unsure.length).toBe(utterances.length)
  })

  test("also does so for messages that it was not tuned on", async () => {
    const { exact, unsure, missing } = await measure(orchestrator, heldBack)
    expect(missing).toEqual([])
    expect(unsure.length).toBeLessThanOrEqual(17)
    expect(exact.length).toBeGreaterThanOrEqual(38)
  })

  test("gives its reason in our words and not in the person's", async () => {
    const decided = await orchestrator(asks("add a task: the secret is swordfish"), never)
    expect(decided).toEqual({ profiles: ["task"], reason: 'It says "task".', scores: { task: 1 }, by: "rules" })
  })

  test.each([
    ["a megabyte", "task ".repeat(200_000)],
    ["nothing but signs", "?!".repeat(400)],
    ["quotes and renames without end", `rename ${"a ' to ".repeat(140)}`],
    ["no letters", "\u0000\u200b\ud83d"],
  ])("is unsure about %s, without delay", async (_what, words) => {
    const worked = countWork()
    const { by } = await orchestrator(asks(words), never)
    expect(worked()).toBeLessThan(100)
    expect(by).toBe("unsure")
  })
})

test("a message does not refer back to the subject of an old exchange", async () => {
  const turns = (words: string) => [
    { role: "user", text: words } as const,
    { role: "assistant", parts: [{ type: "text", text: "Well." }] } as const,
  ]
  const near = [...turns("list my notes"), ...turns("hm")]
  expect(await orchestrator(asks("delete it", { history: near }), never)).toMatchObject({ profiles: ["note"] })
  const far = [...turns("list my notes"), ...turns("hm"), ...turns("well"), ...turns("so")]
  expect(await orchestrator(asks("delete it", { history: far }), never)).toMatchObject({ by: "unsure" })
})
