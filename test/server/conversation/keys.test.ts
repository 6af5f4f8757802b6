import { describe, expect, test } from "vitest"
import { calls, says, scripted } from "../../../core/testing.ts"
import { anyDatabase } from "../../support/databases.ts"
import { Face, type Visitor } from "../../support/server/face.ts"
import { readFrames, transcriptOf } from "../../support/server/stream.ts"
import { Held, read } from "../../support/loop/tools.ts"
import { TurnedClock } from "../../support/loop/world.ts"

const say = (visitor: Visitor, id: string, text: string, key: string) =>
  visitor.post(`/api/conversations/${id}/messages`, { text }, { "idempotency-key": key })

describe.each(anyDatabase)("a message with a key on $name", ({ create }) => {
  test("sent again is the same message, with the same answer, and the model is asked once", async () => {
    const model = scripted(says("Hello."), says("Other."))
    await using face = await Face.open({ url: (await create()).url, model })
    const ada = await face.as("ada")
    const id = await ada.begin()
    const first = await say(ada, id, "hi", "k1")
    const again = await say(ada, id, "hi", "k1")
    expect([first.status, again.status]).toEqual([200, 200])
    expect(again.body.messages).toEqual(first.body.messages)
    expect(again.body.run).toEqual(first.body.run)
    expect(model.received).toHaveLength(1)
    const other = await say(ada, await ada.begin(), "hi", "k1")
    expect(other.body.messages.at(-1).content).toBe("Other.")
  })

  test("with another body is refused", async () => {
    await using face = await Face.open({ url: (await create()).url, model: scripted(says("Hello.")) })
    const ada = await face.as("ada")
    const id = await ada.begin()
    await say(ada, id, "hi", "k1")
    const { status, body } = await say(ada, id, "bye", "k1")
    expect([status, body.code]).toEqual([422, "key_reused"])
    expect((await say(ada, id, "hi", "x".repeat(256))).status).toBe(400)
  })

  test("sent again while its run is at work does not delay a shutdown", async () => {
    const held = new Held()
    const model = scripted(calls("wait"), says("Found."))
    await using face = await Face.open({ url: (await create()).url, model, tools: [read("wait", held.run)] })
    const ada = await face.as("ada")
    const id = await ada.begin({ agent: "test" })
    const first = say(ada, id, "hi", "k1")
    await held.begun
    const registered = Promise.withResolvers<void>()
    const register = face.revocation.register.bind(face.revocation)
    face.revocation.register = (...given) => {
      registered.resolve()
      return register(...given)
    }
    const again = say(ada, id, "hi", "k1")
    await registered.promise
    await face.pawl.runtime.close()
    face.revocation.closeAll()
    for (const { status, body } of await Promise.all([first, again])) {
      expect([status, body.queued.text]).toEqual([202, "hi"])
    }
  })

  test("sent many times at once is accepted once, and every sender gets its run", async () => {
    const held = new Held()
    const model = scripted(calls("wait"), says("Found."))
    await using face = await Face.open({ url: (await create()).url, model, tools: [read("wait", held.run)] })
    const ada = await face.as("ada")
    const id = await ada.begin({ agent: "test" })
    const sent = Array.from({ length: 10 }, () => say(ada, id, "hi", "k1"))
    await held.begun
    const streamed = ada.send("POST", `/api/conversations/${id}/messages`, {
      body: { text: "hi" },
      headers: { "idempotency-key": "k1", accept: "text/event-stream" },
    })
    held.end("here")
    const answers = await Promise.all(sent)
    expect(transcriptOf(await readFrames(await streamed, () => false)).shown).toEqual(["", "Found."])
    const runs = (await ada.get(`/api/conversations/${id}/runs`)).body.items
    expect(runs).toHaveLength(1)
    for (const { status, body } of answers) expect([status, body.run.id]).toEqual([200, runs[0].id])
    const { body } = await ada.get(`/api/conversations/${id}`)
    expect(body.messages.filter(({ role }: { role: string }) => role === "user")).toHaveLength(1)
    expect(model.received).toHaveLength(2)
  })

  test("is sent once after a crash between storing the key and the message", async () => {
    await using face = await Face.open({ url: (await create()).url, model: scripted(says("Hello.")) })
    const ada = await face.as("ada")
    const id = await ada.begin()
    const body = JSON.stringify({ text: "hi" })
    const claimed = await face.store.messageKeys.claim(id as never, {
      key: "k1",
      body,
      messageId: "msg_first" as never,
    })
    expect(claimed).toBe("msg_first")
    const answer = await say(ada, id, "hi", "k1")
    expect(answer.body.messages[0]).toMatchObject({ id: "msg_first", content: "hi" })
    expect((await say(ada, id, "hi", "k1")).body.messages).toEqual(answer.body.messages)
  })

  test("after a day the key is free again", async () => {
    const clock = new TurnedClock()
    const model = scripted(says("One."), says("Two."))
    await using face = await Face.open({ url: (await create()).url, model, clock })
    const ada = await face.as("ada")
    const id = await ada.begin()
    await say(ada, id, "hi", "k1")
    clock.shift(24 * 60 * 60 * 1000)
    expect((await say(ada, id, "bye", "k1")).body.messages.at(-1).content).toBe("Two.")
  })
})
