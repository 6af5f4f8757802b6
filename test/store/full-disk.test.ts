import { expect, test } from "vitest"
import { says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { databases } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"
import { Held, read } from "../support/loop/tools.ts"
import { calls } from "../../core/models/scripted/script.ts"

const sqlite = databases[0]!

/** SQLite's own limit on the size of the file raises the same error as a full disk, in the same place. */
class Disk {
  readonly #face: Face

  constructor(face: Face) {
    this.#face = face
  }

  async fill(): Promise<void> {
    // Not below the current size: existing pages can be written, new ones cannot.
    await this.#face.store.engine.query("PRAGMA max_page_count = 1", [])
  }

  async empty(): Promise<void> {
    await this.#face.store.engine.query("PRAGMA max_page_count = 1000000", [])
  }
}

const LONG = "x".repeat(20_000)

test("a full disk refuses writes with its own error, serves reads, and recovers by itself", async () => {
  await using database = await sqlite.create()
  await using face = await Face.open({ url: database.url, model: scripted(always(says("Hello."))) })
  const ada = await face.as("ada")
  const id = await ada.begin()
  expect((await ada.say(id, "first")).status).toBe(200)
  const disk = new Disk(face)
  await disk.fill()
  const refused = await ada.say(id, LONG)
  expect([refused.status, refused.body.code]).toEqual([503, "store_unavailable"])
  expect(refused.body.detail).toContain("the disk is full")
  const seen = await ada.get(`/api/conversations/${id}`)
  expect([seen.status, seen.body.messages.length]).toEqual([200, 2])
  const ready = await ada.get("/readyz")
  expect([ready.status, ready.body.code, ready.headers.get("retry-after")]).toEqual([503, "store_unavailable", "2"])
  expect(ready.body.detail).toContain("the disk is full")
  await disk.empty()
  expect((await ada.get("/readyz")).status).toBe(200)
  const said = await ada.say(id, LONG)
  expect([said.status, said.body.run.status]).toEqual([200, "completed"])
  expect((await ada.get(`/api/conversations/${id}`)).body.messages).toHaveLength(4)
})

test("a run that meets a full disk retries until there is space, and loses nothing", async () => {
  await using database = await sqlite.create()
  const held = new Held()
  const model = scripted(calls(["look", {}]), always(says(LONG)))
  await using face = await Face.open({ url: database.url, model, tools: [read("look", held.run)] })
  const ada = await face.as("ada")
  const id = await ada.begin({ agent: "test" })
  const answer = ada.say(id, "look")
  await held.begun
  const disk = new Disk(face)
  await disk.fill()
  held.end("found")
  await expect.poll(() => face.logged.filter(({ event }) => event === "loop_failed").length).toBeGreaterThan(1)
  expect((await ada.get(`/api/conversations/${id}`)).body.status).toBe("running")
  await disk.empty()
  const { body } = await answer
  expect(body.run.status).toBe("completed")
  expect(body.messages.map(({ role }: { role: string }) => role)).toEqual(["user", "assistant", "tool", "assistant"])
})
