import { describe, expect, test } from "vitest"
import { databases } from "../../../test/support/databases.ts"
import { emptyConversation } from "../../engine/empty-conversation.ts"
import { stage } from "../../engine/replay/replay.ts"
import { newId, type MessageId } from "../../protocol/ids.ts"
import { openStore } from "../store.ts"

describe.each(databases)("the inbox on $name", ({ create }) => {
  /** A conversation whose writer has read two waiting messages and is about to take them. */
  async function open() {
    const { url } = await create()
    const store = await openStore({ url, durability: "normal" })
    const { id: user } = await store.people.ensure("ada", 1)
    const conversation = emptyConversation(newId("conv"), user)
    const head = { agent: "test", model: null, provider: null, mode: "confirm", title: null } as const
    await store.journal.create(conversation, stage(conversation, [{ type: "conversation_started", ...head }], 1), true)
    const { id } = conversation
    const [first, second] = [newId("msg"), newId("msg")]
    const arrive = (message: MessageId, text: string) =>
      store.journal.addToInbox(id, { type: "message", id: message, text, when: "queue" })
    await arrive(first, "one")
    await arrive(second, "two")
    await store.journal.readInbox(id)
    const take = () => {
      const taken = conversation.inbox
      conversation.inbox = []
      const step = stage(conversation, [{ type: "step", step: "taken" }], 2)
      return store.journal.append(conversation, step, { taken, release: false })
    }
    const waiting = async () => (await store.journal.load(id)).inbox.map(({ input }) => "text" in input && input.text)
    return { store, id, first, second, take, waiting }
  }

  test("the writer consumes what it has read, in the commit of its events", async () => {
    const { store, id, take, waiting } = await open()
    await using _ = store
    expect(await take()).toBe(true)
    expect(await waiting()).toEqual([])
    expect((await store.queue.list(id, { limit: 50 })).items).toEqual([])
  })

  test("a message that was withdrawn or changed after it was read is not consumed; nothing is recorded, and the inbox is read again", async () => {
    const { store, id, first, second, take, waiting } = await open()
    await using _ = store
    expect(await store.queue.withdraw(id, first)).toBe(true)
    expect(await store.queue.edit(id, second, { text: "two, changed" })).toBe(true)
    expect(await take()).toBe(false)
    expect((await store.journal.read(id)).map(({ type }) => type)).toEqual(["conversation_started"])
    expect(store.journal.isWriterOf(id)).toBe(true)
    expect(await waiting()).toEqual(["two, changed"])
  })

  test("a consumed message can no longer be withdrawn, and a concurrent read does not bring it back", async () => {
    const { store, id, first, second, take, waiting } = await open()
    await using _ = store
    const look = store.journal.readInbox(id)
    expect(await take()).toBe(true)
    await look
    expect(await store.queue.withdraw(id, first)).toBe(false)
    expect(await store.queue.edit(id, second, { text: "late" })).toBe(false)
    expect(await waiting()).toEqual([])
  })
})
