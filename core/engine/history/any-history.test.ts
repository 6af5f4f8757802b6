import fc from "fast-check"
import { expect, test } from "vitest"
import type { JsonObject } from "../../protocol/schema.ts"
import { shortenHistory } from "../ask/shorten-history.ts"
import { replacedBefore, summaryItems, summaryRequest } from "../ask/compact.ts"
import { cutPoint } from "./cut.ts"
import { historyFor } from "./history.ts"
import { HISTORY_SHARE, type HistoryMessage, type Model } from "../model.ts"
import type { Ports } from "../ports.ts"
import { staged } from "../staged.fixture.ts"

const wordsOf = (history: readonly HistoryMessage[]) => history.flatMap((m) => (m.role === "user" ? [m.text] : []))
const words = (tokens: number) => "x".repeat(4 * tokens)

/** An action on a conversation, with sizes in tokens. */
type Act =
  | { readonly type: "ask" | "steer" | "answer" | "break" | "fail"; readonly size: number }
  | { readonly type: "call"; readonly sizes: readonly number[] }
  | { readonly type: "resume" | "cut" | "room" | "compact"; readonly size: number }

const size = fc.integer({ min: 1, max: 300 })
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ type: fc.constantFrom("ask" as const, "steer" as const, "answer" as const, "break" as const), size }),
  fc.record({ type: fc.constantFrom("resume" as const, "fail" as const), size }),
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant("call" as const), sizes: fc.array(size, { minLength: 1, maxLength: 4 }) }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("room" as const), size: fc.integer({ min: 10, max: 2000 }) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("compact" as const), size }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("cut" as const), size: fc.integer({ min: 10, max: 2000 }) }) },
)

class Story {
  readonly staged = staged()
  /** The messages of the current question. */
  questions: string[] = []
  #number = 0
  #results = 0

  constructor() {
    this.#ask(1)
  }

  #ask(size: number): void {
    const question = `Question ${++this.#number} ${words(size)}`
    this.questions = [question]
    this.staged.asks(question)
  }

  perform(given: Act): void {
    const { conversation } = this.staged
    const working = conversation.run?.status === "running"
    if (given.type === "cut") return this.#cut(given.size)
    if (given.type === "room") return this.#room(given.size)
    if (given.type === "compact") return this.#sumUp(0, given.size)
    if (given.type === "ask") return working ? undefined : this.#ask(given.size)
    if (given.type === "resume") {
      const status = conversation.run?.status
      if (status === "cancelled" || status === "failed") this.staged.run()
      return
    }
    if (!working) return
    if (given.type === "call") return this.#call(given.sizes)
    if (given.type === "answer") this.staged.answers(words(given.size))
    if (given.type === "break") this.staged.broken(words(given.size)).ends("cancelled")
    if (given.type === "fail") this.staged.ends("failed")
    if (given.type === "steer") {
      // A message before anything else in a run is its question.
      if (conversation.run?.firstSeq === conversation.seq + 1) this.questions = []
      this.questions.push(`Steer ${++this.#number} ${words(given.size)}`)
      this.staged.words(this.questions.at(-1) as string)
    }
  }

  #call(sizes: readonly number[]): void {
    this.staged.calls(...sizes.map((size, n): [string, JsonObject] => ["read", { q: words(size), n }]))
    for (const size of sizes) this.staged.result(++this.#results, "ok", words(size))
  }

  #cut(budget: number): void {
    const { conversation } = this.staged
    const before = conversation.tokens
    const point = cutPoint(conversation, budget)
    if (before <= budget) return expect(point).toBeUndefined()
    if (!point) return
    this.staged.add({ type: "history_cut", ...point })
    // Each cut removes exactly what it reports, and a second one removes nothing: half, or all that can be removed, is
    // gone.
    expect(before - conversation.tokens).toBe(point.tokens)
    expect(point.tokens).toBeGreaterThan(0)
    expect(cutPoint(conversation, budget / 2)?.summary ?? "dropped").toBe("dropped")
  }

  /** Makes room as the loop does: it terminates, and summarizes once at most. */
  #room(budget: number): void {
    const { conversation } = this.staged
    const model = { contextTokens: budget / HISTORY_SHARE } as Model
    const done: string[] = []
    for (;;) {
      const event = shortenHistory({ conversation, ports: {} as Ports }, model)
      if (!event) break
      const before = conversation.tokens
      this.staged.add(event)
      done.push(event.type === "compaction" ? event.what : "cut")
      if (event.type === "compaction" && event.what === "due") this.#sumUp(budget, budget % 100)
      else expect(before - conversation.tokens).toBe((event as { tokens?: number }).tokens)
    }
    expect(done.filter((what) => what === "due").length).toBeLessThanOrEqual(1)
    expect(done.length).toBeLessThanOrEqual(4)
    met.push(...done)
  }

  #sumUp(budget: number, size: number): void {
    const { conversation } = this.staged
    const point = cutPoint(conversation, budget, "replaced")
    if (!point) return
    const older = replacedBefore(conversation, point.seq)
    expectWords(summaryRequest(older, { room: 1000, most: size }).history)
    // Every third one fails and changes nothing.
    if (size % 3 === 0) return void this.staged.add({ type: "compaction", what: "failed", problem: "refused" })
    const before = conversation.tokens
    const kept = summaryItems(conversation, older, { most: size })
    const made = { seq: point.seq, summary: `So far ${words(size)}`, kept }
    this.staged.add({ type: "compaction", what: "summary", ...made })
    expect(conversation.marks.filter(({ isSummary }) => isSummary)).toHaveLength(1)
    expect(before - conversation.tokens + (conversation.marks[0]?.tokens ?? 0)).toBe(point.tokens)
    met.push("summary")
  }
}

test("in any case a history starts with a user message, pairs every call, and contains the current question", () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
      const story = new Story()
      for (const given of acts) {
        story.perform(given)
        const { conversation } = story.staged
        expect(conversation.tokens).toBe(conversation.marks.reduce((sum, mark) => sum + mark.tokens, 0))
        const history = historyFor(conversation, "m")
        expectPaired(history)
        if (conversation.run?.status !== "running") continue
        expect(history.at(-1)?.role).not.toBe("assistant")
        expect(wordsOf(history)).toEqual(expect.arrayContaining(story.questions))
      }
    }),
    // Random cases seldom have enough long results in a row to be replaced by references.
    { numRuns: 150, examples: [[[...LONG_RESULTS, { type: "room", size: 2000 }]]] },
  )
  expect(new Set(met)).toEqual(new Set(["references", "due", "summary", "cut"]))
})

const met: string[] = []
const LONG_RESULTS = Array.from({ length: 6 }, (): Act => ({ type: "call", sizes: [300] }))

/** A summary request contains only text, whatever was called before. */
function expectWords(history: readonly HistoryMessage[]): void {
  expect(history.map(({ role }) => role)).toEqual(["user"])
  expect(wordsOf(history)[0]?.trim()).not.toBe("")
}

function expectPaired(history: readonly HistoryMessage[]): void {
  expect(history[0]?.role).toBe("user")
  history.forEach((message, index) => {
    const before = history[index - 1]
    const expected =
      before?.role === "assistant" ? before.parts.flatMap((part) => (part.type === "call" ? [part.id] : [])) : []
    const found = message.role === "tool" ? message.results.map(({ callId }) => callId) : []
    expect(found).toEqual(expected)
    if (message.role === "assistant") expect(before?.role).not.toBe("assistant")
  })
}
