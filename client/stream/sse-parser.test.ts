import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { EventParser, type StreamEvent } from "./sse-parser.ts"

const encode = (text: string) => new TextEncoder().encode(text)
const parse = (...chunks: Uint8Array[]) => {
  const parser = new EventParser()
  return chunks.flatMap((chunk) => parser.push(chunk))
}
const event = (data: string, more: Partial<StreamEvent> = {}): StreamEvent => ({
  id: "",
  type: "message",
  data,
  ...more,
})

describe("a stream of events", () => {
  test.each<[what: string, text: string, events: StreamEvent[]]>([
    ["has id, type and data", "id: 3\nevent: step\ndata: {}\n\n", [event("{}", { id: "3", type: "step" })]],
    ["may end its lines with CR", "data: a\r\rdata: b\r\r", [event("a"), event("b")]],
    ["may end its lines with CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", [event("a"), event("b")]],
    ["may mix them", "data: a\r\ndata: b\n\rdata: c\n\n", [event("a\nb"), event("c")]],
    ["joins data over several lines", "data: a\ndata\ndata:  b\n\n", [event("a\n\n b")]],
    ["takes one space after the colon, or none", "data:a\n\ndata:  a\n\n", [event("a"), event(" a")]],
    ["has comments that say nothing", ": hi\n\n:\n\ndata: a\n: hi\n\n", [event("a")]],
    ["may begin with one byte order mark", "\uFEFFdata: a\n\n", [event("a")]],
    ["keeps a mark that stands anywhere else", "data: \uFEFF\n\n\uFEFFdata: a\n\n", [event("\uFEFF")]],
    ["remembers its id", "id: 3\ndata: a\n\ndata: b\n\n", [event("a", { id: "3" }), event("b", { id: "3" })]],
    ["remembers an id that came without data", "id: 3\n\ndata: a\n\n", [event("a", { id: "3" })]],
    ["may take its id back", "id: 3\ndata: a\n\nid\ndata: b\n\n", [event("a", { id: "3" }), event("b")]],
    [
      "has no id with NUL",
      "id: 3\ndata: a\n\nid: 4\0\ndata: b\n\n",
      [event("a", { id: "3" }), event("b", { id: "3" })],
    ],
    ["forgets the type of an event without data", "event: step\n\ndata: a\n\n", [event("a")]],
    ["takes the last of two types", "event: a\nevent: b\ndata: c\n\n", [event("c", { type: "b" })]],
    ["passes over fields it does not know", "datum: x\nDATA: y\n data: z\ndata: a\n\n", [event("a")]],
    ["may have empty data", "data\n\ndata:\n\n", [event(""), event("")]],
    ["has not said what it has not finished", "data: a\n\ndata: b\n", [event("a")]],
  ])("%s", (_what, text, events) => {
    expect(parse(encode(text))).toEqual(events)
  })

  test("has U+FFFD for bytes that are not UTF-8", () => {
    expect(parse(encode("data: a"), new Uint8Array([0xff]), encode("b\n\n"))).toEqual([event("a\uFFFDb")])
  })

  test("accepts a retry time in digits only", () => {
    const parser = new EventParser()
    parser.push(encode("retry: 1e3\nretry: -1\nretry:\n"))
    expect(parser.retryMs).toBeUndefined()
    parser.push(encode("retry: 1500\nretry: x\n"))
    expect(parser.retryMs).toBe(1500)
  })

  test("is the same however its bytes are split", () => {
    const line = fc.oneof(
      fc.constantFrom("", "data", "id", "event: step", ": comment", "retry: 5", "\uFEFFdata: x", "id: a\0b"),
      fc.string({ unit: "grapheme" }).map((text) => `data: ${text}`),
      fc.nat().map((id) => `id: ${id}`),
    )
    const text = fc
      .array(fc.tuple(line, fc.constantFrom("\n", "\r", "\r\n", "\n\n", "\r\n\r\n", "\r\r")))
      .map((lines) => lines.flat().join(""))
    fc.assert(
      fc.property(text, fc.array(fc.nat(), { maxLength: 30 }), (written, cuts) => {
        const bytes = encode(written)
        const places = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b)
        const chunks = [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length))
        expect(parse(...chunks)).toEqual(parse(bytes))
        expect(parse(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(parse(bytes))
      }),
      { numRuns: 500 },
    )
  })

  test("may not grow without limit: in one line, over many lines, or in a comment", () => {
    const half = encode(`data: ${"x".repeat(600)}\n`)
    for (const piece of [encode("data: xxxxxxxxxxxx"), half, encode(":xxxxxxxxxxxxxxxx")]) {
      const parser = new EventParser(1000)
      expect(() => {
        for (let count = 0; count < 100; count++) parser.push(piece)
      }).toThrow(RangeError)
    }
    const parser = new EventParser(1000)
    for (let count = 0; count < 100; count++) parser.push(encode(`data: ${"x".repeat(600)}\n\n`))
  })
})
