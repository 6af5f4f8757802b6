import { createHash } from "node:crypto"
import { describe, expect, test } from "vitest"
import { emptyConversation } from "../../core/engine/empty-conversation.ts"
import { stage } from "../../core/engine/replay/replay.ts"
import { type ConversationId, newId, type UserId } from "../../core/protocol/ids.ts"
import type { NewMessageFile } from "../../core/engine/stored-files.ts"
import { openStore, type Store } from "../../core/store/store.ts"
import { databases } from "../support/databases.ts"
import { message, TurnedClock } from "../support/loop/world.ts"

const HOUR = 60 * 60_000
const MOST = 100 * 1024 * 1024

const file = (bytes: Buffer, name = "a.txt"): NewMessageFile => ({
  ...{ name, type: "text/plain", bytes },
  sha256: createHash("sha256").update(bytes).digest("hex"),
})

const count = async ({ engine }: Store, table: string) =>
  Number((await engine.query<{ n: number }>(`SELECT count(*) AS n FROM ${table}`, []))[0]?.n)

const bytesOf = async (store: Store, user: UserId, id: Parameters<Store["messageFiles"]["read"]>[1]) => {
  const parts: Uint8Array[] = []
  for await (const part of store.messageFiles.read(user, id)) parts.push(part)
  return Buffer.concat(parts)
}

