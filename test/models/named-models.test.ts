import { describe, expect, test } from "vitest"
import { calls, fails, hangs, says, scripted } from "../../core/testing.ts"
import { anyDatabase } from "../support/databases.ts"
import { openServer } from "../support/server/socket.ts"
import { write } from "../support/loop/tools.ts"

describe.each(anyDatabase)("the name of the answering model on $name", (database) => {
  test("is reported by a conversation without a chosen model: created, read, listed, changed, forked and in the feed", async () => {
    await using server = await openServer({ database, model: scripted(says("One.")) })
    const ada = await server.visitor("ada")
    const { body: begun } = await ada.post("/api/conversations", { agent: "test" })
    const provider = (await ada.get("/api/models")).body.items.find(
      ({ name }: { name: string }) => name === "scripted",
    ).provider
    const expected = { model: "scripted", provider, modelChosen: false }
    expect(begun).toMatchObject(expected)
    expect((await ada.say(begun.id, "go")).body.conversation).toMatchObject(expected)
    const at = `/api/conversations/${begun.id}`
    expect((await ada.get(at)).body).toMatchObject(expected)
    expect((await ada.get("/api/conversations")).body.items).toMatchObject([expected])
    expect((await ada.patch(at, { title: "T" })).body).toMatchObject({ ...expected, title: "T" })
    expect((await ada.post(`${at}/fork`, { position: 1 })).body).toMatchObject(expected)
    using peer = await server.socket("ada")
    peer.send({ type: "attach" })
    await peer.until(() => peer.events().length > 0)
    expect(peer.events()[0]?.data).toMatchObject({ conversations: [expected, expected] })
  })

  test("is reported by a conversation with a chosen model, which says so", async () => {
    await using server = await openServer({ database, model: scripted() })
    const ada = await server.visitor("ada")
    const { body } = await ada.post("/api/conversations", { agent: "test", model: "scripted" })
    expect(body).toMatchObject({ model: "scripted", modelChosen: true })
    expect((await ada.get("/api/conversations")).body.items).toMatchObject([{ model: "scripted", modelChosen: true }])
  })

  test("is reported by a run: while it works, while it waits, when it is over, and in the list", async () => {
    const script = scripted(calls("change", { q: "a" }), says("Done."), fails("refused"), hangs("Well, "))
    await using server = await openServer({ database, model: script, tools: [write("change")] })
    const ada = await server.visitor("ada")
    const id = await ada.begin({ agent: "test" })
    const paused = (await ada.say(id, "go")).body
    expect(paused.run).toMatchObject({ status: "paused", model: "scripted" })
    await ada.post(`/api/agent/proposals/${paused.proposals[0].id}/commit`)
    await ada.post(`/api/conversations/${id}/resume`)
    expect((await ada.get(`/api/runs/${paused.run.id}`)).body).toMatchObject({ status: "completed", model: "scripted" })
    // This message has no answer yet, so no model is reported.
    await ada.say(id, "again")
    using peer = await server.socket("ada")
    peer.send({ type: "chat_request", message: "wait", context: { conversationId: id as never } })
    await peer.next("text_chunk")
    const { items } = (await ada.get(`/api/conversations/${id}/runs`)).body
    expect(items.map(({ status, model }: { status: string; model: string }) => [status, model])).toEqual([
      ["running", "scripted"],
      ["failed", null],
      ["completed", "scripted"],
    ])
  })
})
