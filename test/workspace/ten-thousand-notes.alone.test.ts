import { describe, expect, test } from "vitest"
import { TurnedClock } from "../../src/agent/turned-clock.fixture.ts"
import { newId, type UserId } from "../../src/protocol/ids.ts"
import type { Note } from "../../src/protocol/workspace-tables.ts"
import { indexNotes } from "../../src/store/workspace/note-indexer.ts"
import { openStore } from "../../src/store/store.ts"
import { databases } from "../support/databases.ts"
import { WordEmbedder } from "../support/word-embedder.ts"

const COUNT = 10_000
const SYLLABLES = ["ba", "de", "fi", "go", "lu", "ma", "ne", "pi", "ro", "tu"]
/** Each note has a word of its own; the embedder of tests takes about seven of them for one. */
const wordOf = (number: number) => [...String(number).padStart(4, "0")].map((digit) => SYLLABLES[+digit]).join("")

describe.each(databases)("on $name", ({ create }) => {
  test("ten thousand notes are indexed by themselves, found one by one, and cost a search little", async () => {
    await using database = await create()
    const clock = new TurnedClock()
    await using store = await openStore({ url: database.url, clock, durability: "normal" })
    const embedder = new WordEmbedder("test/words", 1536)
    const log = { info() {}, warn() {}, error() {} }
    const ada = newId("user") as UserId
    const workspace = store.workspaceOf(ada)
    const rows = Array.from({ length: COUNT }, (_, i): Note => {
      const about = { title: `Note ${i}`, content: `${wordOf(i)} ${wordOf(i)} and more`, projectId: null }
      return { id: `note_${i}`, ...about, createdAt: i, updatedAt: i }
    })
    for (let at = 0; at < COUNT; at += 500)
      await workspace.edit({ action: "restore", table: "notes", rows: rows.slice(at, at + 500), with: {} })
    const indexer = indexNotes({ workspaces: store.workspaces, embedder, clock, log })
    await expect.poll(async () => (await workspace.indexing()).waiting, { timeout: 250_000, interval: 500 }).toBe(0)
    const find = async (number: number) => {
      const vector = { embedder: embedder.name, numbers: [...embedder.vectorOf(wordOf(number))] }
      return (await workspace.nearest(vector, { limit: 20 })).map(({ id }) => id)
    }
    for (const number of [0, 1, 4321, 9999]) expect(await find(number)).toContain(`note_${number}`)
    const began = performance.now()
    for (let i = 0; i < 20; i++) await find(i * 500)
    expect((performance.now() - began) / 20).toBeLessThan(300) // 10 ms on a quiet machine
    await indexer.close()
  }, 300_000)
})
