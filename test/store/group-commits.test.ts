import { setImmediate as turnOfEvents } from "node:timers/promises"
import { describe, expect, test } from "vitest"
import type { Conversation } from "../../core/engine/conversation.ts"
import { databases } from "../support/databases.ts"
import { AwayPostgres } from "../support/away-postgres.ts"
import { message } from "../support/loop/world.ts"
import { many, openMany } from "./many-conversations.ts"

const ODD_ONE = 3
const WAITS = { connect: 1000, silence: 1000 }

describe.each(databases.filter(({ name }) => name === "postgres"))("concurrent commits on $name", ({ create }) => {
  const open = async (settings: Parameters<typeof openMany>[1] = {}) => openMany(await create(), settings)

  test.each(["step", "settings"] as const)(
    "are one transaction, and each %s is in its own conversation",
    async (type) => {
      await using store = await open()
      const all = await store.begin(12)
      await Promise.all(all.map((each) => store.append(each, type, `words of ${each.id}`)))
      expect(await store.transactionsAt(2)).toBe(1)
      for (const each of all) expect(await store.wordsIn(each)).toEqual([`words of ${each.id}`])
      const titles = await store.query("SELECT count(*) AS n FROM conversation WHERE title = 'words of ' || id")
      expect(titles).toEqual([{ n: type === "settings" ? 12 : 0 }])
    },
  )

  test("are one transaction if they claim idle conversations, and if they create them", async () => {
    await using store = await open()
    const all = await store.begin(12, "resting")
    expect(await store.transactionsAt(1), "the first one, and the others").toBe(2)
    const other = store.otherNode()
    const loaded = await Promise.all(all.map(({ id }) => other.journal.load(id)))
    const claimed = await Promise.all(loaded.map((each) => other.claim(each, `claimed ${each.id}`)))
    expect(claimed).toEqual(many(12, "claimed"))
    expect(await store.transactionsAt(2)).toBe(1)
    for (const each of all) expect(await store.wordsIn(each)).toEqual([`claimed ${each.id}`])
  })

  test("are batched as they come, and those of one conversation stay in order", async () => {
    await using store = await open()
    const all = await store.begin(50)
    const words = Array.from({ length: 8 }, (_, index) => `${index}`)
    await Promise.all(
      words.flatMap((word) => all.map((each) => store.append(each, Number(word) % 2 ? "step" : "settings", word))),
    )
    for (const each of all) expect(await store.wordsIn(each)).toEqual(words)
    expect(await store.transactionsAt(2)).toBeLessThan(10)
  })

  test("leave out one whose lease another node has claimed, and the others are written", async () => {
    await using store = await open()
    const all = await store.begin(8)
    await store.query("UPDATE conversation SET fence = fence + 1, owner = 'another' WHERE id = ?", [idOf(all)])
    expect(await Promise.all(all.map((each) => store.outcome(each)))).toEqual(exceptOne("lease_lost"))
    expect(await store.written()).toBe(7)
  })

  test("leave out one whose position is taken, and the others are written", async () => {
    await using store = await open()
    const all = await store.begin(8)
    const insert = `INSERT INTO event (conversation, position, type, version, at)
      SELECT key, 2, 'step', 1, 1 FROM conversation WHERE id = ?`
    await store.query(insert, [idOf(all)])
    expect(await Promise.all(all.map((each) => store.outcome(each)))).toEqual(exceptOne("lease_lost"))
    expect(await store.query("SELECT count(*) AS n FROM event WHERE position = 2 AND body IS NOT NULL")).toEqual([
      { n: 7 },
    ])
  })

  test("leave out one whose inbox has changed, and the others consume theirs", async () => {
    await using store = await open()
    const all = await store.begin(8)
    for (const { id } of all) await store.journal.addToInbox(id, message("words"))
    for (const { id } of all) await store.journal.readInbox(id)
    await store.otherNode().journal.addToInbox(all[ODD_ONE]!.id, message("more"))
    const taken = await Promise.all(
      all.map((each) => {
        const taken = each.inbox
        each.inbox = []
        return store.append(each, "step", "taken", { taken })
      }),
    )
    expect(taken).toEqual(exceptOne(false))
    expect(await store.query("SELECT count(*) AS n FROM inbox")).toEqual([{ n: 2 }])
    expect(await store.written()).toBe(7)
  })

  test("fail only the one with text that cannot be stored", async () => {
    await using store = await open()
    const all = await store.begin(8)
    const outcomes = await Promise.all(all.map((each, index) => store.write(each, index === ODD_ONE ? "a\0b" : "ab")))
    // They were one batch: each retry has a transaction of its own.
    expect(await store.transactionsAt(2)).toBe(7)
    expect(outcomes).toEqual(exceptOne("store_unavailable"))
    expect(await store.written()).toBe(7)
  })

  test("do not wait for one whose row another session holds, and it is written once the row is released", async () => {
    await using store = await open()
    const all = await store.begin(8)
    await using holder = await store.holding([idOf(all)])
    let late = false
    const done = all.map((each, index) =>
      store.append(each, "settings", "words").then(() => (late ||= index === ODD_ONE)),
    )
    await Promise.all(done.filter((_, index) => index !== ODD_ONE))
    expect([late, await store.written()]).toEqual([false, 7])
    await holder.letGo()
    await Promise.all(done)
    expect(await store.written()).toBe(8)
  })

  test("proceed also while another session holds more conversations than commits are sent at once", async () => {
    await using store = await open()
    const all = await store.begin(8)
    const held = all.slice(0, 6)
    await using holder = await store.holding(held.map(({ id }) => id))
    const waiting: Promise<unknown>[] = []
    for (const each of held) {
      waiting.push(store.append(each, "step", "late"))
      await turnOfEvents()
    }
    for (const each of all.slice(6)) await store.append(each, "step", "in time")
    expect(await store.written()).toBe(2)
    await holder.letGo()
    await Promise.all(waiting)
    expect(await store.written()).toBe(8)
  })

  test("keep the lease of a conversation whose inbox gets a message at that moment", async () => {
    await using store = await open()
    const all = await store.begin(8)
    await using holder = await store.holding([idOf(all)])
    await holder.query("UPDATE conversation SET arrivals = arrivals + 1 WHERE id = $1", [idOf(all)])
    const done = all.map((each) => store.append(each, "step", "the end", { release: true }))
    await Promise.all(done.filter((_, index) => index !== ODD_ONE))
    await holder.letGo()
    await Promise.all(done)
    const resting = all.map(({ id }) => !store.journal.isWriterOf(id))
    expect(resting).toEqual(exceptOne(false))
  })

  test("keep the lease of a conversation whose inbox has a message, whenever it arrives", async () => {
    await using store = await open()
    await using second = await openMany(store, {})
    for (let round = 0; round < 10; round++) {
      const all = await store.begin(20)
      await Promise.all([
        ...all.map((each) => store.append(each, "step", "the end", { release: true })),
        ...all.map(({ id }) => second.journal.addToInbox(id, message("wait"))),
      ])
      const wrong = all.filter((each) => !store.journal.isWriterOf(each.id) && each.arrivals > 0)
      expect(wrong).toEqual([])
    }
    expect(await store.query("SELECT count(*) AS n FROM conversation WHERE arrivals = 1")).toEqual([{ n: 200 }])
    expect(await store.written()).toBe(200)
  })

  test("create a conversation once, also if two of them would create it", async () => {
    await using store = await open()
    await store.begin(1)
    const ids = ["conv_a", "conv_b", "conv_a", "conv_c"]
    expect((await store.beginAll(ids)).filter(Boolean)).toHaveLength(3)
    expect(await store.query(LETTERS)).toEqual(["conv_a", "conv_b", "conv_c"].map((id) => ({ id })))
    // The second of the two is sent next to the others, and may be the first to create it: they are still one
    // transaction.
    const others = `SELECT count(DISTINCT e.xmin::text) AS n FROM event e JOIN conversation c ON c.key = e.conversation
      WHERE c.id IN ('conv_b', 'conv_c')`
    expect(await store.query(others)).toEqual([{ n: 1 }])
    expect(await store.transactionsAt(1)).toBeLessThan(4)
  })

  test("create conversations in the order of their ids, so that nodes that create the same ones do not deadlock", async () => {
    await using store = await open()
    await store.begin(1)
    const ids = Array.from("hdbfgace", (letter) => `conv_${letter}`)
    expect(await store.beginAll(ids)).toEqual(many(8, true))
    expect(await store.query(LETTERS)).toEqual(ids.toSorted().map((id) => ({ id })))
  })

  test("of two nodes on the same conversations are each written once", async () => {
    await using store = await open()
    await using second = await openMany(store, {})
    const nodes = [store.otherNode(), second.otherNode()]
    for (let round = 0; round < 8; round++) {
      const all = await store.begin(24, "resting")
      const loaded = await Promise.all(nodes.map(({ journal }) => Promise.all(all.map(({ id }) => journal.load(id)))))
      const claimed = await Promise.all(
        nodes.map(async (node, index) => {
          const mine = index === 0 ? loaded[0]! : loaded[1]!.toReversed()
          const outcomes = await Promise.all(mine.map((each) => node.claim(each, `round ${round}`)))
          return index === 0 ? outcomes : outcomes.toReversed()
        }),
      )
      const winners = all.map((_, index) => claimed.filter((outcomes) => outcomes[index] === "claimed").length)
      expect(winners).toEqual(many(24, 1))
      const ids = all.map(({ id }) => `${id}b`)
      const begun = await Promise.all([store.beginAll(ids), second.beginAll(ids.toReversed())])
      expect(begun[0].map((ok, index) => [ok, begun[1].toReversed()[index]].filter(Boolean))).toEqual(many(24, [true]))
    }
    expect(await store.query(GAPS)).toEqual([])
  })

  test("have an unknown outcome each if the answer is lost, and none is written again", async () => {
    await using database = await create()
    await using wire = new AwayPostgres(database.url)
    await using store = await openMany({ url: await wire.open() }, { waits: WAITS })
    const all = await store.begin(8)
    wire.loseAnswerTo("words that arrive")
    const outcomes = Promise.all(all.map((each) => store.outcome(each, "words that arrive")))
    await using looker = await openMany(database, {})
    await expect.poll(() => looker.written()).toBe(8)
    // A connection for a retry would be available.
    wire.answerNewOnes()
    expect(await outcomes).toEqual(many(8, "store_unavailable"))
    expect([await looker.written(), await looker.transactionsAt(2)]).toEqual([8, 1])
    // From now on the data on the disk counts, where each has its text once.
    const again = await Promise.all(all.map(({ id }) => store.journal.load(id)))
    expect(again.map(({ position }) => position)).toEqual(many(8, 2))
  })

  test("have an unknown outcome each if the connection breaks, and are not written twice", async () => {
    await using database = await create()
    await using wire = new AwayPostgres(database.url)
    await using store = await openMany({ url: await wire.open() }, { waits: WAITS })
    const all = await store.begin(8)
    const outcomes = Promise.all(all.map((each) => store.outcome(each, "words")))
    await turnOfEvents()
    await wire.leave("refusing")
    expect(await outcomes).toEqual(many(8, "store_unavailable"))
    await wire.comeBack()
    expect(await store.query(GAPS)).toEqual([])
    expect(await store.written()).toBeOneOf([0, 8])
  })

  test("do not wait for one that has much to write", async () => {
    await using store = await open()
    const all = await store.begin(8)
    await Promise.all(
      all.map((each, index) => store.append(each, "step", index === ODD_ONE ? "x".repeat(300_000) : "x")),
    )
    expect(await store.written()).toBe(8)
    expect(await store.transactionsAt(2)).toBe(2)
  })
})

const LETTERS = "SELECT id FROM conversation WHERE length(id) = 6 ORDER BY key"
const GAPS = "SELECT conversation FROM event GROUP BY conversation HAVING max(position) <> count(*)"
const idOf = (all: readonly Conversation[]) => all[ODD_ONE]!.id
const exceptOne = <T>(odd: T) => many<T | true>(8, true).with(ODD_ONE, odd)
