import { setImmediate as turn } from "node:timers/promises"
import { describe, expect, test } from "vitest"
import { chatChunk, sse } from "../server.fixture.ts"
import { joinDeltas } from "./join-deltas.ts"
import { watchedFetch } from "./watched-fetch.ts"
import { SilenceWatch } from "./silence-watch.ts"

const TEXTS = [
  ...[
    "Hello ",
    'she said "yes"',
    "a path: C:\\",
    "\\\\",
    '\\"',
    "new\n\nline",
    "größer 漢字 🦊",
    "",
    "{}",
    '"delta":{"content":"',
  ],
  ...Array.from({ length: 40 }, (_, i) => `word${i} `),
]
const join = (text: string) => Buffer.from(joinDeltas(Buffer.from(text))).toString()
const eventsIn = (text: string) => text.split("\n\n").filter((each) => each !== "")
interface Said {
  readonly content?: string
  readonly reasoning_content?: string
  readonly text?: string
}
interface Event {
  readonly choices?: { readonly delta: Said }[]
  readonly delta?: Said
}
const textIn = (event: string): string => {
  const { choices, delta } = JSON.parse(event.slice(event.indexOf("{"))) as Event
  const { content, reasoning_content, text } = choices?.[0]?.delta ?? delta ?? {}
  return content ?? reasoning_content ?? text ?? ""
}

const formats: [string, (text: string) => string][] = [
  ["chat completions", (content) => sse(chatChunk({ content }))],
  [
    "chat completions with blanks",
    (text) => `data: {"choices": [{"index": 0, "delta": {"content": ${JSON.stringify(text)}}}]}\n\n`,
  ],
  ["their thoughts", (text) => sse(chatChunk({ reasoning_content: text }))],
  [
    "Anthropic's messages",
    (text) =>
      `event: content_block_delta\n${sse({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })}`,
  ],
]

describe.each(formats)("of deltas of %s", (_, write) => {
  const whole = TEXTS.map(write).join("")

  test("that differ only in their text are joined", () => {
    const events = eventsIn(join(whole))
    expect(events).toHaveLength(1)
    expect(textIn(events[0]!)).toBe(TEXTS.join(""))
  })

  test("the text is the same however the stream is divided", () => {
    const bytes = Buffer.from(whole)
    for (let cut = 1; cut < bytes.length; cut += 7) {
      const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)].map(joinDeltas)
      const events = eventsIn(Buffer.concat(pieces).toString())
      expect(events.map(textIn).join("")).toBe(TEXTS.join(""))
    }
  })
})

test("deltas are joined also if only empty fields follow their text", () => {
  const empty = { refusal: null, reasoning: "", tool_calls: [] }
  const events = eventsIn(
    join(TEXTS.map((content) => sse(chatChunk({ role: "assistant", content, ...empty }))).join("")),
  )
  expect(events.map(textIn)).toEqual([TEXTS.join("")])
})

test("the rest of a chunk does not retain the chunk", () => {
  const piece = Buffer.from(TEXTS.map((content) => sse(chatChunk({ content }))).join(""))
  const left = joinDeltas(piece)
  expect(left.length).toBeLessThan(piece.length / 4)
  expect(left.buffer.byteLength).toBe(left.length)
})

test.each([
  ["of another choice", (i: number) => sse({ choices: [{ index: i % 2, delta: { content: `w${i}` } }] })],
  [
    "that bear a number each",
    (i: number) => sse({ choices: [{ index: 0, delta: { content: `w${i}` } }], usage: { n: i } }),
  ],
  [
    "that hold arguments",
    (i: number) => sse(chatChunk({ tool_calls: [{ index: 0, function: { arguments: `{"content":"${i}` } }] })),
  ],
  [
    "that hold the same arguments beside an empty text",
    () => sse(chatChunk({ content: "", tool_calls: [{ index: 0, function: { arguments: "000" } }] })),
  ],
  [
    "that hold the same thought beside an empty text",
    () => sse(chatChunk({ role: "assistant", content: "", reasoning: " ha", reasoning_details: [{ text: " ha" }] })),
  ],
  ["that are cut", (i: number) => `data: {"choices":[{"delta":{"content":"w${i}\n`],
  ["that are comments", () => ": still thinking\n\n"],
])("events %s stay as they are, to the byte", (_, write) => {
  const whole = Array.from({ length: 60 }, (_, i) => write(i)).join("")
  expect(join(whole)).toBe(whole)
})

test("many fast replies leave time for the event loop, and all of them arrive", async () => {
  const answers = async () => {
    let left = 40
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) =>
      left-- > 0 ? controller.enqueue(Buffer.alloc(16 * 1024, "x\n\n")) : controller.close()
    return new Response(new ReadableStream({ pull }), { headers: { "content-type": "text/event-stream" } })
  }
  const read = async () => {
    const watch = new SilenceWatch(new AbortController().signal, { provider: "x" })
    const response = await watchedFetch(answers)("http://x", { signal: watch.signal })
    const reader = response.body!.getReader()
    let bytes = 0
    for (let next = await reader.read(); !next.done; next = await reader.read()) bytes += next.value.length
    watch.close()
    return bytes
  }
  let [turns, isOver] = [0, false]
  const reading = Promise.all(Array.from({ length: 5 }, read)).finally(() => (isOver = true))
  while (!isOver) turns += Number((await turn(), true))
  expect(await reading).toEqual(Array.from({ length: 5 }, () => 40 * 16 * 1024))
  // Without them: a handful.
  expect(turns).toBeGreaterThan(80)
})
