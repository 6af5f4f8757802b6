import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { type CallPart, reasoningOf } from "../../protocol/conversation/message.ts"
import { newId, TIME_DIGITS } from "../../protocol/ids.ts"
import { isStorable, mendText } from "../../shared/text/text.ts"
import { systemClock } from "../../shared/time/clock.ts"
import type { ReplyPart } from "../model.ts"
import { LiveThinking, Reply } from "./reply.ts"

const usage = { inputTokens: 1, outputTokens: 2 }
const finish: ReplyPart = { type: "finish", finish: "stop", usage }
const said = (text: string): ReplyPart => ({ type: "text", text })
const called = (input: string, name = "tool"): ReplyPart => ({ type: "call", name, input })

/** Returns the shown and the recorded text of these parts. */
function listen(...parts: ReplyPart[]) {
  const reply = new Reply("model", newId("user"), systemClock)
  const shown = parts.map((part) => reply.add(part)).join("")
  return { reply, shown, kept: textOf(reply) }
}

const textOf = ({ parts }: Reply) => parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")
const callsOf = ({ parts }: Reply) => parts.filter((part): part is CallPart => part.type === "call")
const onlyCall = (input: string) => callsOf(listen(called(input), finish).reply)[0]

describe("the text of a reply", () => {
  test("is shown as it arrives and recorded as it was shown", () => {
    const { reply, shown, kept } = listen(said("Hello "), said("Ada."), finish)
    expect(shown).toBe("Hello Ada.")
    expect(kept).toBe(shown)
    expect(reply).toMatchObject({ finish: "stop", usage, offset: 10 })
  })

  test("is shown exactly as it is recorded, whatever a provider sends and wherever it splits", () => {
    const unit = fc.constantFrom("a", "\0", "\ud83d", "\udc4b", "é", "👋🏽", "")
    const part = fc.oneof(
      { weight: 6, arbitrary: fc.array(unit, { maxLength: 4 }).map((units) => said(units.join(""))) },
      fc.constant<ReplyPart>({ type: "reasoning", text: "hm" }),
      fc.constant(called("{}")),
    )
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const { reply, shown, kept } = listen(...parts, finish)
        expect(kept).toBe(shown)
        expect(reply.offset).toBe(shown.length)
        expect(isStorable(kept)).toBe(true)
      }),
    )
  })

  test("is what was shown if the reply is interrupted anywhere", () => {
    const units = fc.array(fc.constantFrom("a", "\0", "\ud83d", "\udc4b", "👋🏽"), { maxLength: 5 })
    fc.assert(
      fc.property(fc.array(units), (deltas) => {
        const { reply, shown } = listen(...deltas.map((delta) => said(delta.join(""))))
        const kept = reply.shownParts().map((part) => (part.type === "text" ? part.text : ""))
        expect(kept.join("")).toBe(shown)
        expect(reply.offset).toBe(shown.length)
      }),
    )
  })

  test("contains a character whose halves arrive in two deltas, shown with the second", () => {
    const reply = new Reply("model", newId("user"), systemClock)
    expect(reply.add(said("Hi \ud83d"))).toBe("Hi ")
    expect(reply.offset).toBe(3)
    expect(reply.add(said("\udc4b!"))).toBe("👋!")
    expect(reply.offset).toBe(6)
  })

  test("has U+FFFD for half a character", () => {
    expect(listen(said("a\ud83d"), finish).shown).toBe("a\ufffd")
    expect(listen(said("a\ud83d"), said("b"), finish).shown).toBe("a\ufffdb")
    expect(listen(said("\udc4ba"), finish).shown).toBe("\ufffda")
  })

  test("has U+FFFD for NUL", () => {
    expect(listen(said("a\0b"), finish)).toMatchObject({ shown: "a\ufffdb", kept: "a\ufffdb" })
  })

  test("stays in order around thinking and calls", () => {
    const { reply } = listen(said("a"), { type: "reasoning", text: "hm\0" }, said("b"), called("{}"), said("c"), finish)
    expect(reply.parts).toMatchObject([
      { type: "text", text: "a" },
      { type: "reasoning", text: "hm\ufffd", model: "model" },
      { type: "text", text: "b" },
      { type: "call", name: "tool" },
      { type: "text", text: "c" },
    ])
  })

  test("is all that is recorded of an interrupted reply", () => {
    const { reply } = listen({ type: "reasoning", text: "hm" }, said("I will"), called("{}"))
    expect(reply.shownParts()).toEqual([{ type: "text", text: "I will" }])
  })
})

