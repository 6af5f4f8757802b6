import { describe, expect, test } from "vitest"
import type { PageRange } from "../../engine/journal.ts"
import type { Live, LiveReply } from "../../engine/ports.ts"
import type { JournalEvent } from "../../protocol/events.ts"
import type { ConversationId, UserId } from "../../protocol/ids.ts"
import { Subscription } from "./subscription.ts"

const MB = 1024 * 1024
const id = "conv_1" as ConversationId
const user = "user_ada" as UserId

type Fields = Record<string, unknown>

/** Events that are long in each of the ways in which an event can be. */
const kinds: Record<string, (text: string) => Fields> = {
  "a person's words": (text) => ({ type: "message", role: "user", parts: [{ type: "text", text }] }),
  "the arguments of a call": (text) => ({
    type: "message",
    role: "assistant",
    parts: [{ type: "call", id: "call_1", name: "send", input: { text } }],
  }),
  "what words brought with them": (text) => ({ type: "message", role: "user", parts: [], brought: { rows: [text] } }),
  "the text of a result": (text) => ({ type: "tool_end", callId: "call_1", status: "ok", text, ms: 1 }),
  "the data of a result": (text) => ({
    type: "tool_end",
    callId: "call_1",
    status: "ok",
    text: "1 row",
    ms: 1,
    data: { rows: [[text]] },
  }),
  "what a result has changed": (text) => ({
    type: "tool_end",
    callId: "call_1",
    status: "ok",
    text: "Done.",
    ms: 1,
    change: { before: text },
  }),
  "the difference a proposal shows": (text) => ({
    type: "proposal",
    proposal: { id: "prop_1", callId: "call_1", tool: "send", diff: { before: text }, expiresAt: 1 },
  }),
}

const repeat = (row: Fields, times: number): Fields[] => Array<Fields>(times).fill(row)

const toRows = (rows: readonly Fields[]) =>
  rows.map((fields, index) => ({
    version: 1,
    position: index + 1,
    at: 0,
    id: `msg_${index}`,
    seq: index + 1,
    ...fields,
  })) as unknown as JournalEvent[]

const jsonLength = (value: unknown) => JSON.stringify(value).length

interface Watching {
  readonly after?: number
  readonly runStart?: number
  readonly cutOff?: boolean
  /** The open reply. */
  readonly open?: LiveReply
}

/** A subscription to events in memory, which records how it reads them. */
function watch(rows: readonly JournalEvent[], { after = 0, runStart = 0, cutOff = false, open }: Watching = {}) {
  const reads: { limit: number; length: number }[] = []
  let tell: (live: Live) => void = () => {}
  const readPage = async (_id: unknown, { after, upTo = rows.length, limit, maxLength }: PageRange) => {
    const found = rows.slice(after, Math.min(upTo, after + limit))
    const ends = found.map(
      (
        (end) => (row) =>
          (end += jsonLength(row))
      )(0),
    )
    const events = found.filter((_row, index) => index === 0 || (ends[index] as number) <= maxLength)
    const length = ends.at(-1) ?? 0
    reads.push({ limit, length })
    return { events, found: found.length, length }
  }
  const subscription = new Subscription(
    {
      journal: { readPage },
      bus: { subscribe: (_id, listener) => ((tell = listener), () => {}), soFar: async () => open },
      clock: { alarm: () => () => {} },
    },
    { id, after: { position: after, offset: 0 }, runStart, cutOff },
  )
  return { subscription, reads, tell: (events: readonly JournalEvent[]) => tell({ type: "events", user, events }) }
}

describe.each(Object.entries(kinds))("if %s may be long", (_kind, make) => {
  const [short, long] = [make("x"), make("x".repeat(MB))]

  test("each read is short, also after many short rows", async () => {
    const rows = toRows([...repeat(short, 200), ...repeat(long, 20), ...repeat(short, 50)])
    const { subscription, reads } = watch(rows)
    let position = 0
    while (position < rows.length) {
      const frames = (await subscription.next()) ?? []
      expect(jsonLength(frames)).toBeLessThan(MB + 64 * 1024)
      position = Number(frames.at(-1)?.id)
    }
    // Little is read twice: the next pages are as long as the events allow.
    expect(reads.filter(({ limit }) => limit > 1).length).toBeLessThan(20)
    subscription.close()
    expect(await subscription.wait()).toBe(false)
  })

  test("buffered rows for a slow watcher stay in memory while they are short, and are read again when they are not", async () => {
    const known = 4
    for (const [row, kept] of [
      [short, true],
      [long, false],
    ] as const) {
      const rows = toRows([...repeat(short, known), row, row])
      const { subscription, reads, tell } = watch(rows.slice(0, known))
      while ((await subscription.take()).length > 0); // everything available
      const caughtUp = reads.length
      for (const came of rows.slice(known)) tell([came])
      await subscription.take()
      expect(reads.length > caughtUp).toBe(!kept)
      subscription.close()
    }
  })
})

describe("a watcher who joins in the middle of a long run", () => {
  const results = 600
  const rows = toRows([
    { type: "run_started", runId: "run_1", maxIterations: 10 },
    ...repeat((kinds["the data of a result"] as (text: string) => Fields)("x".repeat(32 * 1024)), results),
    { type: "run_ended", status: "completed" },
  ])

  test("reads one page at a time, with turns of the event loop between them", async () => {
    const { subscription, reads } = watch(rows, { after: results, runStart: 1 })
    let turns = 0
    let next = setImmediate(function count() {
      turns++
      next = setImmediate(count)
    })
    const frames = await subscription.next()
    clearImmediate(next)
    expect(frames?.map(({ id }) => id)).toEqual([results + 1, results + 2, results + 2].map(String))
    for (const { limit, length } of reads) {
      expect(limit).toBeLessThanOrEqual(64)
      expect(length).toBeLessThan(MB)
    }
    expect(reads.length).toBeGreaterThan(20)
    expect(turns).toBeGreaterThan(reads.length / 2)
    subscription.close()
  })

  test("gets the end again if it may have been missed, and no earlier rows", async () => {
    const { subscription } = watch(rows, { after: rows.length, runStart: 1, cutOff: true })
    expect(await subscription.next()).toEqual([
      { id: String(rows.length), type: "done", data: { status: "completed" } },
    ])
    subscription.close()
  })
})

test.each([
  ["the last row that was read", 3, ["so far"]],
  ["a row that is older", 2, []],
  ["a row that has not been read yet", 4, []],
])("the position of the open reply after %s is %i", async (_, position, shown) => {
  const rows = toRows(repeat(kinds["a person's words"]!("x"), 3))
  const { subscription } = watch(rows, { open: { position, text: "so far" } })
  const frames = await subscription.take()
  const texts = frames.flatMap((frame) => (frame.type === "text_delta" ? [(frame.data as { text: string }).text] : []))
  expect(texts).toEqual(shown)
})
