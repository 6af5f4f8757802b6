import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { type DeviceState, openDevice } from "../../client/device/index.ts"
import { calls, says, scripted, type ScriptedReply } from "../../core/testing.ts"
import { offlineModel } from "../../labs/offline-model/model.ts"
import { failure } from "../../core/protocol/errors.ts"
import type { ToolCall } from "../../core/protocol/socket.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { connect, Machine } from "../support/server/device.ts"
import { databasesInTurn } from "../support/databases.ts"
import { Face, type Visitor } from "../support/server/face.ts"
import { openServer } from "../support/server/socket.ts"
import { WordEmbedder } from "../support/word-embedder.ts"

const DEPLOYMENT = { title: "Deployment", content: "push the release to the servers on friday" }
const SOUP = { title: "Soup", content: "lentils, carrots and lemon" }

/** The results of the tools, in order. */
async function toolResults(who: Visitor, id: string): Promise<string[]> {
  const { messages } = (await who.get(`/api/conversations/${id}`)).body
  const results = messages.filter(({ role }: { role: string }) => role === "tool")
  return results.map(({ content }: { content: string }) => content)
}

/** Sends a message and approves all proposals until none is left. */
async function agree(who: Visitor, id: string): Promise<void> {
  let { proposals } = (await who.say(id, "go")).body
  while (proposals.length > 0) {
    for (const proposal of proposals) await who.post(`/api/agent/proposals/${proposal.id}/commit`)
    await who.post(`/api/conversations/${id}/resume`)
    proposals = (await who.get(`/api/conversations/${id}`)).body.proposals
  }
}

