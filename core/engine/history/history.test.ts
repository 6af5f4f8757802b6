import { describe, expect, test } from "vitest"
import type { Part } from "../../protocol/conversation/message.ts"
import { cutPoint } from "./cut.ts"
import { historyFor } from "./history.ts"
import type { HistoryMessage } from "../model.ts"
import { call, type Staged, staged, text } from "../staged.fixture.ts"

const shown = ({ conversation }: Staged, model = "m") => historyFor(conversation, model)
const roles = (history: readonly HistoryMessage[]) => history.map(({ role }) => role)
const wordsOf = (history: readonly HistoryMessage[]) => history.flatMap((m) => (m.role === "user" ? [m.text] : []))
const thought = (model: string): Part => ({ type: "reasoning", text: `${model} thinks`, model })
const words = (tokens: number) => "x".repeat(4 * tokens)

/** Cuts like the loop: while it is too long and something can be removed. */
function cut(story: Staged, budget: number): number {
  let cuts = 0
  for (let point = cutPoint(story.conversation, budget); point; point = cutPoint(story.conversation, budget)) {
    story.cuts(point.seq)
    if (++cuts > 100) throw new Error("cutting does not end")
  }
  return cuts
}

describe("the history for a model", () => {
  test("contains the messages, with each result in the position of its call", () => {
    const story = staged()
      .asks("Hello?")
      .calls("b", "a")
      .result(2)
      .result(1)
      .says("Done.")
      .ends("completed")
      .asks("Thanks")
    expect(shown(story)).toMatchObject([
      { role: "user", text: "Hello?" },
      { role: "assistant", parts: [{ name: "b" }, { name: "a" }] },
      {
        role: "tool",
        results: [
          { callId: call(1), name: "b", text: "result 1" },
          { callId: call(2), name: "a" },
        ],
      },
      { role: "assistant", parts: [{ type: "text", text: "Done." }] },
      { role: "user", text: "Thanks" },
    ])
  })

  test("leaves out an empty reply, which providers reject", () => {
    expect(roles(shown(staged().asks("a").answers().asks("b")))).toEqual(["user", "user"])
  })

  test("leaves out a reply with only thinking, and thinking after the last text or call", () => {
    expect(roles(shown(staged().asks("a").answers(thought("m")).asks("b")))).toEqual(["user", "user"])
    const story = staged().asks("a").answers(thought("m"), text("Hi"), thought("m"), text(" \n")).asks("b")
    expect(shown(story)[1]).toEqual({ role: "assistant", parts: [thought("m"), text("Hi")] })
    // The first one has no thinking left, so there is nothing to remove for another model.
    expect(staged().asks("a").answers(thought("m")).conversation.reasoners.size).toBe(0)
  })

  test("has a user message between a cancelled reply and that of the resumed run", () => {
    const story = staged().asks("Count.").broken("One, t").ends("cancelled").run()
    expect(shown(story)).toMatchObject([{ role: "user" }, { role: "assistant" }, { role: "user", text: "Go on." }])
    story.says("Two.").ends("completed").asks("And?")
    expect(roles(shown(story))).toEqual(["user", "assistant", "user", "assistant", "user"])
    expect(wordsOf(shown(story))).toEqual(["Count.", "Go on.", "And?"])
  })

  test("has no such message if the user sent one after the cancel", () => {
    const story = staged().asks("Count.").broken("One, t").ends("cancelled").asks("Stop!")
    expect(wordsOf(shown(story))).toEqual(["Count.", "Stop!"])
  })

  test("contains the late result of a write before the next user message", () => {
    const story = staged().asks("Write.").calls("write").proposes(1).decides(1, "commit").starts(1)
    story.result(1, "interrupted").ends("cancelled")
    story.add({ type: "late_result", callId: call(1), status: "ok", text: "Written." }).asks("And now?")
    expect(wordsOf(shown(story)).at(-1)).toMatch(/^\[write was reported as interrupted.*ok\. Written\.\]\n\nAnd now\?$/)
    expect(wordsOf(shown(story.answers("x").asks("More"))).at(-1)).toBe("More")
  })
})

