import pg from "pg"
import { describe, expect, test } from "vitest"
import type { Commit, DecisionCondition } from "./operations.ts"
import { openStore } from "../store.ts"
import { countQueries } from "../../../test/support/count-queries.ts"
import { databases } from "../../../test/support/databases.ts"

const NOW = Date.UTC(2026, 0, 1)
const LATER = NOW + 60_000
const PENDING = { status: "pending", decided_by: null }
const AGREES: DecisionCondition = { proposal: "prop_1", from: "pending", to: "applying", by: "ada" }
const HEAD = {
  ...{ agent: "a", model: null, provider: null, mode: "confirm", title: null, status: "idle" },
  ...{ device: null, connection: null, settings: null },
}

const REJECTION = "UPDATE proposal SET status = 'rejected' WHERE id = 'prop_1'"
const LAST_WORDS =
  "INSERT INTO event (conversation, position, type, version, at) SELECT key, 2, 'step', 1, 1 FROM conversation"

describe.each(databases)("a decision on $name", ({ name, create }) => {
  async function open() {
    const { url } = await create()
    const store = await openStore({ url, durability: "normal" })
    const { engine } = store
    const person = await store.people.ensure("ada", NOW)
    const where = { node: "node_1", now: NOW, fence: 0, seen: 0, withInbox: false, after: 0, head: HEAD }
    const none = { runs: [], proposals: [], audits: [], usage: [], taken: [] }
    const [{ key: owner } = { key: 0 }] = await engine.query<{ key: number }>("SELECT key FROM person", [])
    const born = { id: `conv_${person.id}`, person: owner }
    const begun = { ...where, ...none, lease: "create", key: 0, born, release: true, deciding: null } as const
    const outcome = await engine.change({ type: "commit", ...begun, events: [step(1)] })
    if (!outcome.ok) throw new Error(outcome.refused)
    const { key } = outcome.committed
    const insert = `INSERT INTO proposal (id, conversation, run_id, position, status, expires_at) VALUES (?, ?, ?, ?, ?, ?)`
    await engine.change({
      type: "statements",
      statements: [{ sql: insert, values: ["prop_1", key, "run_1", 1, "pending", LATER] }],
    })
    const claim = { ...where, ...none, key, lease: "claim", fence: 1, after: 1, born: null, release: false } as const
    return {
      url,
      key,
      decides: (how: Partial<Commit> = {}) =>
        engine.change({ type: "commit", ...claim, events: [step(claim.after + 1)], deciding: AGREES, ...how }),
      proposal: async () => (await engine.query("SELECT status, decided_by FROM proposal", []))[0],
      events: async () => (await engine.events(key, { after: 1, upTo: 9, limit: 9 })).length,
      change: (sql: string, values: unknown[]) => engine.change({ type: "statements", statements: [{ sql, values }] }),
      [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
    }
  }

  test("is stored with its events, and only the first one counts", async () => {
    await using store = await open()
    expect(await store.decides()).toMatchObject({ ok: true, committed: { key: store.key, fence: 2, released: false } })
    expect(await store.proposal()).toEqual({ status: "applying", decided_by: "ada" })
    expect(await store.decides({ fence: 2, after: 2, events: [step(3)] })).toEqual({ ok: false, refused: "decided" })
    expect(await store.events()).toBe(1)
  })

  test.each([
    ["has had another writer since", { fence: 0 }, "moved"],
    ["has gone on since", { after: 0, events: [step(1)] }, "moved"],
    ["has unread words", { seen: 3 }, "moved"],
  ] as const)("leaves the proposal open if the conversation %s", async (_, how, refused) => {
    await using store = await open()
    expect(await store.decides(how)).toEqual({ ok: false, refused })
    expect([await store.proposal(), await store.events()]).toEqual([PENDING, 0])
  })

  test("leaves the proposal open if a live node works on the conversation", async () => {
    await using store = await open()
    await store.change("INSERT INTO node (id, locked) VALUES (?, ?)", ["node_2", 0])
    await store.change("UPDATE conversation SET owner = ? WHERE key = ?", ["node_2", store.key])
    expect(await store.decides()).toEqual({ ok: false, refused: "busy" })
    expect([await store.proposal(), await store.events()]).toEqual([PENDING, 0])
  })

  test("is refused if the proposal has expired, unless it expects that", async () => {
    await using store = await open()
    expect(await store.decides({ now: LATER })).toEqual({ ok: false, refused: "decided" })
    const again = { ...AGREES, from: "expired", to: "superseded" } as const
    expect(await store.decides({ deciding: again })).toEqual({ ok: false, refused: "decided" })
    expect(await store.decides({ now: LATER, deciding: again })).toMatchObject({ ok: true })
    expect(await store.proposal()).toEqual({ status: "superseded", decided_by: "ada" })
  })

  test("whose proposal changes again in the same commit ends in that state", async () => {
    await using store = await open()
    const row = ["prop_1", "run_1", 1, "failed", "code", LATER, "ada", NOW] as const
    expect(await store.decides({ proposals: [[...row]] })).toMatchObject({ ok: true })
    expect(await store.proposal()).toEqual({ status: "failed", decided_by: "ada" })
  })

  test.runIf(name === "postgres")("is one round trip", async () => {
    await using store = await open()
    const sent = await countQueries(async () => expect(await store.decides()).toMatchObject({ ok: true }))
    expect(sent).toBe(1)
  })

  test.runIf(name === "postgres").each([
    ["another decision", {}, REJECTION, ["decided", "rejected"]],
    ["the last words of a zombie", {}, LAST_WORDS, ["moved", "pending"]],
    ["these, and is only a claim,", { events: [], deciding: null }, LAST_WORDS, ["moved", "pending"]],
  ] as const)("that had to wait for %s finds it", async (_, how, sql, [refused, status]) => {
    await using store = await open()
    const other = new pg.Client(store.url)
    await other.connect()
    await other.query("BEGIN")
    await other.query("SELECT 1 FROM conversation FOR SHARE")
    await other.query(sql)
    const decided = store.decides(how)
    const waits =
      "SELECT count(*)::int AS n FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND datname = current_database()"
    await expect.poll(async () => (await other.query(waits)).rows).toEqual([{ n: 1 }])
    await other.query("COMMIT")
    expect(await decided).toEqual({ ok: false, refused })
    expect(await store.proposal()).toMatchObject({ status })
    await other.end()
  })
})

const step = (position: number): Commit["events"][number] => [
  position,
  "step",
  1,
  NOW,
  null,
  null,
  null,
  null,
  null,
  null,
  '{"step":"words"}',
]
