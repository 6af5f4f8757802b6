import { describe, expect, test } from "vitest"
import { databases } from "../../../test/support/databases.ts"
import { TurnedClock } from "../../../test/support/loop/world.ts"
import { type Conversation } from "../../engine/conversation.ts"
import { emptyConversation } from "../../engine/empty-conversation.ts"
import { stage } from "../../engine/replay/replay.ts"
import { newId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"
import { SqlJournal } from "./journal.ts"
import { ThisNode } from "./nodes.ts"
import { openStore, type Store } from "../store.ts"

const HOUR = 3_600_000
const LEASE_SECONDS = 8
const SWEEP_MS = 2000

/** A node on a shared database, with a clock of its own; dead, it says nothing more. */
class Peer {
  readonly clock: TurnedClock
  readonly node: ThisNode
  readonly journal: SqlJournal
  #dead = false

  constructor(engine: Engine, clock = new TurnedClock()) {
    const shared = { ...engine, exclusive: false }
    this.clock = clock
    this.node = new ThisNode(shared, { clock, leaseSeconds: LEASE_SECONDS })
    this.journal = new SqlJournal(shared, this.node)
    const needed = () => !this.#dead && this.journal.held > 0
    this.node.keepAlive(needed, () => {})
  }

  kill(): void {
    this.#dead = true
  }

  async begin(store: Store): Promise<Conversation> {
    const { id: user } = await store.people.ensure("ada", 1)
    const conversation = emptyConversation(newId("conv"), user)
    const start = { type: "conversation_started", agent: "a", model: null, provider: null, title: null } as const
    const events = stage(conversation, [{ ...start, mode: "confirm" }], this.clock.now())
    await this.journal.create(conversation, events, true)
    return conversation
  }

  /** Sweeps as a server does, until it finds something, for at most so long. */
  async finds(ms: number, beside?: Peer): Promise<number | undefined> {
    for (let passed = 0; passed <= ms; passed += SWEEP_MS) {
      if ((await this.journal.abandoned(10)).length > 0) return passed
      await Promise.all([this.clock.turn(SWEEP_MS), beside?.clock.turn(SWEEP_MS)])
      await beside?.node.alive() // resolves after the write that the heartbeat started
    }
    return undefined
  }
}

describe.each(databases)("on $name", ({ create }) => {
  test.each([
    ["an hour back", -HOUR],
    ["ten minutes ahead", HOUR / 6],
    ["right", 0],
  ])("the conversations of a failed node are found within 15 s by a node whose clock is %s", async (_, shift) => {
    await using database = await create()
    await using store = await openStore({ ...database, durability: "normal" })
    const dead = new Peer(store.engine)
    const { id } = await dead.begin(store)
    dead.kill()
    const other = new Peer(store.engine)
    other.clock.shift(shift)
    expect(await other.finds(15_000)).toBeGreaterThanOrEqual(LEASE_SECONDS * 1000)
    const taken = await other.journal.load(id)
    expect(await other.journal.claim(taken, [], { release: false })).toBe("claimed")
  })

  test.each([
    ["an hour back", -HOUR],
    ["ten minutes ahead", HOUR / 6],
    ["jumping", 0],
  ])("a live node never loses its lease to a node whose clock is %s", async (_, shift) => {
    await using database = await create()
    await using store = await openStore({ ...database, durability: "normal" })
    const living = new Peer(store.engine)
    const conversation = await living.begin(store)
    const other = new Peer(store.engine)
    for (const jump of shift ? [shift] : [HOUR, -3 * HOUR, 2 * HOUR]) {
      other.clock.shift(jump)
      living.clock.shift(-jump)
      expect(await other.finds(60_000, living)).toBe(undefined)
      expect(await other.journal.claim(await other.journal.load(conversation.id), [], { release: false })).toBe("busy")
    }
    const staged = stage(conversation, [{ type: "settings", title: "still mine" }], 2)
    expect(await living.journal.append(conversation, staged, { release: true })).toBe(true)
  })

  test.each([
    ["an hour back", -HOUR],
    ["ten minutes ahead", HOUR / 6],
  ])(
    "what a dead node has left is found in the same time when the clock is set %s after the crash",
    async (_, shift) => {
      const foundAfter = async (setAfterTheFirstLook: number) => {
        await using database = await create()
        await using store = await openStore({ ...database, durability: "normal" })
        const dead = new Peer(store.engine)
        await dead.begin(store)
        dead.kill()
        const other = new Peer(store.engine)
        expect(await other.journal.abandoned(10)).toEqual([]) // from here on it counts
        other.clock.shift(setAfterTheFirstLook)
        return await other.finds(15_000)
      }
      const usual = await foundAfter(0)
      expect(usual).toBeGreaterThanOrEqual(LEASE_SECONDS * 1000)
      expect(await foundAfter(shift)).toBe(usual)
    },
  )

  test("a clock that is set ten minutes ahead before every check does not expire the lease of a live node", async () => {
    await using database = await create()
    await using store = await openStore({ ...database, durability: "normal" })
    const living = new Peer(store.engine)
    await living.begin(store)
    const other = new Peer(store.engine)
    for (let look = 0; look < 40; look++) {
      expect(await other.journal.abandoned(10)).toEqual([])
      other.clock.shift(HOUR / 6)
      // Several looks between two signs of life: each may count only what has really passed.
      await Promise.all([living.clock.turn(SWEEP_MS / 4), other.clock.turn(SWEEP_MS / 4)])
      if (look % 5 === 4) await living.node.alive() // resolves after the write that the heartbeat started
    }
  })

  test("a live node whose clock is set back by less than a lease still sends its heartbeats in time", async () => {
    await using database = await create()
    await using store = await openStore({ ...database, durability: "normal" })
    const living = new Peer(store.engine)
    await living.begin(store)
    living.clock.shift(-(LEASE_SECONDS * 1000 - 1))
    const other = new Peer(store.engine)
    expect(await other.finds(60_000, living)).toBe(undefined)
  })

  test("a node that was stopped expires no lease with its first check afterwards", async () => {
    await using database = await create()
    await using store = await openStore({ ...database, durability: "normal" })
    const living = new Peer(store.engine)
    await living.begin(store)
    const other = new Peer(store.engine)
    await other.journal.abandoned(10)
    await other.clock.turn(HOUR) // the whole machine was suspended, or the database was away: no node could send a heartbeat
    expect(await other.journal.abandoned(10)).toEqual([])
    expect(await other.finds(60_000, living)).toBe(undefined)
  })

  test("a node whose row was deleted while its machine slept sends a heartbeat before it claims another lease", async () => {
    await using database = await create()
    await using store = await openStore({ ...database, durability: "normal" })
    const asleep = new Peer(store.engine)
    await asleep.begin(store)
    asleep.kill()
    const other = new Peer(store.engine)
    await other.finds(15_000)
    asleep.clock.shift(HOUR) // its monotonic clock stood still meanwhile
    await asleep.begin(store)
    const rows = await store.engine.query<{ id: string }>("SELECT id FROM node", [])
    expect(rows.map(({ id }) => id)).toContain(asleep.node.id)
  })

  test("loops that need a heartbeat at the same moment share one", async () => {
    await using database = await create()
    await using store = await openStore({ ...database, durability: "normal" })
    let written = 0
    const counted: Engine = {
      ...store.engine,
      change: ((operation: never) => {
        written++
        return store.engine.change(operation)
      }) as Engine["change"],
    }
    const peer = new Peer(counted)
    await Promise.all(Array.from({ length: 64 }, () => peer.node.alive()))
    expect(written).toBe(1)
  })
})
