import { describe, expect, test } from "vitest"
import { databases } from "../../../test/support/databases.ts"
import { message } from "../../../test/support/loop/world.ts"
import { accept } from "../../engine/accept/accept.ts"
import { type Conversation } from "../../engine/conversation.ts"
import { emptyConversation } from "../../engine/empty-conversation.ts"
import { proposal, staged } from "../../engine/staged.fixture.ts"
import { replay, stage } from "../../engine/replay/replay.ts"
import type { JournalEvent, NewEvent } from "../../protocol/events.ts"
import { type ConversationId, newId, type UserId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"
import { bookkeepingOf } from "./bookkeeping.ts"
import { SqlJournal } from "./journal.ts"
import { ThisNode } from "./nodes.ts"
import { openStore, type Store } from "../store.ts"

const STARTED: NewEvent = {
  type: "conversation_started",
  agent: "a",
  model: null,
  provider: null,
  mode: "confirm",
  title: null,
}
const note = (text: string): NewEvent => ({ type: "settings", title: text })

let clock = Date.UTC(2026, 0, 1)
const time = { now: () => clock, monotonic: () => clock, alarm: () => () => {} }

/** Another process on the same database: its own node, its own memory, and not the one with the lock. */
function otherNode(engine: Engine): SqlJournal {
  const shared = { ...engine, exclusive: false }
  return new SqlJournal(shared, new ThisNode(shared, { clock: time }))
}

async function begin(store: Store, journal: SqlJournal, hold = true): Promise<Conversation> {
  const { id: user } = await store.people.ensure("ada", clock)
  const conversation = emptyConversation(newId("conv"), user)
  await journal.create(conversation, stage(conversation, [STARTED], clock), hold)
  return conversation
}

/** Sweeps until a node without a heartbeat counts as failed. */
async function outlast(journal: SqlJournal): Promise<void> {
  for (let look = 0; look < 4; look++, clock += 5_000) await journal.abandoned(1)
}

const NOT_YET = { release: false }

const append = (journal: SqlJournal, conversation: Conversation, text: string, release = false) =>
  journal.append(conversation, stage(conversation, [note(text)], clock), { release })

describe.each(databases)("the journal on $name", ({ create }) => {
  async function open(url: string) {
    const store = await openStore({ url, clock: time, durability: "normal" })
    return { store, journal: otherNode(store.engine) }
  }

  test("returns appended events in order", async () => {
    await using database = await create()
    await using store = (await open(database.url)).store
    const journal = otherNode(store.engine)
    const conversation = await begin(store, journal)
    for (const text of ["one", "two", "three"]) await append(journal, conversation, text)
    const events = await otherNode(store.engine).read(conversation.id)
    expect(events.map((event) => ("title" in event ? event.title : ""))).toEqual([null, "one", "two", "three"])
    expect(await otherNode(store.engine).read(conversation.id, { after: 2, limit: 1 })).toMatchObject([{ position: 3 }])
  })

  const text = "x".repeat(1000)
  const said = { type: "message", seq: 1, role: "user" } as const
  const ended = { type: "tool_end", callId: newId("call"), seq: 1, status: "ok", ms: 1 } as const
  test.each<[string, NewEvent]>([
    ["words", { ...said, id: newId("msg"), parts: [{ type: "text", text }] }],
    ["call", { ...said, id: newId("msg"), parts: [{ type: "call", id: newId("call"), name: "a", input: { text } }] }],
    ["result", { ...ended, id: newId("msg"), text }],
    ["data", { ...ended, id: newId("msg"), text: "1 row", data: { rows: [[text]] } }],
    ["title", note(text)],
  ])(
    "gives a page of what is long by its %s only as much as there is room for, and at least one",
    async (_by, long) => {
      await using database = await create()
      await using store = (await open(database.url)).store
      const journal = otherNode(store.engine)
      const conversation = await begin(store, journal)
      // Placed by hand: a fold would ask what a lone result belongs to.
      const rows = [2, 3, 4].map((position) => ({ ...long, version: 1, position, at: clock }) as JournalEvent)
      await journal.append(conversation, rows, NOT_YET)
      const page = async (after: number, limit: number, maxLength: number) => {
        const { events, found, length } = await journal.readPage(conversation.id, { after, limit, maxLength })
        return { positions: events.map(({ position }) => position), found, length: Math.floor(length / 1000) }
      }
      expect(await page(1, 9, 2500)).toEqual({ positions: [2, 3], found: 3, length: 3 })
      expect(await page(1, 9, 10)).toEqual({ positions: [2], found: 3, length: 3 })
      expect(await page(1, 2, 9000)).toEqual({ positions: [2, 3], found: 2, length: 2 })
      expect(await page(3, 9, 9000)).toEqual({ positions: [4], found: 1, length: 1 })
      expect(await page(4, 9, 9000)).toEqual({ positions: [], found: 0, length: 0 })
    },
  )

  // One also changes the conversation's row, the other only adds to the journal: two statements, one rule.
  test.each<NewEvent>([note("too late"), { type: "step", step: "too late" }])(
    "refuses a $type of a writer that another node has replaced",
    async (late) => {
      await using database = await create()
      const { store, journal } = await open(database.url)
      await using _ = store
      const conversation = await begin(store, journal)
      const successor = otherNode(store.engine)
      await outlast(successor)
      const taken = await successor.load(conversation.id)
      expect(await successor.claim(taken, [], { release: false })).toBe("claimed")
      const staged = stage(conversation, [late], clock)
      await expect(journal.append(conversation, staged, { release: false })).rejects.toMatchObject({
        code: "lease_lost",
      })
      await append(successor, taken, "in time")
      expect((await successor.read(conversation.id)).map(({ position }) => position)).toEqual([1, 2])
    },
  )

  test.each<NewEvent>([note("too late"), { type: "step", step: "too late" }])(
    "refuses a $type of a writer that was replaced behind the back of its own connection",
    async (late) => {
      await using database = await create()
      const { store, journal } = await open(database.url)
      await using _ = store
      const conversation = await begin(store, journal)
      const write = (event: NewEvent) => journal.append(conversation, stage(conversation, [event], clock), NOT_YET)
      await write({ type: "step", step: "in time" })
      await using elsewhere = await openStore({ url: database.url, clock: time, durability: "normal" })
      await outlast(elsewhere.journal)
      const taken = await elsewhere.journal.load(conversation.id)
      expect(await elsewhere.journal.claim(taken, [], NOT_YET)).toBe("claimed")
      await expect(write(late)).rejects.toMatchObject({ code: "lease_lost" })
      expect(await elsewhere.journal.read(conversation.id)).toHaveLength(2)
    },
  )

  test("reports arrived input to a writer that only appends", async () => {
    await using database = await create()
    const { store, journal } = await open(database.url)
    await using _ = store
    const conversation = await begin(store, journal)
    await otherNode(store.engine).addToInbox(conversation.id, message("hello"))
    await journal.append(conversation, stage(conversation, [{ type: "step", step: "next" }], clock), NOT_YET)
    expect(conversation.arrivals).toBe(1)
    expect((await journal.load(conversation.id)).inbox).toHaveLength(1)
  })

  test("does not take over from a live writer", async () => {
    await using database = await create()
    const { store, journal } = await open(database.url)
    await using _ = store
    const conversation = await begin(store, journal)
    const rival = otherNode(store.engine)
    expect(await rival.claim(await rival.load(conversation.id), [], { release: false })).toBe("busy")
    await append(journal, conversation, "still mine")
  })

  test("lets one of several concurrent claims win", async () => {
    await using database = await create()
    const { store, journal } = await open(database.url)
    await using _ = store
    const { id } = await begin(store, journal, false)
    const claims = await Promise.all(
      Array.from({ length: 8 }, async (_, index) => {
        const node = otherNode(store.engine)
        const conversation = await node.load(id)
        return node.claim(conversation, stage(conversation, [note(`by ${index}`)], clock), { release: false })
      }),
    )
    expect(claims.filter((claim) => claim === "claimed")).toHaveLength(1)
    expect(await journal.read(id)).toHaveLength(2)
  })

  test("fails only the invalid operation of a shared commit", async () => {
    await using database = await create()
    const { store, journal } = await open(database.url)
    await using _ = store
    const [good, bad, other] = await Promise.all([begin(store, journal), begin(store, journal), begin(store, journal)])
    bookkeepingOf(bad).fence = 99 // as if another node had taken over
    const outcomes = await Promise.allSettled([
      append(journal, good, "fine"),
      append(journal, bad, "not mine"),
      store.engine.change({ type: "statements", statements: [{ sql: "INSERT INTO nowhere VALUES (1)", values: [] }] }),
      append(journal, other, "fine too"),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"])
    expect(await journal.read(good.id)).toHaveLength(2)
    expect(await journal.read(other.id)).toHaveLength(2)
    expect(await journal.read(bad.id)).toHaveLength(1)
  })

  test.each<NewEvent>([note("behind a gap"), { type: "step", step: "behind a gap" }])(
    "never leaves a gap: after a failed append a $type of the same fold fails too",
    async (next) => {
      await using database = await create()
      const { store, journal } = await open(database.url)
      await using _ = store
      const conversation = await begin(store, journal)
      stage(conversation, [{ type: "step", step: "never written" }], clock)
      const lost = journal.append(conversation, stage(conversation, [next], clock), NOT_YET)
      await expect(lost).rejects.toMatchObject({ code: "lease_lost" })
      expect(await journal.read(conversation.id)).toHaveLength(1)
    },
  )

  test("refuses a claim with an outdated state, also if it adds no event", async () => {
    await using database = await create()
    const { store, journal } = await open(database.url)
    await using _ = store
    const conversation = await begin(store, journal)
    const rival = otherNode(store.engine)
    const old = await rival.load(conversation.id)
    await journal.append(conversation, stage(conversation, [{ type: "step", step: "last" }], clock), { release: true })
    expect(await rival.claim(old, [], NOT_YET)).toBe("moved")
    expect(await rival.claim(await rival.load(conversation.id), [], NOT_YET)).toBe("claimed")
  })

  test("refuses writes with a dropped state, even if this node writes with a newer one", async () => {
    await using database = await create()
    const { store, journal } = await open(database.url)
    await using _ = store
    const old = await begin(store, journal)
    journal.drop(old.id)
    const now = await journal.load(old.id)
    expect(await journal.claim(now, [], NOT_YET)).toBe("claimed")
    expect([old, now].map((fold) => journal.mayAppend(fold))).toEqual([false, true])
    await expect(append(journal, old, "late")).rejects.toMatchObject({ code: "lease_lost" })
  })

  test("takes over without changing a proposal that a queued decision has changed", async () => {
    await using database = await create()
    const { store, journal } = await open(database.url)
    await using _ = store
    const conversation = await begin(store, journal, false)
    const { id } = conversation
    const proposes = staged().wait(clock).asks("Write.").calls("write").proposes(1).events.slice(1)
    await journal.claim(conversation, stage(conversation, proposes, clock), NOT_YET)
    const status = () => store.engine.query("SELECT status FROM proposals WHERE conversation_id = ?", [id])
    expect(await status()).toEqual([{ status: "pending" }])
    const rejects = { type: "decide", proposalId: proposal(1), decision: "reject", by: "ada" } as const
    expect(await journal.addToInbox(id, rejects)).toBe("kept")
    await journal.release(id)
    const next = otherNode(store.engine)
    expect(await next.claim(await next.load(id), [], { release: false, withInbox: true })).toBe("claimed")
    expect(await status()).toEqual([{ status: "rejected" }])
    // If the journal records something else, the commit that consumes the decision corrects the row.
    const { inbox } = await next.load(id)
    expect(await next.append(await next.load(id), [], { release: false, taken: inbox })).toBe(true)
    expect(await status()).toEqual([{ status: "pending" }])
  })

  test("does not release a conversation with unread input", async () => {
    await using database = await create()
    const { store, journal } = await open(database.url)
    await using _ = store
    const conversation = await begin(store, journal)
    expect(await otherNode(store.engine).addToInbox(conversation.id, message("hello"))).toBe("kept")
    await append(journal, conversation, "I thought I was done", true)
    expect([journal.mayAppend(conversation), conversation.arrivals, bookkeepingOf(conversation).seen]).toEqual([
      true,
      1,
      0,
    ])
    const { inbox } = await journal.load(conversation.id)
    expect(inbox[0]).toMatchObject({ number: 1, input: { text: "hello" } })
    await journal.append(conversation, stage(conversation, [note("read it")], clock), { release: true, taken: inbox })
    expect(journal.mayAppend(conversation)).toBe(false)
    expect(await store.engine.query("SELECT * FROM inbox", [])).toEqual([])
  })

  test("never misses input that arrives during a release", async () => {
    await using database = await create()
    const { store, journal } = await open(database.url)
    await using _ = store
    for (let round = 0; round < 30; round++) {
      const conversation = await begin(store, journal)
      await Promise.all([
        append(journal, conversation, "done", true),
        otherNode(store.engine).addToInbox(conversation.id, message("now")),
      ])
      const [row] = await store.engine.query<{ owner: string | null; unread: number }>(
        "SELECT owner, arrivals - seen AS unread FROM conversation WHERE id = ?",
        [conversation.id],
      )
      // Either the writer still holds it and knows, or it has let go and the sweep finds unread input.
      expect(Number(row?.unread)).toBe(1)
      if (row?.owner === null) expect(await journal.abandoned(1000)).toContain(conversation.id)
      else expect(conversation.arrivals).toBe(1)
    }
  })

  test("shows messages, runs and proposals to plain SQL", async () => {
    await using database = await create()
    const { store, journal } = await open(database.url)
    await using _ = store
    const conversation = await begin(store, journal)
    const said = accept(conversation, message("Hello \u{1F600} ü"), { now: clock, maxIterations: 5, timeZone: "UTC" })
    await journal.append(conversation, stage(conversation, said, clock), { release: false })
    expect(
      await store.engine.query("SELECT role, seq, content FROM messages WHERE conversation_id = ?", [conversation.id]),
    ).toEqual([{ role: "user", seq: 1, content: "Hello \u{1F600} ü" }])
    expect(await store.engine.query("SELECT status, iteration FROM runs", [])).toEqual([
      { status: "running", iteration: 0 },
    ])
    expect(await store.engine.query("SELECT status, mode FROM conversations", [])).toEqual([
      { status: "running", mode: "confirm" },
    ])
  })

  test("returns an event of a newer version unchanged, and never claims its conversation", async () => {
    await using database = await create()
    const { store, journal } = await open(database.url)
    await using _ = store
    const { id, user } = await begin(store, journal, false)
    const sql =
      "INSERT INTO event (conversation, position, type, version, at, body) SELECT key, 2, ?, 1, 0, ? FROM conversation WHERE id = ?"
    await store.engine.change({ type: "statements", statements: [{ sql, values: ["hologram", '{"beam":7}', id] }] })
    const events = await journal.read(id)
    expect(events[1]).toEqual({ type: "hologram", version: 1, position: 2, at: 0, beam: 7 })
    expect(replay(id as ConversationId, user as UserId, events)).toMatchObject({ hasUnknownEvents: true, position: 2 })
  })
})
