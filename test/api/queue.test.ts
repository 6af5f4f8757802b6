import { describe, expect, test } from "vitest"
import { z } from "zod"
import { type AskOptions, defineTool, hasCode, openPawl, type Pawl } from "../../core/index.ts"
import { calls, fails, hangs, says, type Script, scripted } from "../../core/testing.ts"
import { openLibraryStore } from "../../core/api/store-settings.ts"
import { codeOf } from "../../core/protocol/errors.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { anyDatabase } from "../support/databases.ts"

const withdrawn = (error: unknown) => hasCode(error, "message_withdrawn")

describe.each(anyDatabase)("a question that waits behind another, on $name", ({ create }) => {
  /** A program whose first question runs until it is stopped, and a client that reads its queue. */
  async function open(...script: Script[]) {
    const { url } = await create()
    const stack = new AsyncDisposableStack()
    const gate = Promise.withResolvers<string>()
    const { promise } = gate
    const wait = {
      name: "wait",
      description: "Waits.",
      input: z.object({}),
      effect: "read",
      run: () => promise,
    } as const
    const agents = [{ name: "waiter", tools: [defineTool(wait)] }]
    const openAnother = async (...other: Script[]) =>
      stack.use(await openPawl({ store: url, models: scripted(...other), agents }))
    const store = stack.use(await openLibraryStore(url))
    const pawl = await openAnother(...script)
    const stop = new AbortController()
    const first = pawl.stream("First.", { signal: stop.signal })
    await first.next()
    const { id } = (await pawl.conversations.list()).items[0]!
    const waiting = async () =>
      (await store.queue.list(id as ConversationId, { limit: 50 })).items.map(({ text }) => text)
    /** Asks, and resolves once the question is queued. */
    const queue = async (text: string, options: AskOptions = {}, by: Pawl = pawl) => {
      const asked = by.ask(text, { conversation: id, ...options })
      asked.catch(() => {}) // looked at later
      await expect.poll(waiting).toContain(text)
      return { asked }
    }
    return {
      pawl,
      first,
      stop,
      id,
      gate,
      waiting,
      queue,
      openAnother,
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    }
  }

  test("is withdrawn when the conversation is cancelled, and so is everything else in its queue", async () => {
    await using world = await open(hangs("So far"), says("Third."))
    const [first, second] = [await world.queue("One."), await world.queue("Two.")]
    expect(await world.pawl.conversations.cancel(world.id)).toBe(true)
    await expect(first.asked).rejects.toSatisfy(withdrawn)
    await expect(second.asked).rejects.toSatisfy(withdrawn)
    expect(await world.waiting()).toEqual([])
    expect(await world.pawl.ask("Three.", { conversation: world.id })).toMatchObject({ text: "Third." })
  })

  test("runs once the previous asker stops their question", async () => {
    await using world = await open(hangs("So far"), says("Second."))
    const { asked } = await world.queue("One.")
    world.stop.abort(new Error("enough"))
    let first = await world.first.next()
    while (!first.done) first = await world.first.next()
    expect(first.value).toMatchObject({ status: "cancelled" })
    expect(await asked).toMatchObject({ status: "answered", text: "Second." })
  })

  test("is withdrawn when the run before it fails", async () => {
    await using world = await open(calls("wait"), fails("auth"), says("Second."))
    const { asked } = await world.queue("One.")
    world.gate.resolve("Waited.")
    await expect(asked).rejects.toSatisfy(withdrawn)
    expect(await world.pawl.ask("Two.", { conversation: world.id })).toMatchObject({ text: "Second." })
  })

  test("with a key is withdrawn for all callers with the key, and can be asked again", async () => {
    await using world = await open(hangs("So far"), says("Once."))
    const { pawl, id } = world
    const [one, two] = [await world.queue("One.", { key: "k" }), await world.queue("One.", { key: "k" })]
    await pawl.conversations.cancel(id)
    await expect(one.asked).rejects.toSatisfy(withdrawn)
    // The second question may enter the queue before or after the cancel. If after, it is asked again.
    expect(await two.asked.then(({ text }) => text, codeOf)).toBeOneOf(["message_withdrawn", "Once."])
    expect(await pawl.ask("One.", { conversation: id, key: "k" })).toMatchObject({ text: "Once." })
  })

  test("with a key, queued by a process that stopped, is withdrawn for the next caller with the key", async () => {
    await using world = await open(hangs("So far"), says("Once."))
    const { pawl, id } = world
    const dying = await world.openAnother()
    await world.queue("One.", { key: "k" }, dying)
    await dying.close() // the message is queued on disk, with no caller waiting for it
    await pawl.conversations.cancel(id)
    expect(await world.waiting()).toEqual(["One."])
    const asked = () => pawl.ask("One.", { conversation: id, key: "k" })
    await expect(asked()).rejects.toSatisfy(withdrawn)
    expect(await asked()).toMatchObject({ text: "Once." })
  })

  test("is withdrawn when another process withdraws it", async () => {
    await using world = await open(hangs("So far"))
    const other = await world.openAnother()
    const stop = new AbortController()
    const mine = await world.queue("One.", { key: "k" })
    const theirs = await world.queue("One.", { key: "k", signal: stop.signal }, other)
    stop.abort(new Error("enough"))
    await expect(theirs.asked).rejects.toThrow("enough")
    await expect(mine.asked).rejects.toSatisfy(withdrawn)
  })

  test("is withdrawn for a caller in another process too when the conversation is cancelled", async () => {
    await using world = await open(hangs("So far"))
    const other = await world.openAnother()
    const theirs = await world.queue("One.", {}, other)
    await world.pawl.conversations.cancel(world.id)
    await expect(theirs.asked).rejects.toSatisfy(withdrawn)
    expect(await world.waiting()).toEqual([])
  })
})