describe.each(databases)("on $name", ({ create }) => {
  async function open() {
    const database = await create()
    const clock = new TurnedClock()
    const store = await openStore({ url: database.url, durability: "normal", clock })
    const person = async (name: string) => (await store.people.ensure(name, clock.now())).id
    return {
      ...{ store, clock, person, files: store.messageFiles },
      async [Symbol.asyncDispose]() {
        await store[Symbol.asyncDispose]()
        await database[Symbol.asyncDispose]()
      },
    }
  }

  test("the same bytes twice are one file of a user, and another user has a separate one", async () => {
    await using world = await open()
    const { store, files, person } = world
    const [ada, bob] = [await person("ada"), await person("bob")]
    const bytes = Buffer.alloc(2.5 * 1024 * 1024, "abc")
    const [one, same] = await Promise.all([files.keep(ada, file(bytes), MOST), files.keep(ada, file(bytes), MOST)])
    const named = await files.keep(ada, file(bytes, "b.txt"), MOST)
    const other = await files.keep(bob, file(bytes), MOST)
    expect([same.id, named.id]).toEqual([one.id, one.id])
    expect(other.id).not.toBe(one.id)
    expect(await files.find(ada, one.id)).toMatchObject({ name: "b.txt", size: bytes.length })
    expect(await files.find(bob, one.id)).toBeUndefined()
    expect((await bytesOf(store, ada, one.id)).equals(bytes)).toBe(true)
    expect(await bytesOf(store, bob, one.id)).toHaveLength(0)
    expect(await count(store, "message_file_part")).toBe(6)
  })

  test("a user cannot store more than the limit", async () => {
    await using world = await open()
    const ada = await world.person("ada")
    await world.files.keep(ada, file(Buffer.alloc(700, "a")), 1000)
    await expect(world.files.keep(ada, file(Buffer.alloc(700, "b")), 1000)).rejects.toMatchObject({
      code: "files_full",
    })
    expect(await count(world.store, "message_file")).toBe(1)
  })

  test("a file that no message names is deleted after a day, and a named one stays", async () => {
    await using world = await open()
    const { store, files, clock, person } = world
    const ada = await person("ada")
    const { id: conversation } = await begin(store, ada)
    const [idle, used, lost] = [await keep("idle"), await keep("used"), await keep("lost")]
    async function keep(text: string) {
      return (await files.keep(ada, file(Buffer.from(text)), MOST)).id
    }
    const said = message("Look.")
    await files.use(ada, { conversation, message: said.id }, [used])
    // Recorded, and then the process was killed before the message was.
    await files.use(ada, { conversation, message: newId("msg", ada) }, [lost])
    await store.journal.addToInbox(conversation, said)
    clock.shift(23 * HOUR)
    await files.sweep()
    expect(await count(store, "message_file")).toBe(3)
    clock.shift(2 * HOUR)
    await files.sweep()
    expect(await Promise.all([idle, used, lost].map(async (id) => Boolean(await files.find(ada, id))))).toEqual([
      false,
      true,
      false,
    ])
    expect(await count(store, "message_file_part")).toBe(1)
  })

  test("an interrupted upload is visible to no one, and is swept up", async () => {
    await using world = await open()
    const { store, files, clock, person } = world
    const ada = await person("ada")
    const cut = `INSERT INTO message_file (id, person, hash, name, type, size, created_at)
      VALUES ('file_cut', ?, NULL, 'a', 'text/plain', 5, ?)`
    const part = "INSERT INTO message_file_part (file, number, person, bytes) VALUES ('file_cut', 0, ?, ?)"
    const statements = [
      { sql: cut, values: [ada, clock.now()] },
      { sql: part, values: [ada, Buffer.from("ab")] },
    ]
    await store.engine.change({ type: "statements", statements })
    expect(await files.find(ada, "file_cut" as never)).toBeUndefined()
    expect(await files.use(ada, { conversation: "conv_x" as ConversationId }, ["file_cut" as never])).toBeUndefined()
    clock.shift(2 * HOUR)
    await files.sweep()
    expect([await count(store, "message_file"), await count(store, "message_file_part")]).toEqual([0, 0])
  })

  test("a use that is recorded again counts from then, so that a retried message keeps its file", async () => {
    await using world = await open()
    const { store, files, clock, person } = world
    const ada = await person("ada")
    const { id: conversation } = await begin(store, ada)
    const use = { conversation, message: newId("msg", ada) }
    const { id } = await files.keep(ada, file(Buffer.from("late")), MOST)
    await files.use(ada, use, [id])
    clock.shift(25 * HOUR)
    await files.use(ada, use, [id])
    await files.sweep()
    expect(await files.find(ada, id)).toBeDefined()
    clock.shift(25 * HOUR)
    await files.sweep()
    expect(await files.find(ada, id)).toBeUndefined()
  })

  test("deleting a conversation deletes the files that nothing else uses", async () => {
    await using world = await open()
    const { store, files, person } = world
    const ada = await person("ada")
    const [one, two] = [await begin(store, ada), await begin(store, ada)]
    const keep = async (text: string) => (await files.keep(ada, file(Buffer.from(text)), MOST)).id
    const [only, both, draft] = [await keep("only"), await keep("both"), await keep("draft")]
    await files.use(ada, { conversation: one.id }, [only, both])
    await files.shareUses(ada, one.id, two.id)
    await files.remove(ada, draft)
    await files.use(ada, { conversation: two.id }, [both])
    await store.engine.change({
      type: "statements",
      statements: [{ sql: "DELETE FROM message_file_use WHERE file = ? AND conversation = ?", values: [only, two.id] }],
    })
    const waiting = await keep("waits for its first message")
    expect(await store.retention.eraseConversation(ada, one.id)).toBe(true)
    expect(await files.find(ada, only)).toBeUndefined()
    expect(await files.find(ada, both)).toBeDefined()
    expect(await files.find(ada, waiting)).toBeDefined()
    expect(await store.retention.eraseConversation(ada, two.id)).toBe(true)
    expect(await count(store, "message_file_part")).toBe(1)
    expect(await count(store, "message_file_use")).toBe(0)
  })

  test("erasing a user deletes the bytes, too", async () => {
    await using world = await open()
    const { store, files, person } = world
    const ada = await person("ada")
    const { id } = await files.keep(ada, file(Buffer.from("Hello")), MOST)
    const lines = await Array.fromAsync(store.retention.exportOf(ada))
    expect(lines).toContainEqual(expect.objectContaining({ kind: "message_file", id, name: "a.txt", size: 5 }))
    const base64 = Buffer.from("Hello").toString("base64")
    expect(lines).toContainEqual({ kind: "message_file_part", file: id, number: 0, base64 })
    await store.retention.erasePerson(ada)
    expect([await count(store, "message_file"), await count(store, "message_file_part")]).toEqual([0, 0])
  })
})

async function begin(store: Store, user: UserId) {
  const conversation = emptyConversation(newId("conv", user), user)
  const started = { type: "conversation_started", agent: "test", model: null, provider: null } as const
  const events = stage(conversation, [{ ...started, mode: "confirm", title: null }], 1)
  await store.journal.create(conversation, events, false)
  return conversation
}
