import { createHash } from "node:crypto"
import pg from "pg"
import { describe, expect, test } from "vitest"
import { emptyConversation } from "../../core/engine/empty-conversation.ts"
import { stage } from "../../core/engine/replay/replay.ts"
import { type FileId, newId, type UserId } from "../../core/protocol/ids.ts"
import type { FileUse } from "../../core/engine/stored-files.ts"
import type { Engine } from "../../core/store/engine/engine.ts"
import { sweepMessageFiles } from "../../core/store/files/sweep-message-files.ts"
import { openStore, type Store } from "../../core/store/store.ts"
import { databases } from "../support/databases.ts"
import { TurnedClock } from "../support/loop/world.ts"

const DAY_AND_MORE = 25 * 60 * 60_000

/** The engine, with a hook between the reads of a sweep and its first change that matches. */
function meanwhile(engine: Engine, like: RegExp, happens: () => Promise<unknown>): Engine {
  let left = 1
  const change = async (operation: Parameters<Engine["change"]>[0]) => {
    if (like.test(JSON.stringify(operation)) && left-- === 1) await happens()
    return engine.change(operation as never)
  }
  return Object.assign(Object.create(engine) as Engine, { change, query: engine.query.bind(engine) })
}

async function open(url: string) {
  const clock = new TurnedClock()
  const store = await openStore({ url, durability: "normal", clock })
  const { id: ada } = await store.people.ensure("ada", clock.now())
  const keep = async (text: string) => {
    const bytes = Buffer.from(text)
    const sha256 = createHash("sha256").update(bytes).digest("hex")
    return (await store.messageFiles.keep(ada, { name: "a.txt", type: "text/plain", bytes, sha256 }, 1e6)).id
  }
  const isThere = async (id: FileId) => (await store.messageFiles.find(ada, id)) !== undefined
  const sweep = (engine = store.engine) => sweepMessageFiles(engine, clock.now())
  const [file, use] = [await keep("a file"), { conversation: newId("conv", ada), message: newId("msg", ada) }]
  return { store, clock, ada, file, use, isThere, sweep, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() }
}

describe.each(databases)("a sweep on $name", ({ create }) => {
  test("leaves a file that a message names at that moment", async () => {
    await using database = await create()
    await using world = await open(database.url)
    const { store, ada, file, use } = world
    world.clock.shift(DAY_AND_MORE)
    const named = () => store.messageFiles.use(ada, use, [file])
    await world.sweep(meanwhile(store.engine, /DELETE FROM message_file WHERE/, named))
    expect(await world.isThere(file)).toBe(true)
  })

  test("leaves a use that is recorded again at that moment, as by a retried message", async () => {
    await using database = await create()
    await using world = await open(database.url)
    const { store, ada, file, use } = world
    await store.messageFiles.use(ada, use, [file])
    world.clock.shift(DAY_AND_MORE)
    const again = () => store.messageFiles.use(ada, use, [file])
    await world.sweep(meanwhile(store.engine, /DELETE FROM message_file_use/, again))
    expect(await world.isThere(file)).toBe(true)
    expect(await store.engine.query("SELECT file FROM message_file_use", [])).toHaveLength(1)
  })

  test("leaves an upload that finishes at that moment", async () => {
    await using database = await create()
    await using world = await open(database.url)
    const { store, file } = world
    const statement = { sql: "UPDATE message_file SET hash = ? WHERE id = ?" }
    const set = (hash: string | null) =>
      store.engine.change({ type: "statements", statements: [{ ...statement, values: [hash, file] }] })
    await set(null)
    world.clock.shift(2 * 60 * 60_000)
    await world.sweep(meanwhile(store.engine, /hash IS NULL/, () => set("whole")))
    expect(await world.isThere(file)).toBe(true)
  })

  test("leaves a file of any age that a recorded message names", async () => {
    await using database = await create()
    await using world = await open(database.url)
    const { store, ada, file, use } = world
    await record(store, ada, use)
    await store.messageFiles.use(ada, use, [file])
    for (let days = 0; days < 3; days++) {
      world.clock.shift(DAY_AND_MORE)
      await world.sweep()
    }
    expect(await world.isThere(file)).toBe(true)
  })
})

/** One conversation whose journal contains this message. */
async function record(store: Store, user: UserId, { conversation: id, message }: Required<FileUse>) {
  const conversation = emptyConversation(id, user)
  const started = { type: "conversation_started", agent: "test", model: null, provider: null } as const
  const said = { type: "message", id: message, seq: 1, role: "user", parts: [{ type: "text", text: "Look." }] } as const
  const events = stage(conversation, [{ ...started, mode: "confirm", title: null }, said as never], 1)
  await store.journal.create(conversation, events, false)
}

const postgres = databases.find(({ name }) => name === "postgres")
const WAITS = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"

describe.runIf(postgres)("on postgres, when two run at once", () => {
  /**
   * Executes the statements of one of them, keeps its transaction open until the other waits for it or has passed, and
   * commits.
   */
  async function during<T>(url: string, statements: readonly [string, readonly unknown[]][], other: () => Promise<T>) {
    const client = new pg.Client(url)
    await client.connect()
    try {
      await client.query("BEGIN")
      for (const [sql, values] of statements) await client.query(sql, [...values])
      let isOver = false
      const outcome = other().finally(() => (isOver = true))
      await expect.poll(async () => isOver || (await client.query(WAITS)).rowCount === 1).toBe(true)
      await client.query("COMMIT")
      return await outcome
    } finally {
      await client.end()
    }
  }

  test("the sweep waits for a message that is about to name a file, and leaves it", async () => {
    await using database = await postgres!.create()
    await using world = await open(database.url)
    const { ada, file, use } = world
    world.clock.shift(DAY_AND_MORE)
    const used =
      "INSERT INTO message_file_use (file, conversation, message, person, used_at) VALUES ($1, $2, $3, $4, $5)"
    await during(
      database.url,
      [
        ["UPDATE message_file SET size = size WHERE id = $1", [file]],
        [used, [file, use.conversation, use.message, ada, world.clock.now()]],
      ],
      () => world.sweep(),
    )
    expect(await world.isThere(file)).toBe(true)
  })

  test("a message waits for the sweep that is about to delete its file, and learns that it is gone", async () => {
    await using database = await postgres!.create()
    await using world = await open(database.url)
    const { store, ada, file, use } = world
    const gone: [string, readonly unknown[]][] = [
      ["UPDATE message_file SET size = size WHERE id = $1", [file]],
      ["DELETE FROM message_file WHERE id = $1", [file]],
      ["DELETE FROM message_file_part WHERE file = $1", [file]],
    ]
    expect(await during(database.url, gone, () => store.messageFiles.use(ada, use, [file]))).toBeUndefined()
  })
})
