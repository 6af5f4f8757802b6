import pg from "pg"
import { describe, expect, test } from "vitest"
import { TurnedClock } from "../../core/engine/turned-clock.fixture.ts"
import { newId, type UserId } from "../../core/protocol/ids.ts"
import type { Note } from "../../core/protocol/workspace-tables.ts"
import { indexNotes } from "../../core/store/workspace/note-indexer.ts"
import { openStore } from "../../core/store/store.ts"
import { databases } from "../support/databases.ts"
import { oneIn, sizes } from "../support/sizes.ts"
import { WordEmbedder } from "../support/word-embedder.ts"
import { countProcessor, countWork } from "../support/worked.ts"

const COUNT = sizes.notes
const SYLLABLES = ["ba", "de", "fi", "go", "lu", "ma", "ne", "pi", "ro", "tu"]
/** Each note has a unique word; the test embedder treats some of them as one. */
const wordOf = (number: number) => [...String(number).padStart(4, "0")].map((digit) => SYLLABLES[+digit]).join("")
/** Growth of processor time for sixteen times as many notes. It is thirty-eight if every few notes scan all that wait. */
const MAX_GROWTH = 24
const MOST_ROUNDS = 6
const log = { info() {}, warn() {}, error() {} }

describe.each(oneIn(2, databases))("on $name", ({ name, create }) => {
  /** Writes notes, waits for their vectors, searches for some. Returns the cost of indexing them: ms of processor time, or rows read. */
  async function indexed(count: number): Promise<number> {
    await using database = await create()
    const clock = new TurnedClock()
    const embedder = new WordEmbedder("test/words", 1024)
    let worked: number
    {
      await using store = await openStore({ url: database.url, clock, durability: "normal" })
      const workspace = store.workspaceOf(newId("user") as UserId)
      const rows = Array.from({ length: count }, (_, i): Note => {
        const about = { title: `Note ${i}`, content: `${wordOf(i)} ${wordOf(i)} and more`, projectId: null }
        return { id: `note_${i}`, ...about, createdAt: i, updatedAt: i }
      })
      for (let at = 0; at < count; at += 500)
        await workspace.edit({ action: "restore", table: "notes", rows: rows.slice(at, at + 500), with: {} })
      const work = countProcessor()
      const indexer = indexNotes({ workspaces: store.workspaces, embedder, clock, log })
      await expect.poll(() => embedder.seen.length, { timeout: 250_000 }).toBe(count)
      await expect.poll(async () => (await workspace.indexing()).waiting).toBe(0)
      worked = work()
      const find = async (number: number) => {
        const vector = { embedder: embedder.name, numbers: [...embedder.vectorOf(wordOf(number))] }
        return (await workspace.nearest(vector, { limit: 40 })).map(({ id }) => id)
      }
      for (const number of [0, 1, Math.floor(count / 2), count - 1])
        expect(await find(number)).toContain(`note_${number}`)
      const searching = countWork()
      for (let i = 0; i < 20; i++) await find(i * Math.floor(count / 20))
      expect(searching() / 20, "ms of the processor for a search").toBeLessThan(100) // 10 of ten thousand notes
      await indexer.close()
    }
    return name === "sqlite" ? worked : await rowsRead(database.url)
  }

  // On SQLite only time can be measured, and telling one growth from the other takes more notes.
  const count = name === "sqlite" ? Math.max(COUNT, 8000) : COUNT

  test(`${count} notes are indexed without a request, found one by one, slow a search down little, and cost no more each than fewer would`, async () => {
    const fewer = name === "sqlite" ? count / 16 : count / 4
    let [few, many] = [await indexed(fewer), await indexed(count)]
    if (name === "sqlite") {
      // Other load only ever adds time, so the least of several rounds counts.
      for (let round = 1; round < MOST_ROUNDS && many / few >= MAX_GROWTH; round++) {
        few = Math.min(few, await indexed(fewer))
        many = Math.min(many, await indexed(count))
      }
      expect(many / few, "for sixteen times as many").toBeLessThan(MAX_GROWTH)
      // PostgreSQL would read twenty thousand rows for each of ten thousand notes.
    } else expect(Math.max(few / fewer, many / count), "rows read for a note").toBeLessThan(1500)
  }, 900_000)
})

/** The rows that PostgreSQL has read in a database whose connections are closed: they report when they end. */
async function rowsRead(url: string): Promise<number> {
  const admin = new pg.Client(url)
  await admin.connect()
  try {
    const others = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    await expect.poll(async () => (await admin.query(others)).rowCount).toBe(0)
    const read = "SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) AS rows FROM pg_stat_user_tables"
    return Number((await admin.query(read)).rows[0].rows)
  } finally {
    await admin.end()
  }
}
