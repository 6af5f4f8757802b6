import { expect, test } from "vitest"
import type { UserId } from "../../../core/protocol/ids.ts"
import { SqlLibrary } from "../../../core/store/library/library.ts"
import { asMasterKey, fixedKeys } from "../../../core/store/people/master-keys.ts"
import { openStore, type Store } from "../../../core/store/store.ts"
import { USAGE_COLUMNS } from "../../../core/store/engine/operations.ts"
import { anyDatabase } from "../../support/databases.ts"
import { TurnedClock } from "../../support/loop/world.ts"
import { recordStatements } from "./statement-plans.ts"

const NOON = Date.UTC(2026, 2, 20, 12)
const masterKeys = fixedKeys(asMasterKey(Buffer.alloc(32, "texts")))

test.each(anyDatabase)("repeated operations send the same statement texts, on $name", async ({ create }) => {
  await using database = await create()
  const clock = new TurnedClock(NOON)
  await using store = await openStore({ url: database.url, durability: "normal", clock, masterKeys })
  const { id: user } = await store.people.ensure("ada", NOON)
  const sent = recordStatements(store.engine)
  const library = new SqlLibrary(store.engine, { clock, embedder: "none" })
  const round = async (n: number) => {
    await addAndRemove(library, user, n)
    const target = { kind: "sqlite", path: `/data/${n}.db` } as const
    await store.connections.create(user, `data ${n}`, target)
    const id = store.ownMcpServers.newId(user)
    const server = { url: "https://tools.example/", headers: {}, isPublic: true }
    await store.ownMcpServers.create(user, { id, name: `tools ${n}`, agents: [], target: server })
    await spend(store, user, n)
    await store.usage.read(user, { from: "2026-03-01", to: "2026-03-20" })
  }
  await round(1)
  const before = new Set([...sent].map(({ sql }) => sql))
  await clock.turn(1234)
  await round(2)
  expect([...sent].map(({ sql }) => sql).filter((sql) => !before.has(sql))).toEqual([])
})

async function addAndRemove(library: SqlLibrary, user: UserId, n: number): Promise<void> {
  const { id: collection } = await library.createCollection(user, `papers ${n}`)
  const text = "Something about a swallow."
  const passages = [{ start: 0, end: text.length, headings: [] }]
  const paper = { kind: "text", title: "paper", authors: [], date: null, passages, hash: text, text } as const
  const { id } = await library.keep(user, collection, { source: "paper", ...paper })
  await library.removeDocument(user, collection, id)
  await library.removeCollection(user, collection)
}

/** On as many more days as there is no text of its own for. */
async function spend({ engine }: Store, user: UserId, n: number): Promise<void> {
  const sql = `INSERT INTO usage (${USAGE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
  const statements = [1, 2].map((at) => {
    const day = `2026-03-0${2 * n + at}`
    return { sql, values: [`run_${n} ${at}`, "m", "conv_1", user, "model", "p", "shared", day, 10, 2, null, 1, null] }
  })
  await engine.change({ type: "statements", statements })
}
