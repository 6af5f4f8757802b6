import { expect, test } from "vitest"
import type { JournalEvent } from "../../protocol/events.ts"
import type { ConversationId } from "../../protocol/ids.ts"
import { Subscription } from "./subscription.ts"

const MB = 1024 * 1024
const id = "conv_1" as ConversationId

/** A conversation of words, as long as each number says. */
function journalOf(lengths: readonly number[]) {
  const rows = lengths.map((length, index) => ({
    type: "message",
    version: 1,
    position: index + 1,
    at: 0,
    id: `msg_${index}`,
    seq: index + 1,
    role: "user",
    parts: [{ type: "text", text: "x".repeat(length) }],
  })) as unknown as JournalEvent[]
  const reads: number[] = []
  const read = async (_id: unknown, { after = 0, limit = 1e9 }: { after?: number; limit?: number } = {}) => {
    reads.push(limit)
    return rows.slice(after, after + limit)
  }
  const subscription = new Subscription(
    {
      journal: { read },
      bus: { subscribe: () => () => {}, soFar: async () => undefined },
      clock: { alarm: () => () => {} },
    },
    { id, after: { position: 0, offset: 0 }, runStart: 0 },
  )
  return { subscription, reads }
}

const lengthOf = (frames: readonly { data: unknown }[]) =>
  frames.reduce((sum, { data }) => sum + JSON.stringify(data).length, 0)

test("what is taken at once is short however long the rows are, also after many that were short", async () => {
  const lengths = [...Array<number>(200).fill(1), ...Array<number>(100).fill(MB), ...Array<number>(50).fill(1)]
  const { subscription, reads } = journalOf(lengths)
  let taken = 0
  while (taken < lengths.length) {
    const frames = (await subscription.next()) ?? []
    expect(lengthOf(frames)).toBeLessThan(MB + 64 * 1024)
    taken += frames.length
  }
  expect(taken).toBe(lengths.length)
  // Little is read to be thrown away: the next pages are as long as the rows allow.
  expect(reads.filter((limit) => limit > 1).length).toBeLessThan(20)
  subscription.close()
  expect(await subscription.wait()).toBe(false)
})
