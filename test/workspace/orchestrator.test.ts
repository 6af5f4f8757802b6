import { describe, expect, test } from "vitest"
import type { Routing } from "../../src/agent/definition/router.ts"
import { orchestrator } from "../../src/packs/workspace/routing/orchestrator.ts"
import { lowercaseWords } from "../../src/packs/workspace/routing/words.ts"
import type { Embedder } from "../../src/protocol/ports/workspace.ts"
import { heldBack, measure, profiles, utterances } from "../support/workspace/utterances.ts"
import { TurnedClock } from "../support/loop/world.ts"
import { countWork } from "../support/worked.ts"

const never = new AbortController().signal
const asks = (words: string, more: Partial<Routing> = {}): Routing => ({ words, history: [], profiles, ...more })

/** Counts words: texts that share some are alike. What it is asked is kept, and each answer can be held up. */
class WordCounter implements Embedder {
  readonly name = "test/words"
  readonly dimensions = 64
  readonly asked: (readonly string[])[] = []
  before: () => Promise<void> = async () => {}

  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    this.asked.push(texts)
    await this.before()
    signal.throwIfAborted()
    return texts.map((text) => {
      const vector = new Float32Array(this.dimensions)
      for (const word of lowercaseWords(text)) {
        const place = [...word].reduce((sum, sign) => (sum * 31 + (sign.codePointAt(0) ?? 0)) % this.dimensions, 7)
        vector[place] = (vector[place] ?? 0) + 1
      }
      return vector
    })
  }
}

describe("by rules alone", () => {
  test("leaves out nothing that is needed, and is sure of most requests", async () => {
    const { exact, more, unsure, missing } = await measure(orchestrator(), utterances)
    expect(utterances.length).toBeGreaterThanOrEqual(130)
    expect(missing).toEqual([])
    // 13 are about nothing and 5 about all there is: of those it should not be sure.
    expect(unsure.length).toBeLessThanOrEqual(33)
    expect(exact.length).toBeGreaterThanOrEqual(90)
    expect(exact.length + more.length + unsure.length).toBe(utterances.length)
  })

  test("does so for words it was not made for", async () => {
    const { exact, unsure, missing } = await measure(orchestrator(), heldBack)
    expect(missing).toEqual([])
    expect(unsure.length).toBeLessThanOrEqual(17)
    expect(exact.length).toBeGreaterThanOrEqual(38)
  })

  test("says why, in our words and not in the person's", async () => {
    const decided = await orchestrator()(asks("add a task: the secret is swordfish"), never)
    expect(decided).toEqual({ profiles: ["task"], reason: 'It says "task".', scores: { task: 1 }, by: "rules" })
  })

  test.each([
    ["a megabyte", "task ".repeat(200_000)],
    ["nothing but signs", "?!".repeat(400)],
    ["quotes and renames without end", `rename ${"a ' to ".repeat(140)}`],
    ["no letters", "\u0000\u200b\ud83d"],
  ])("%s is nothing to be sure of, at once", async (_what, words) => {
    const worked = countWork()
    const { by } = await orchestrator()(asks(words), never)
    expect(worked()).toBeLessThan(100)
    expect(by).toBe("unsure")
  })
})

describe("by likeness", () => {
  const ask = (embedder: Embedder, words: string, clock = new TurnedClock()) =>
    orchestrator({ embedder, clock })(asks(words), never)

  test("is asked only where words do not tell", async () => {
    const embedder = new WordCounter()
    expect(await ask(embedder, "list my clients")).toMatchObject({ by: "rules" })
    expect(embedder.asked).toEqual([])
    expect(await ask(embedder, "water the plants")).toMatchObject({ by: "embedder", profiles: ["task"] })
  })

  test("tells how much each profile is meant, and is not sure where none is", async () => {
    const { scores } = await ask(new WordCounter(), "water the plants")
    expect(Object.keys(scores).sort()).toEqual(profiles.map(({ name }) => name).sort())
    expect(scores.task).toBeGreaterThan(0.6)
    expect(await ask(new WordCounter(), "zzyzx")).toMatchObject({ by: "unsure", profiles: [] })
  })

  test("reads the examples once, however many ask", async () => {
    const embedder = new WordCounter()
    const route = orchestrator({ embedder, clock: new TurnedClock() })
    await Promise.all(["water the plants", "plants"].map(async (words) => route(asks(words), never)))
    expect(embedder.asked.filter((texts) => texts.length > 1)).toHaveLength(1)
  })

  test("nobody waits for an embedder that is not ready; it goes on getting ready for whoever comes next", async () => {
    const [embedder, clock] = [new WordCounter(), new TurnedClock()]
    const { promise: ready, resolve } = Promise.withResolvers<void>()
    embedder.before = () => ready
    const route = orchestrator({ embedder, clock })
    const first = route(asks("water the plants"), never)
    await clock.turn(200)
    expect(await first).toMatchObject({ by: "unsure" })
    resolve()
    await new Promise((done) => setImmediate(done))
    expect(await route(asks("water the plants"), never)).toMatchObject({ by: "embedder" })
    expect(embedder.asked.filter((texts) => texts.length > 1)).toHaveLength(1)
  })

  test("one that fails is no error: not sure, and tried again with the next words", async () => {
    const embedder = new WordCounter()
    embedder.before = () => Promise.reject(new Error("no weights"))
    const route = orchestrator({ embedder, clock: new TurnedClock() })
    expect(await route(asks("water the plants"), never)).toMatchObject({ by: "unsure" })
    embedder.before = async () => {}
    expect(await route(asks("water the plants"), never)).toMatchObject({ by: "embedder" })
  })

  test.each<[string, Float32Array[]]>([
    ["nothing", []],
    ["zeros", [new Float32Array(64)]],
    ["no numbers", [new Float32Array(64).fill(Number.NaN)]],
  ])("one that answers %s is not sure of anything", async (_what, vectors) => {
    const embedder = { name: "odd", dimensions: 64, embed: async () => vectors }
    expect(await ask(embedder, "water the plants")).toMatchObject({ by: "unsure" })
  })

  test("who goes away is let go at once", async () => {
    const embedder = new WordCounter()
    embedder.before = () => new Promise(() => {})
    const leaving = new AbortController()
    const decided = orchestrator({ embedder, clock: new TurnedClock() })(asks("water the plants"), leaving.signal)
    leaving.abort()
    expect(await decided).toMatchObject({ by: "unsure" })
  })
})

test("what an old exchange was about is not pointed back to", async () => {
  const turns = (words: string) => [
    { role: "user", text: words } as const,
    { role: "assistant", parts: [{ type: "text", text: "Well." }] } as const,
  ]
  const route = orchestrator()
  const near = [...turns("list my notes"), ...turns("hm")]
  expect(await route(asks("delete it", { history: near }), never)).toMatchObject({ profiles: ["note"] })
  const far = [...turns("list my notes"), ...turns("hm"), ...turns("well"), ...turns("so")]
  expect(await route(asks("delete it", { history: far }), never)).toMatchObject({ by: "unsure" })
})
