import { describe, expect, test } from "vitest"
import { calls, says, scripted } from "../../../core/testing.ts"
import { databasesInTurn } from "../../support/databases.ts"
import { Face, type Visitor } from "../../support/server/face.ts"
import { Held, read } from "../../support/loop/tools.ts"

describe.each(databasesInTurn(import.meta.filename))("the queue on $name", ({ create }) => {
  /** A conversation in the middle of its first run. */
  const open = async (...texts: string[]) => {
    const held = new Held()
    const model = scripted(calls("wait"), says("First."), ...texts.map((text) => says(text)))
    const face = await Face.open({ url: (await create()).url, model, tools: [read("wait", held.run)] })
    const ada = await face.as("ada")
    const id = await ada.begin({ agent: "test" })
    const first = ada.say(id, "one")
    await held.begun
    return { face, ada, id, held, first, model }
  }
  const queued = async (visitor: Visitor, id: string) =>
    (await visitor.get(`/api/conversations/${id}/queue`)).body.items
  const saidIn = async (visitor: Visitor, id: string): Promise<string[]> => {
    const { messages } = (await visitor.get(`/api/conversations/${id}`)).body
    return messages.flatMap(({ role, content }: Record<string, string>) => (role === "user" ? [content] : []))
  }

  test("waiting messages are listed, changed and withdrawn until their run starts", async () => {
    const { face, ada, id, held, first } = await open("Third, answered.")
    await using _ = face
    const two = (await ada.say(id, "two")).body.queued
    const three = (await ada.say(id, "three")).body.queued
    expect(await queued(ada, id)).toMatchObject([
      { id: two.id, text: "two", when: "queue" },
      { id: three.id, text: "three", when: "queue" },
    ])
    const at = (message: string) => `/api/conversations/${id}/queue/${message}`
    expect((await ada.patch(at(three.id), { text: "three, changed" })).body).toMatchObject({ text: "three, changed" })
    expect((await ada.ask("DELETE", at(two.id))).status).toBe(204)
    expect((await ada.ask("DELETE", at(two.id))).status).toBe(404)
    held.end("found")
    await first
    await face.pawl.runtime.rest(id as never)
    expect(await saidIn(ada, id)).toEqual(["one", "three, changed"])
    expect(await queued(ada, id)).toEqual([])
    for (const late of [await ada.ask("DELETE", at(three.id)), await ada.patch(at(three.id), { text: "x" })]) {
      expect([late.status, late.body.code]).toEqual([409, "message_taken"])
    }
  })

  test("a message that the writer has read but not started is used in its current version, or not at all", async () => {
    const { face, ada, id, held, first } = await open("Changed, answered.")
    await using _ = face
    const { store } = face
    const two = (await ada.say(id, "two")).body.queued
    const three = (await ada.say(id, "three")).body.queued
    // The writer has them in memory and gets no wake-up, as if another node got the request.
    await store.journal.readInbox(id as never)
    expect(await store.queue.withdraw(id as never, two.id)).toBe(true)
    expect(await store.queue.edit(id as never, three.id, { text: "three, changed" })).toBe(true)
    held.end("found")
    await first
    await face.pawl.runtime.rest(id as never)
    expect(await saidIn(ada, id)).toEqual(["one", "three, changed"])
    const { body } = await ada.get(`/api/conversations/${id}`)
    expect([body.status, body.messages.at(-1).content]).toEqual(["active", "Changed, answered."])
  })

  test("messages held by a cancel can be withdrawn too, and leave no run", async () => {
    const { face, ada, id, held, model } = await open("Four, answered.")
    await using _ = face
    const two = (await ada.say(id, "two")).body.queued
    await ada.post(`/api/conversations/${id}/cancel`)
    held.end("too late")
    expect((await ada.ask("DELETE", `/api/conversations/${id}/queue/${two.id}`)).status).toBe(204)
    await face.pawl.runtime.rest(id as never)
    model.received.length = 0
    expect((await ada.say(id, "four")).status).toBe(200)
    expect(await saidIn(ada, id)).toEqual(["one", "four"])
    expect(await face.store.journal.abandoned(10)).toEqual([])
  })

  test("a message held by a cancel can be sent at once, once, and the rest follow in order", async () => {
    const { face, ada, id, held, model } = await open("Three, answered.", "Two, answered.")
    await using _ = face
    const two = (await ada.say(id, "two")).body.queued
    const three = (await ada.say(id, "three")).body.queued
    const send = (message: string) => ada.post(`/api/conversations/${id}/queue/${message}/send`)
    expect([(await send(three.id)).status, (await send(three.id)).body.code]).toEqual([409, "busy"])
    await ada.post(`/api/conversations/${id}/cancel`)
    held.end("too late")
    await face.pawl.runtime.rest(id as never)
    expect(await queued(ada, id)).toHaveLength(2)
    model.received.length = 0
    const [sent, again] = await Promise.all([send(three.id), send(three.id)])
    expect([sent, again].map(({ status }) => status).sort()[0]).toBe(202)
    await face.pawl.runtime.rest(id as never)
    expect(await saidIn(ada, id)).toEqual(["one", "three", "two"])
    expect([await queued(ada, id), model.received.length]).toEqual([[], 2])
    expect([(await send(two.id)).status, (await send(two.id)).body.code]).toEqual([409, "message_taken"])
    expect((await send("msg_nobody")).status).toBe(404)
    expect((await (await face.as("eve")).post(`/api/conversations/${id}/queue/${two.id}/send`)).status).toBe(404)
  })

  test("a crash between that request and its run loses nothing: the run starts like that of any other message", async () => {
    const { face, ada, id, held } = await open("Two, answered.")
    await using _ = face
    const two = (await ada.say(id, "two")).body.queued
    await ada.post(`/api/conversations/${id}/cancel`)
    held.end("too late")
    await face.pawl.runtime.rest(id as never)
    expect(await face.store.journal.abandoned(10)).toEqual([])
    // As if the process had crashed before it woke a node.
    expect(await face.store.queue.release(id as never, two.id)).toBe(true)
    expect(await face.store.journal.abandoned(10)).toEqual([id])
    await face.pawl.runtime.recover()
    await face.pawl.runtime.rest(id as never)
    expect(await saidIn(ada, id)).toEqual(["one", "two"])
  })

  test("is not found for another user, and accepts no empty text", async () => {
    const { face, ada, id, held, first } = await open("Two, answered.")
    await using _ = face
    const two = (await ada.say(id, "two")).body.queued
    const eve = await face.as("eve")
    const at = `/api/conversations/${id}/queue/${two.id}`
    expect((await eve.ask("DELETE", at)).status).toBe(404)
    expect((await eve.get(`/api/conversations/${id}/queue`)).status).toBe(404)
    expect((await ada.patch(at, { text: " " })).status).toBe(400)
    expect((await ada.patch(at, { text: "\u0000" })).status).toBe(400)
    held.end("found")
    await first
  })
})
