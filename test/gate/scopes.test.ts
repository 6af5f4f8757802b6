import { describe, expect, test } from "vitest"
import { answer } from "../../core/engine/definition/tool.ts"
import { always, calls, replies, says, scripted } from "../../core/testing.ts"
import { databases } from "../support/databases.ts"
import type { Visitor } from "../support/server/face.ts"
import { openServer } from "../support/server/socket.ts"
import { Held, read, write } from "../support/loop/tools.ts"

/** A token's rights do not grow because another token's conversation is in `auto`. */
describe.each(databases)("a token that may chat and not approve, on $name", (database) => {
  /** A conversation of its owner's in `auto`. Every message leads to one write. */
  const open = async () => {
    const notes: string[] = []
    const note = write("note", ({ q = "" }) => answer(`${notes.push(q)} notes`))
    const model = scripted(
      always(({ history }) => (history.at(-1)?.role === "user" ? calls("note", { q: "n" }) : says("Well."))),
    )
    const server = await openServer({ database, model, tools: [note] })
    const owner = await server.visitor("ada")
    const speaker = await server.visitor("ada", "read", "chat")
    const id = await owner.begin({ agent: "test", mode: "auto" })
    return { server, owner, speaker, id, notes }
  }
  const pending = async (visitor: Visitor) =>
    (await visitor.get("/api/agent/proposals?status=pending")).body.items as { id: string; conversationId: string }[]
  const modeOf = async (visitor: Visitor, id: string) => (await visitor.get(`/api/conversations/${id}`)).body.mode

  test("its messages in a conversation in auto are answered, and its writes need approval", async () => {
    const { server, owner, speaker, id, notes } = await open()
    await using _ = server
    await owner.say(id, "Note.")
    expect(notes).toHaveLength(1)
    expect((await speaker.say(id, "Note.")).body.run.status).toBe("paused")
    expect(notes).toHaveLength(1)
    const [asked] = await pending(owner)
    expect((await owner.post(`/api/agent/proposals/${asked!.id}/commit`)).body.status).toBe("applied")
    await server.face.pawl.runtime.rest(id as never)
    await owner.say(id, "Note.")
    expect(notes).toHaveLength(3)
  })

  test("its messages over a socket and in the thread API need approval too", async () => {
    const { server, owner, id, notes } = await open()
    await using _ = server
    using peer = await server.socket("ada", "read", "chat")
    peer.send({ type: "chat_request", message: "Note.", context: { conversationId: id } })
    await peer.next("awaiting_confirmation")
    const speaker = await server.visitor("ada", "read", "chat")
    await (await speaker.send("POST", `/api/chat/${id}/message`, { body: { text: "Note." } })).text()
    await server.face.pawl.runtime.rest(id as never)
    expect(notes).toEqual([])
    expect(await pending(owner)).toMatchObject([{ conversationId: id }])
  })

  test("its fork starts in confirm, also of a history that was in auto", async () => {
    const { server, owner, speaker, id, notes } = await open()
    await using _ = server
    await owner.say(id, "Note.")
    const { position } = (await owner.get(`/api/conversations/${id}`)).body
    await owner.patch(`/api/conversations/${id}`, { mode: "confirm" })
    const fork = async (visitor: Visitor) =>
      (await visitor.post(`/api/conversations/${id}/fork`, { position })).body.id as string
    const [theirs, own] = [await fork(speaker), await fork(owner)]
    expect([await modeOf(owner, theirs), await modeOf(owner, own)]).toEqual(["confirm", "auto"])
    await speaker.say(theirs, "Note.")
    await speaker.say(own, "Note.")
    expect(notes).toHaveLength(1)
    await owner.patch(`/api/conversations/${id}`, { mode: "read-only" })
    const later = (await owner.get(`/api/conversations/${id}`)).body.position
    const strict = (await speaker.post(`/api/conversations/${id}/fork`, { position: later })).body.id
    expect(await modeOf(owner, strict)).toBe("read-only")
  })

  test("it cannot widen a mode, by a change or by a fork, and may narrow one", async () => {
    const { server, owner, speaker, id } = await open()
    await using _ = server
    const set = (visitor: Visitor, mode: string) => visitor.patch(`/api/conversations/${id}`, { mode })
    await owner.say(id, "Note.")
    const { position } = (await owner.get(`/api/conversations/${id}`)).body
    expect((await set(speaker, "confirm")).body.mode).toBe("confirm")
    expect((await set(speaker, "read-only")).body.mode).toBe("read-only")
    for (const mode of ["confirm", "auto"]) expect((await set(speaker, mode)).body).toMatchObject({ code: "forbidden" })
    expect((await set(speaker, "read-only")).status).toBe(200)
    expect(await modeOf(owner, id)).toBe("read-only")
    const forked = (await speaker.post(`/api/conversations/${id}/fork`, { position })).body.id
    expect(await modeOf(owner, forked)).toBe("read-only") // its history was in auto
    expect((await set(owner, "confirm")).body.mode).toBe("confirm")
  })

  test("a mode that was narrowed while its own change waited stays narrow", async () => {
    const held = new Held()
    const model = scripted(calls("look"), says("Done."))
    await using server = await openServer({ database, model, tools: [read("look", held.run)] })
    const [owner, speaker] = [await server.visitor("ada"), await server.visitor("ada", "read", "chat")]
    const id = await owner.begin({ agent: "test", mode: "auto" })
    const first = owner.say(id, "Look.")
    await held.begun
    await owner.patch(`/api/conversations/${id}`, { mode: "read-only" })
    await speaker.patch(`/api/conversations/${id}`, { mode: "confirm" })
    held.end("found")
    await first
    await server.face.pawl.runtime.rest(id as never)
    expect(await modeOf(owner, id)).toBe("read-only")
  })

  test("its steered message makes the rest of the owner's run ask", async () => {
    const held = new Held()
    const notes: string[] = []
    const note = write("note", ({ q = "" }) => answer(`${notes.push(q)} notes`))
    const script = [calls("look"), replies(calls("note", { q: "steered" })), says("Done.")]
    const model = scripted(...script)
    await using server = await openServer({ database, model, tools: [read("look", held.run), note] })
    const [owner, speaker] = [await server.visitor("ada"), await server.visitor("ada", "read", "chat")]
    const id = await owner.begin({ agent: "test", mode: "auto" })
    const first = owner.say(id, "Look.")
    await held.begun
    expect((await speaker.say(id, "Rather note.", { when: "steer" })).status).toBe(202)
    held.end("found")
    expect((await first).body.run.status).toBe("paused")
    expect(notes).toEqual([])
  })

  test("its changes in the queue, and its resumes, need approval", async () => {
    const held = new Held()
    const notes: string[] = []
    const note = write("note", ({ q = "" }) => answer(`${notes.push(q)} notes`))
    const model = scripted(calls("look"), says("First."), calls("note", { q: "changed" }), calls("note"))
    await using server = await openServer({ database, model, tools: [read("look", held.run), note] })
    const [owner, speaker] = [await server.visitor("ada"), await server.visitor("ada", "read", "chat")]
    const id = await owner.begin({ agent: "test", mode: "auto" })
    const first = owner.say(id, "Look.")
    await held.begun
    const { queued } = (await owner.say(id, "Say hello.")).body
    expect((await speaker.patch(`/api/conversations/${id}/queue/${queued.id}`, { text: "Note." })).status).toBe(200)
    held.end("found")
    await first
    await server.face.pawl.runtime.rest(id as never)
    expect(notes).toEqual([])
    await owner.post(`/api/conversations/${id}/cancel`)
    // The owner resumes a message of the other token: it still needs approval.
    expect((await owner.post(`/api/conversations/${id}/resume`)).body.run.status).toBe("paused")
    expect(notes).toEqual([])
  })
})
