import pg from "pg"
import { describe, expect, test } from "vitest"
import { countQueries } from "../../../test/support/count-queries.ts"
import { databases } from "../../../test/support/databases.ts"
import type { Conversation } from "../../engine/conversation.ts"
import { emptyConversation } from "../../engine/empty-conversation.ts"
import { SNAPSHOT_VERSION } from "../../engine/replay/snapshot.ts"
import { replay, stage } from "../../engine/replay/replay.ts"
import type { JournalEvent, NewEvent } from "../../protocol/events.ts"
import { newId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"
import { text } from "../../engine/staged.fixture.ts"
import type { Statements } from "../engine/operations.ts"
import { openStore } from "../store.ts"
import { readConversation } from "./read-conversation.ts"

const NOW = Date.UTC(2026, 0, 1)
const STARTED = { type: "conversation_started", agent: "a", model: null, provider: null, mode: "confirm" } as const
const comparable = ({ inbox: _, arrivals: __, ...rest }: Conversation) => rest

describe.each(databases)("the snapshot of a long conversation on $name", ({ name, create }) => {
  /** A conversation of so many runs, each of four events. */
  async function open(runs: number) {
    const database = await create()
    const store = await openStore({ url: database.url, durability: "normal" })
    const { journal, engine } = store
    const { id: user } = await store.people.ensure("ada", NOW)
    const conversation = emptyConversation(newId("conv"), user)
    const { id } = conversation
    await journal.create(conversation, stage(conversation, [{ ...STARTED, title: null }], NOW), true)
    const talk = async (count: number) => {
      for (let run = 0; run < count; run++) await journal.append(conversation, turn(conversation), { release: false })
    }
    await talk(runs)
    const read = async () => (await readConversation(engine, id)).conversation
    const rows = () =>
      engine.query<{ position: number; version: string; body: string }>(
        "SELECT position, version, body FROM kept_fold",
        [],
      )
    return {
      ...{ store, engine, id, user, talk, read, rows, url: database.url },
      change: (sql: string, ...values: unknown[]) =>
        engine.change({ type: "statements", statements: [{ sql, values, mustChange: true }] }),
      /** Reads until the snapshot is stored, which happens after the read returns. */
      async kept() {
        await read()
        await expect.poll(rows).toHaveLength(1)
        return (await rows())[0]!
      },
      /** The state computed from the whole journal. */
      whole: async () => replay(id, user, (await journal.read(id)) as JournalEvent[]),
      async [Symbol.asyncDispose]() {
        await store[Symbol.asyncDispose]()
        await database[Symbol.asyncDispose]()
      },
    }
  }

  /** An engine that counts how often a whole history is read. */
  function counting(engine: Engine) {
    const counted = { whole: 0 }
    const eventsToReplay: Engine["eventsToReplay"] = (key) => (counted.whole++, engine.eventsToReplay(key))
    const { stateSource } = engine
    const counting: Engine["stateSource"] = async (...given) => {
      const source = await stateSource?.(...given)
      counted.whole += source && source.events.length > 0 ? 1 : 0
      return source
    }
    return { counted, engine: { ...engine, eventsToReplay, ...(stateSource ? { stateSource: counting } : {}) } }
  }

  /** An engine that delays its changes until `go()`. */
  function delayed(engine: Engine) {
    const { promise, resolve: go } = Promise.withResolvers<void>()
    const changes: Promise<unknown>[] = []
    const change = (operation: Statements) => {
      const changed = promise.then(() => engine.change(operation))
      changes.push(changed)
      return changed
    }
    return { engine: { ...engine, change: change as Engine["change"] }, go, done: () => Promise.allSettled(changes) }
  }

  test("is stored after a complete read, and then only it and later events are read", async () => {
    await using world = await open(60)
    expect(await world.rows()).toEqual([])
    const { position, version } = await world.kept()
    expect([position, version]).toEqual([241, SNAPSHOT_VERSION])
    await world.talk(3)
    const { counted, engine } = counting(world.engine)
    const { conversation } = await readConversation(engine, world.id)
    expect([conversation.position, counted.whole]).toEqual([253, 0])
    expect(comparable(conversation)).toEqual(comparable(await world.whole()))
  })

  test.runIf(name === "postgres")(
    "is one way to the server for a short conversation, and two for a long one",
    async () => {
      await using short = await open(1)
      expect(await countQueries(() => readConversation(short.engine, short.id))).toBe(1)
      await using long = await open(60)
      await long.kept()
      expect(await countQueries(() => readConversation(long.engine, long.id))).toBe(2)
    },
  )

  test.runIf(name === "postgres")(
    "is read whole where it is kept between the two questions of one reading",
    async () => {
      await using world = await open(60)
      const { position, version, body } = await world.kept()
      await world.change("DELETE FROM kept_fold")
      const other = new pg.Client({ connectionString: world.url })
      await other.connect()
      await world.engine.stateSource?.(world.id, SNAPSHOT_VERSION) // prepared by now: what follows is asked one after the other
      // The reader has the row then, and its query for the events waits.
      await other.query("BEGIN; LOCK TABLE event IN ACCESS EXCLUSIVE MODE")
      const reading = readConversation(world.engine, world.id)
      const waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'event'::regclass"
      await expect.poll(async () => (await other.query(waiting)).rowCount).toBe(1)
      const insert =
        "INSERT INTO kept_fold (conversation, position, version, body) SELECT key, $1, $2, $3 FROM conversation"
      await other.query(insert, [position, version, body])
      await other.query("COMMIT")
      await other.end()
      expect(comparable((await reading).conversation)).toEqual(comparable(await world.whole()))
    },
  )

  test("is replaced when many events follow it, and never by an older one", async () => {
    await using world = await open(60)
    const late = delayed(world.engine)
    await readConversation(late.engine, world.id)
    await world.talk(40)
    await world.read()
    await expect.poll(async () => (await world.rows())[0]?.position).toBe(401)
    late.go()
    await late.done()
    expect((await world.rows())[0]?.position).toBe(401)
    expect(comparable(await world.read())).toEqual(comparable(await world.whole()))
  })

  test.each([
    ["is torn", "UPDATE kept_fold SET body = substr(body, 1, 1000)"],
    ["has a number for a map", `UPDATE kept_fold SET body = replace(body, '"proposals":[]', '"proposals":5')`],
    ["says another position than its row", "UPDATE kept_fold SET position = position - 4"],
    ["is of another version", "UPDATE kept_fold SET version = '1.0'"],
    ["is ahead of the journal", "DELETE FROM event WHERE position > 200"],
  ])("that %s is ignored and computed again from the journal", async (_, sql) => {
    await using world = await open(60)
    await world.kept()
    await world.change(sql)
    const { counted, engine } = counting(world.engine)
    const { conversation } = await readConversation(engine, world.id)
    expect(counted.whole).toBe(1)
    expect(comparable(conversation)).toEqual(comparable(await world.whole()))
  })

  test("is not stored for a short conversation, during a run, or if the store refuses it", async () => {
    await using short = await open(20)
    await short.read()
    await short.talk(1) // a commit after it: it would be there by now
    expect(await short.rows()).toEqual([])

    await using world = await open(60)
    const away = { ...world.engine, change: () => Promise.reject(new Error("away")) }
    expect(comparable((await readConversation(away, world.id)).conversation)).toEqual(comparable(await world.whole()))
    const middle = `DELETE FROM event WHERE position > 240`
    await world.change(middle)
    expect((await world.read()).run?.status).toBe("running")
    await world.change("UPDATE conversation SET title = 'x'")
    expect(await world.rows()).toEqual([])
  })

  test("is deleted with its conversation, also by a version that does not know snapshots", async () => {
    await using world = await open(60)
    await world.kept()
    // As it does with the newest one on SQLite, whose key must not be given again.
    await world.change("UPDATE conversation SET key = key + 1, id = 'erased_1'")
    await world.change("DELETE FROM conversation WHERE id = 'erased_1'")
    expect(await world.rows()).toEqual([])
  })

  test("is deleted with its conversation, also if it is being stored", async () => {
    await using world = await open(60)
    await world.kept()
    const late = delayed(world.engine)
    await world.change("UPDATE kept_fold SET version = '1.0'")
    await readConversation(late.engine, world.id)
    await world.store.retention.eraseConversation(world.user, world.id)
    expect(await world.rows()).toEqual([])
    late.go()
    expect(await late.done()).toHaveLength(1)
    await expect(world.read()).rejects.toMatchObject({ code: "not_found" })
    expect(await world.rows()).toEqual([])
  })
})

let runs = 0

/** One run with a question and its answer. */
function turn(conversation: Conversation): JournalEvent[] {
  const { seq } = conversation
  const said = (role: "user" | "assistant", at: number) =>
    ({ type: "message", id: newId("msg"), seq: seq + at, role, parts: [text(`${role} ${runs++}`)] }) satisfies NewEvent
  return stage(
    conversation,
    [
      { type: "run_started", runId: newId("run"), maxIterations: 5 },
      said("user", 1),
      { ...said("assistant", 2), finish: "stop" },
      { type: "run_ended", status: "completed" },
    ],
    NOW,
  )
}