describe("a call", () => {
  test("gets its own id, also if a model repeats a call", () => {
    const { reply } = listen(called("{}"), called("{}"), finish)
    expect(new Set(callsOf(reply).map(({ id }) => id)).size).toBe(2)
  })

  test("keeps its arguments", () => {
    expect(onlyCall('{"a":{"b":[1,null,"x"]}}')).toMatchObject({ input: { a: { b: [1, null, "x"] } } })
  })

  test.each(["", "  ", "{}"])("with the arguments %j has none", (input) => {
    expect(onlyCall(input)).toMatchObject({ input: {} })
    expect(onlyCall(input)).not.toHaveProperty("invalidInput")
  })

  test.each(["{oops", "[]", "null", "7", '"text"', "undefined", "{}{}"])(
    "whose arguments are %j stores them for the error that the model gets",
    (input) => {
      expect(onlyCall(input)).toMatchObject({ input: {}, invalidInput: input })
    },
  )

  test("may nest its arguments 64 deep and no deeper", () => {
    const nested = (depth: number) => `${'{"a":'.repeat(depth - 1)}{}${"}".repeat(depth - 1)}`
    expect(onlyCall(nested(64))).not.toHaveProperty("invalidInput")
    expect(onlyCall(nested(66))).toHaveProperty("invalidInput")
  })

  test.each([
    ["[", "]", 100_000],
    ['{"a":', "}", 100_000],
  ])("that nests %j a hundred thousand times is refused, not followed", (open, close, times) => {
    const refused = onlyCall(`{"a":${open.repeat(times)}1${close.repeat(times)}}`)
    expect(refused).toMatchObject({ input: {} })
    expect(refused?.invalidInput).toHaveLength(2000)
  })

  test("with sixty thousand arguments is refused, and so is one with too many values", () => {
    const names = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`k${at}`, 1]))
    expect(onlyCall(JSON.stringify(names))).toMatchObject({
      input: {},
      invalidInput: expect.stringMatching(/^\{"k0":1/),
    })
    expect(onlyCall(JSON.stringify({ a: Array(60_000).fill(0) }))).toMatchObject({ input: {} })
  })

  test("in a reply with more than four million characters of arguments is refused", () => {
    const long = called(JSON.stringify({ a: "x".repeat(900_000) }))
    const { reply } = listen(long, long, long, long, long, finish)
    expect(callsOf(reply).map((call) => "invalidInput" in call)).toEqual([false, false, false, false, true])
  })

  test("with more than a million characters of arguments is refused", () => {
    expect(onlyCall(JSON.stringify({ a: "x".repeat(1_000_000) }))).toHaveProperty("invalidInput")
  })

  test("has a hostile __proto__ as an ordinary argument", () => {
    const input = onlyCall('{"__proto__":{"admin":true},"a":"\\u0000"}')?.input ?? {}
    expect(Object.keys(input)).toEqual(["__proto__", "a"])
    expect(Object.getPrototypeOf(input)).toBe(Object.prototype)
    expect("admin" in input).toBe(false)
  })

  test("has storable text in every key, value and name", () => {
    const { reply } = listen(called('{"k\\u0000":["\\ud83d"]}', "to\0ol\ud83d"), finish)
    expect(callsOf(reply)).toMatchObject([{ name: "to\ufffdol\ufffd", input: { "k\ufffd": ["\ufffd"] } }])
  })

  test("has a name of at most 128 characters, without half a surrogate pair", () => {
    const { reply } = listen(called("{}", `a${"👋".repeat(5000)}`), called(`{${"👋".repeat(5000)}`), finish)
    const [named, argued] = callsOf(reply)
    expect(named?.name.length).toBeLessThanOrEqual(128)
    expect(isStorable(named?.name ?? "\0")).toBe(true)
    expect(isStorable(argued?.invalidInput ?? "\0")).toBe(true)
  })

  test("without a name gets one, because providers reject it otherwise", () => {
    expect(callsOf(listen(called("{}", ""), finish).reply)).toMatchObject([{ name: "unnamed" }])
  })

  test("is one of at most 256 in a reply; the rest is dropped", () => {
    const { reply } = listen(...Array.from({ length: 300 }, (_, n) => called(`{"n":${n}}`)), finish)
    expect(callsOf(reply)).toHaveLength(256)
    expect(callsOf(reply).at(-1)).toMatchObject({ input: { n: 255 } })
    expect(reply.finish).toBe("stop")
  })
})

test("call ids use the clock that nodes share, not the machine's", () => {
  const user = newId("user")
  const reply = new Reply("model", user, { now: () => 0 })
  reply.add(called("{}"))
  const time = (id: string | undefined) => id?.slice(0, "call_".length + TIME_DIGITS)
  expect(time(callsOf(reply)[0]?.id)).toBe(time(newId("call", user, 0)))
})

const still = { now: () => 0 }

test("what is shown while it arrives is what is recorded, whatever a provider sends and wherever it splits", () => {
  const unit = fc.constantFrom("a", "\0", "\ud83d", "\udc4b", "é", "👋🏽", "")
  const block = fc.array(fc.array(unit, { maxLength: 4 }).map((units) => units.join("")))
  fc.assert(
    fc.property(fc.array(block, { maxLength: 4 }), (blocks) => {
      const thinking = new LiveThinking(still)
      let shown = ""
      for (const deltas of blocks) {
        for (const delta of deltas) shown += thinking.more(delta)
        shown += thinking.end(mendText(deltas.join(""))).rest
        expect(thinking.offset).toBe(shown.length)
      }
      const parts = blocks.map((deltas) => ({ type: "reasoning" as const, text: mendText(deltas.join("")) }))
      expect(shown).toBe(reasoningOf(parts)?.text ?? "")
    }),
  )
})

test("whole blocks are shown without a time, because their start was not observed", () => {
  const thinking = new LiveThinking(still)
  expect(thinking.hasBegun).toBe(false)
  expect(thinking.end("Hm.")).toEqual({ rest: "Hm." })
  expect(thinking.end("And so.")).toEqual({ rest: "\n\nAnd so." })
  expect(thinking.hasBegun).toBe(true)
})

test("the time of each block counts from its first character, without pauses between blocks", () => {
  let now = 1000
  const thinking = new LiveThinking({ now: () => now })
  expect(thinking.more("")).toBe("")
  now += 3000
  thinking.more("Hm.")
  expect(thinking.ms).toBe(3000)
  now += 1000
  expect(thinking.end("Hm.")).toEqual({ rest: "", ms: 4000 })
  now += 60_000
  thinking.more("Again")
  now += 500
  expect(thinking.ms).toBe(4500)
})
