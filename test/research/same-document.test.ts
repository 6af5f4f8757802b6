import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { Librarian } from "../../packs/research/librarian.ts"
import type { CollectionId, UserId } from "../../core/protocol/ids.ts"
import { deleteEditions } from "../../core/store/library/editions.ts"
import { SqlLibrary } from "../../core/store/library/library.ts"
import { openStore, type Store } from "../../core/store/store.ts"
import { anyDatabase } from "../support/databases.ts"
import { WordEmbedder } from "../support/word-embedder.ts"
import { TurnedClock } from "../support/loop/world.ts"

const { signal } = new AbortController()

describe.each(anyDatabase)("a document is identified by its bytes, on $name", ({ create }) => {
  let store: Store
  let library: SqlLibrary
  let librarian: Librarian
  let user: UserId
  let collection: CollectionId
  let round = 0

  const ingest = async (name: string, content: string, more = {}) => {
    const { items, added, replaced, unchanged } = await librarian.ingest(
      { user, collection, signal },
      { name, bytes: Buffer.from(content), ...more },
    )
    return { id: items[0]?.id, became: added ? "added" : replaced ? "replaced" : unchanged ? "unchanged" : "failed" }
  }
  const sources = async () =>
    (await library.documents(user, collection, { limit: 50 })).items.map(({ source }) => source).sort()

  beforeAll(async () => {
    const clock = new TurnedClock()
    store = await openStore({ url: (await create()).url, durability: "normal", clock })
    library = new SqlLibrary(store.engine, { clock, embedder: "none" })
    librarian = new Librarian(library, new WordEmbedder())
    user = (await store.people.ensure("ada", 0)).id
  })
  beforeEach(async () => {
    collection = await library.ensureCollection(user, `Papers ${++round}`)
  })
  afterAll(async () => {
    await librarian.close()
    await store[Symbol.asyncDispose]()
  })

  test("under another name it is the existing one", async () => {
    const first = await ingest("a/wings.md", "# Wings\n\nLift.")
    expect(await ingest("elsewhere/copy.md", "# Wings\n\nLift.")).toEqual({ id: first.id, became: "unchanged" })
    expect(await sources()).toEqual(["a/wings.md"])
  })

  test("in another collection, or another user's, it is another one", async () => {
    const first = await ingest("wings.md", "# Wings\n\nLift.")
    collection = await library.ensureCollection(user, "Others")
    const second = await ingest("wings.md", "# Wings\n\nLift.")
    expect(second.became).toBe("added")
    expect(second.id).not.toBe(first.id)
  })

  test("is read from its replacement if that came while it was read", async () => {
    const { id } = await ingest("wings.md", "# Wings\n\nLift.")
    const { engine } = store
    const { query } = engine
    let isReplaced = false
    Object.assign(engine, {
      query: async (sql: string, values: unknown[]) => {
        if (sql.startsWith("SELECT start_at, text") && !isReplaced) {
          isReplaced = true
          await ingest("wings.md", "# Wings\n\nDrag, not lift.")
          await deleteEditions(engine, 0, signal)
        }
        return query(sql, values)
      },
    })
    const window = await library.read(user, id!, { start: 0, length: 100 })
    Object.assign(engine, { query })
    expect(window?.text).toContain("Drag")
  })

  test("a changed document replaces the one under its name", async () => {
    const first = await ingest("wings.md", "# Wings\n\nLift.")
    expect(await ingest("wings.md", "# Wings\n\nDrag.")).toEqual({ id: first.id, became: "replaced" })
    expect((await ingest("copy.md", "# Wings\n\nLift.")).became).toBe("added")
    expect(await sources()).toEqual(["copy.md", "wings.md"])
  })

  test("a document that becomes equal to another one is that one, and the old one is gone", async () => {
    const first = await ingest("one.md", "# One\n\nLift.")
    await ingest("two.md", "# Two\n\nDrag.")
    expect(await ingest("two.md", "# One\n\nLift.")).toEqual({ id: first.id, became: "replaced" })
    expect(await sources()).toEqual(["one.md"])
    expect(await library.search(user, { text: "drag", limit: 5, collectionIds: [collection] })).toEqual([])
    expect((await library.collection(user, collection))?.documents).toBe(1)
  })

  test("an upload with an old name is found under the new one", async () => {
    const { id } = await ingest("wings.md", "# Wings\n\nLift.")
    const moved = await ingest("/home/ada/wings.md", "# Wings\n\nDrag.", { formerly: "wings.md" })
    expect(moved).toEqual({ id, became: "replaced" })
    expect(await sources()).toEqual(["/home/ada/wings.md"])
  })

  test("several concurrent uploads of the same bytes under different names make one document", async () => {
    const names = Array.from({ length: 6 }, (_, i) => `copy${i}.md`)
    const others = new Librarian(
      new SqlLibrary(store.engine, { clock: new TurnedClock(), embedder: "none" }),
      new WordEmbedder(),
    )
    const all = await Promise.all(
      names.map((name, i) =>
        (i % 2 ? others : librarian).ingest(
          { user, collection, signal },
          { name, bytes: Buffer.from("# Same\n\nBytes.") },
        ),
      ),
    )
    await others.close()
    expect(all.reduce((sum, { added }) => sum + added, 0)).toBe(1)
    expect((await sources()).length).toBe(1)
    expect(await library.collection(user, collection)).toMatchObject({ documents: 1, passages: 1 })
  })
})