describe.each(databasesInTurn(import.meta.filename))("on $name", (database) => {
  const openFace = async (embedder: WordEmbedder, ...script: ScriptedReply[]) => {
    const place = await database.create()
    return Face.open({ url: place.url, model: scripted(...script), embedder })
  }

  test("notes are found by meaning over HTTP, with title, id, score and a snippet", async () => {
    const search = { query: "release servers" }
    await using face = await openFace(
      new WordEmbedder(),
      calls("create_note", DEPLOYMENT),
      calls("create_note", SOUP),
      calls("search_notes", search),
      calls("search_notes", { query: "zebra" }),
      says("There."),
    )
    const ada = await face.as("ada")
    const id = await ada.begin({ mode: "auto" })
    await ada.say(id, "go")
    const [made, , found, nothing] = await toolResults(ada, id)
    const noteId = /id: (note_\w+)/.exec(made!)![1]
    expect(found).toMatch(/^Found 1 note\(s\):\n/)
    expect(found).toMatch(new RegExp(`^- Deployment \\(id: ${noteId}, score: 0\\.\\d\\d\\): push the release`, "m"))
    expect(nothing).toBe('No notes found about "zebra".')
  })

  test("a search can be limited to one project, by its name", async () => {
    await using face = await openFace(
      new WordEmbedder(),
      calls("create_project", { name: "Home" }),
      calls("create_note", { ...SOUP, project_id: "Home" }),
      calls("create_note", { ...SOUP, title: "Other soup" }),
      calls("search_notes", { query: "lentils", project_id: "Home" }),
      says("There."),
      calls("search_notes", { query: "lentils", limit: 1 }),
      calls("search_notes", { query: "lentils", project_id: "Nowhere" }),
      says("There."),
    )
    const ada = await face.as("ada")
    const id = await ada.begin({ mode: "auto" })
    await agree(ada, id)
    await agree(ada, id)
    const [, , , inHome, one, nowhere] = await toolResults(ada, id)
    expect(inHome).toMatch(/^Found 1 note\(s\) in project Home:\n- Soup \(id/)
    expect(one).toMatch(/^Found 1 note/)
    expect(nowhere).toBe('There is no project "Nowhere".')
  })

  test("the offline model understands plain requests for a search", async () => {
    const place = await database.create()
    await using face = await Face.open({ url: place.url, model: offlineModel(), embedder: new WordEmbedder() })
    const ada = await face.as("ada")
    const id = await ada.begin({ mode: "auto" })
    await ada.say(id, "create a note called Deployment: push the release on friday")
    await ada.say(id, "find notes about release")
    await ada.say(id, "search my notes for friday")
    const [, first, second] = await toolResults(ada, id)
    expect(first).toContain("Found 1 note(s):\n- Deployment")
    expect(second).toContain("Found 1 note(s):\n- Deployment")
  })

  test("without an embedder the search says so, and counts what is not indexed yet", async () => {
    const embedder = new WordEmbedder()
    embedder.failure = () => failure("overloaded", { provider: "Test" })
    await using face = await openFace(
      embedder,
      calls("create_note", SOUP),
      calls("search_notes", { query: "lentils" }),
      says("Hm."),
      calls("search_notes", { query: "lentils" }),
      says("Hm."),
    )
    const ada = await face.as("ada")
    const id = await ada.begin({ mode: "auto" })
    await ada.say(id, "go")
    expect((await toolResults(ada, id))[1]).toBe(
      "Notes cannot be searched by meaning now: Test is overloaded. Try again later. list_notes shows their titles.",
    )
    embedder.failure = (texts) =>
      texts[0]!.startsWith("Soup") ? failure("rate_limited", { provider: "T" }) : undefined
    await ada.say(id, "again")
    expect((await toolResults(ada, id)).at(-1)).toBe(
      'No notes found about "lentils".\n1 of 1 note(s) cannot be found by meaning yet, because they are being indexed. Try again later.',
    )
  })

  test("any caller with the chat scope can turn a text into a vector, within bounds, and not too many at once", async () => {
    const embedder = new WordEmbedder()
    await using face = await openFace(embedder)
    const ada = await face.as("ada")
    const url = "/api/v1/storage/vectors/embed"
    const { status, body } = await ada.post(url, { text: "lentils" })
    expect([status, body.embedder, body.vector.length]).toEqual([200, "test/words", 256])
    expect(body.vector).toEqual([...embedder.vectorOf("lentils")])
    for (const wrong of [
      {},
      { text: "" },
      { text: " \n" },
      { text: 7 },
      { text: "x".repeat(200_001) },
      { text: "a", b: 1 },
    ])
      expect((await ada.post(url, wrong)).status).toBe(400)
    expect((await ada.post(url, { text: "a\u0000b" })).body.code).toBe("unstorable_text")
    expect((await (await face.as("eve", "read")).post(url, { text: "x" })).status).toBe(403)
    const { promise, resolve } = Promise.withResolvers<void>()
    embedder.held = promise
    // Four wait for the embedder; the fifth is refused, and another person's request is not.
    const asked = Array.from({ length: 5 }, () => ada.post(url, { text: "x" }))
    const bob = (await face.as("bob")).post(url, { text: "x" })
    expect((await Promise.race(asked)).body.code).toBe("too_many_requests")
    resolve()
    const statuses = (await Promise.all([...asked, bob])).map((reply) => reply.status)
    expect(statuses.sort()).toEqual([...Array(5).fill(200), 429])
    expect((await ada.post(url, { text: "x" })).status).toBe(200)
  })
})

describe.each(databasesInTurn(import.meta.filename))("a device and a server on $name", (database) => {
  const openWith = async (embedsNotes: boolean, embedder: WordEmbedder, script: readonly ScriptedReply[]) => {
    const server = await openServer({ database, model: scripted(...script), embedder })
    const [token, ada] = [await server.tokenFor("ada"), await server.visitor("ada")]
    const ready = Promise.withResolvers<void>()
    const onState = ({ state }: DeviceState) => state === "connected" && ready.resolve()
    // Looks for the person's own edits at once instead of periodically.
    const alarm = (ms: number, ring: () => void) => {
      const timer = setTimeout(ring, ms === 15_000 ? 20 : ms)
      return () => clearTimeout(timer)
    }
    const clock = { now: () => Date.now(), alarm }
    const file = { db: join(dataFolder(), "device.db"), embedsNotes }
    const device = openDevice({ server: server.url, token, ...file, onState, clock })
    await ready.promise
    return {
      ...{ server, ada, device },
      async [Symbol.asyncDispose]() {
        await device.close()
        await server[Symbol.asyncDispose]()
      },
    }
  }

  /** A device that gets only the vectors that the server sends by itself. */
  const open = (embedder: WordEmbedder, ...script: readonly ScriptedReply[]) => openWith(false, embedder, script)

  test("a note that the assistant writes, changes or deletes there is found there by meaning, and not on the server", async () => {
    const embedder = new WordEmbedder()
    await using world = await open(
      embedder,
      calls("create_note", DEPLOYMENT),
      calls("create_note", SOUP),
      calls("search_notes", { query: "release servers" }),
      says("There."),
      calls("update_note", { note_id: "Soup", content: "beetroot and cream" }),
      calls("search_notes", { query: "beetroot" }),
      calls("delete_note", { note_id: "Soup" }),
      calls("search_notes", { query: "beetroot" }),
      says("There."),
    )
    const { ada, device } = world
    const id = await ada.begin({ site: "device", mode: "auto" })
    await agree(ada, id)
    await agree(ada, id)
    const [created, , found, , changed, , gone] = await toolResults(ada, id)
    expect(created).toMatch(/^Note created: Deployment \(id: \S+\)\.$/)
    expect(found).toMatch(/^Found 1 note\(s\):\n- Deployment \(id/)
    expect(changed).toMatch(/^Found 1 note\(s\):\n- Soup .*: beetroot and cream$/)
    expect(gone).toBe('No notes found about "beetroot".')
    const vector = [...embedder.vectorOf("release")]
    expect(device.vectors.search(vector, 10)).toMatchObject([{ content: DEPLOYMENT.content }])
    expect(device.vectors.search(vector, 10)).toHaveLength(1)
    expect((await world.server.face.store.engine.query("SELECT 1 FROM note_vector", [])).length).toBe(0)
  })

  test("if the vector cannot be made the note is still written, and the answer says what is missing", async () => {
    const embedder = new WordEmbedder()
    embedder.failure = () => failure("overloaded", { provider: "Test" })
    await using world = await open(embedder, calls("create_note", SOUP), says("Done."))
    const id = await world.ada.begin({ site: "device", mode: "auto" })
    await world.ada.say(id, "go")
    const [created] = await toolResults(world.ada, id)
    expect(created).toMatch(/^Note created: Soup \(id: \S+\)\. Finding it by meaning will follow\.$/)
    expect(world.device.tables.select("notes")).toMatchObject([SOUP])
  })

  test("undoing a delete brings the note back with its vector", async () => {
    const embedder = new WordEmbedder()
    await using world = await open(
      embedder,
      calls("create_note", SOUP),
      calls("delete_note", { note_id: "Soup" }),
      says("Gone."),
    )
    const { ada, device } = world
    const id = await ada.begin({ site: "device", mode: "auto" })
    await agree(ada, id)
    const vector = [...embedder.vectorOf("lentils")]
    expect(device.vectors.search(vector, 10)).toEqual([])
    const { items } = (await ada.get("/api/agent/audit")).body
    const deleted = items.find(({ tool }: { tool: string }) => tool === "delete_note")
    const undo = (await ada.post(`/api/agent/audit/${deleted.id}/undo`)).body
    if (undo.status === "pending") await ada.post(`/api/agent/proposals/${undo.id}/commit`)
    await expect.poll(() => device.vectors.search(vector, 10).length).toBe(1)
  })

  test("notes that the person writes on the device are found too, and again after they or the embedder change", async () => {
    const embedder = new WordEmbedder()
    await using world = await openWith(true, embedder, [calls("search_notes", { query: "lentils" }), says("There.")])
    const { ada, device } = world
    const find = (words: string, maker = embedder) => {
      const near = device.vectors.search([...maker.vectorOf(words)], 10).filter(({ score }) => score > 0.15)
      return near.map(({ content }) => content)
    }
    const note = device.tables.insert("notes", SOUP)
    device.tables.insert("notes", { title: "", content: " " }) // says nothing, and holds up nothing
    await expect.poll(() => find("lentils")).toEqual([SOUP.content])
    const id = await ada.begin({ site: "device" })
    await ada.say(id, "go")
    expect((await toolResults(ada, id))[0]).toContain("Found 1 note(s):\n- Soup")
    device.tables.update("notes", { id: note.id, updates: { title: "Borscht" } })
    await expect.poll(() => find("borscht")).toEqual([SOUP.content])
    device.tables.update("notes", { id: note.id, updates: { content: "beetroot" } })
    await expect.poll(() => find("beetroot")).toEqual(["beetroot"])
    expect(find("lentils")).toEqual([])
    // The server has another embedder now; its next query shows that by its length.
    const longer = new WordEmbedder("test/longer", 512)
    embedder.embed = (texts, signal) => longer.embed(texts, signal)
    expect(find("beetroot", longer)).toEqual([])
    await expect.poll(() => find("beetroot", longer)).toEqual(["beetroot"])
  })

  test("the frames contain what was specified: a note, its vector under an id of its own, a search", async () => {
    const embedder = new WordEmbedder()
    const script = [calls("create_note", SOUP), calls("search_notes", { query: "lentils", limit: 3 }), says("There.")]
    await using server = await openServer({ database, model: scripted(...script), embedder })
    const row = { id: "n1", projectId: null, ...SOUP, createdAt: 1, updatedAt: 1 }
    const asked: ToolCall[] = []
    const deals = (call: ToolCall) => {
      asked.push(call)
      if (call.action === "vector_upsert") return { ok: true }
      if (call.action === "vector_search") return { results: [{ id: "n1", content: SOUP.content, score: 0.5 }] }
      return { row }
    }
    const token = await server.tokenFor("ada")
    using _peer = await connect(new Machine(), { url: server.url, token, deviceId: "phone", deals })
    const ada = await server.visitor("ada")
    const id = await ada.begin({ site: "device", deviceId: "phone", mode: "auto" })
    await ada.say(id, "go")
    const [insert, upsert, search] = ["insert", "vector_upsert", "vector_search"].map((action) =>
      asked.find((call) => call.action === action)!,
    )
    const { id: callId, ...frame } = upsert!
    expect(frame).toEqual({
      type: "tool_call",
      conversationId: id,
      action: "vector_upsert",
      table: "notes",
      data: { id: "n1", projectId: null, content: SOUP.content },
      vector: [...embedder.vectorOf(`${SOUP.title}\n\n${SOUP.content}`)],
    })
    expect(callId).toMatch(/^call_\w{32}$/)
    expect(callId).not.toBe(insert!.id)
    expect(search).toEqual({
      type: "tool_call",
      conversationId: id,
      id: expect.any(String),
      action: "vector_search",
      table: "notes",
      vector: [...embedder.vectorOf("lentils")],
      limit: 3,
    })
    expect((await toolResults(ada, id))[1]).toMatch(/^Found 1 note\(s\):\n- Soup \(id: n1, score: 0\.50\)/)
  })
})