describe("a model's private reasoning", () => {
  const story = () => staged().asks("Why?").says(thought("m"), "Because.").ends("completed").asks("Really?")

  test("is shown to the model that wrote it", () => {
    expect(shown(story(), "m")[1]).toMatchObject({ parts: [{ type: "reasoning" }, { type: "text" }] })
  })

  test("is dropped when another model continues", () => {
    expect(shown(story(), "other")[1]).toEqual({ role: "assistant", parts: [{ type: "text", text: "Because." }] })
  })

  test("is kept per model after a switch and back", () => {
    const both = story().says(thought("other"), "Yes.").ends("completed").asks("Sure?")
    const authors = (model: string) =>
      shown(both, model).flatMap((m) =>
        m.role === "assistant" ? m.parts.flatMap((part) => (part.type === "reasoning" ? [part.model] : [])) : [],
      )
    expect(authors("m")).toEqual(["m"])
    expect(authors("other")).toEqual(["other"])
    expect(authors("third")).toEqual([])
  })

  test("is dropped without separating a call from its result", () => {
    const { parts } = { parts: [thought("m"), { type: "call", id: call(1), name: "read", input: {} }] as Part[] }
    const calling = staged()
      .asks("a")
      .says(...parts)
      .result(1)
    expect(shown(calling, "other")).toMatchObject([
      { role: "user" },
      { role: "assistant", parts: [{ type: "call" }] },
      { role: "tool", results: [{ callId: call(1) }] },
    ])
  })
})

describe("a history that exceeds its budget", () => {
  /** Turns of about 100 tokens each. */
  function long(turns: number): Staged {
    const story = staged()
    for (let n = 1; n <= turns; n++) story.asks(`${n} ${words(40)}`).answers(words(50))
    return story.asks("And now?")
  }

  test("is not touched while it fits", () => {
    const story = long(9)
    expect(cutPoint(story.conversation, story.conversation.tokens)).toBeUndefined()
  })

  test("is cut to half its budget at once, and not again soon", () => {
    const story = long(20)
    const budget = story.conversation.tokens - 1
    expect(cut(story, budget)).toBe(1)
    expect(story.conversation.tokens).toBeLessThanOrEqual(budget / 2)
    expect(story.conversation.tokens).toBeGreaterThan(budget / 2 - 150)
    let turns = 0
    for (; !cutPoint(story.conversation, budget); turns++) story.answers(words(50)).asks(words(40))
    expect(turns).toBeGreaterThanOrEqual(9)
  })

  test("is cut to half also if the turns differ widely in size", () => {
    const story = staged().asks("1").answers("a").asks("2").calls("read").result(1, "ok", words(900)).answers("b")
    story.asks("3").answers(words(200)).asks("4")
    expect(cut(story, 1000)).toBe(1)
    expect(wordsOf(shown(story))).toEqual(["3", "4"])
  })

  test("starts with a user message after a cut", () => {
    const story = long(20)
    cut(story, 700)
    expect(shown(story)[0]).toMatchObject({ role: "user" })
  })

  test("is cut inside the current run if that alone is too long, without its question", () => {
    const story = staged().asks("old").answers("x").asks("The question")
    for (let n = 1; n <= 10; n++) story.calls("read").result(n, "ok", words(100))
    cut(story, 500)
    const history = shown(story)
    expect(history[0]).toEqual({ role: "user", text: "The question" })
    expect(history.at(-1)).toMatchObject({ role: "tool", results: [{ callId: call(10) }] })
    expect(history.length).toBeLessThan(12)
  })

  test("keeps the question of a run that was resumed without a new message", () => {
    const story = staged()
      .asks("old")
      .answers(words(100))
      .asks("The question")
      .broken(words(100))
      .ends("cancelled")
      .run()
    for (let n = 1; n <= 5; n++) story.calls("read").result(n, "ok", words(100))
    cut(story, 300)
    expect(wordsOf(shown(story))).toContain("The question")
  })

  test("retains what cannot be cut, of any length", () => {
    const story = staged().asks(words(1000)).calls("read", "read").result(1, "ok", words(1000)).result(2)
    expect(cutPoint(story.conversation, 10)).toBeUndefined()
    expect(shown(story)).toHaveLength(3)
  })
})
