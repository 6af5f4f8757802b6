import { describe, expect, test } from "vitest"
import type { Commit, Statement } from "./operations.ts"
import { openStore } from "../store.ts"
import { countQueries } from "../../../test/support/count-queries.ts"
import { databases } from "../../../test/support/databases.ts"

const NOW = Date.UTC(2026, 0, 1)
const HEAD = {
  ...{ agent: "a", model: null, provider: null, mode: "confirm", title: null, status: "running" },
  ...{ device: null, connection: null, settings: null },
}
const PLAIN = {
  ...{ type: "commit" as const, node: "node_1", now: NOW, seen: 0, withInbox: false, release: false, head: null },
  ...{ born: null, runs: [], proposals: [], audits: [], usage: [], taken: [], deciding: null },
} satisfies Partial<Commit>
const step = (position: number): Commit["events"][number] => {
  return [position, "step", 1, NOW, null, null, null, null, null, null, '{"step":"routing"}']
}
/** Another writer has used the position after the first event, unknown to this one. */
const TAKE_PLACE =
  "INSERT INTO event (conversation, position, type, version, at) SELECT key, 2, 'step', 1, 1 FROM conversation WHERE id = ?"

describe.each(databases)("concurrent changes on $name", ({ name, create }) => {
  async function open() {
    const { url } = await create()
    const store = await openStore({ url, durability: "normal" })
    const { engine } = store
    await store.people.ensure("ada", NOW)
    const [{ key: person } = { key: 0 }] = await engine.query<{ key: number }>("SELECT key FROM person", [])
    const begin = async (id: string) => {
      const born = { id, person }
      const begun = { ...PLAIN, lease: "create", key: 0, fence: 0, after: 0, head: HEAD, born } as const
      const outcome = await engine.change({ ...begun, events: [step(1)] })
      if (!outcome.ok) throw new Error(outcome.refused)
      return outcome.committed.key
    }
    return {
      engine,
      begin,
      goesOn: (key: number, after = 1, how: Partial<Commit> = {}) =>
        engine.change({ ...PLAIN, lease: "hold" as const, key, fence: 1, after, events: [step(after + 1)], ...how }),
      state: (...statements: Statement[]) => engine.change({ type: "statements", statements }),
      places: async (key: number) =>
        (await engine.events(key, { after: 0, upTo: 99, limit: 99 })).map(([position]) => position),
      [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
    }
  }

  test("succeed or fail one by one, and a failed one leaves nothing", async () => {
    await using store = await open()
    const [good, clash, lost, several] = [
      await store.begin("conv_good"),
      await store.begin("conv_clash"),
      await store.begin("conv_lost"),
      await store.begin("conv_several"),
    ]
    await store.state({ sql: TAKE_PLACE, values: ["conv_clash"] })
    const title = (text: string, id: string, mustChange?: true): Statement => ({
      ...{ sql: "UPDATE conversation SET title = ? WHERE id = ?", values: [text, id] },
      ...(mustChange ? { mustChange } : {}),
    })
    const [done, clashed, gone, refused, titled, again] = await Promise.allSettled([
      store.goesOn(good),
      store.goesOn(clash),
      store.goesOn(lost, 1, { fence: 7 }),
      store.state(title("half done", "conv_lost"), title("nobody's", "conv_none", true)),
      store.state(title("done", "conv_clash")),
      store.goesOn(several, 1, { events: [step(2), step(3)], head: HEAD }),
    ])
    expect(done).toMatchObject({ value: { ok: true, committed: { key: good, fence: 1 } } })
    expect(clashed, "its place is taken").not.toMatchObject({ value: { ok: true } })
    expect(gone).toMatchObject({ value: { ok: false, refused: "lost" } })
    expect(refused).toMatchObject({ value: { ok: false, refused: "moved" } })
    expect([titled, again]).toMatchObject([{ value: { ok: true } }, { value: { ok: true } }])
    expect(await Promise.all([good, clash, lost, several].map(store.places))).toEqual([[1, 2], [1, 2], [1], [1, 2, 3]])
    const titles = await store.engine.query("SELECT id, title FROM conversation WHERE title IS NOT NULL", [])
    expect(titles).toEqual([{ id: "conv_clash", title: "done" }])
  })

  test("continue from the stored position, also after a failure", async () => {
    await using store = await open()
    const [good, lost] = [await store.begin("conv_good"), await store.begin("conv_lost")]
    const outcomes = await Promise.all([store.goesOn(good), store.goesOn(lost, 1, { fence: 7 })])
    expect(outcomes.map(({ ok }) => ok)).toEqual([true, false])
    expect(await store.goesOn(good, 2)).toMatchObject({ ok: true })
    expect(await store.goesOn(lost, 1)).toMatchObject({ ok: true })
    expect(await Promise.all([good, lost].map(store.places))).toEqual([
      [1, 2, 3],
      [1, 2],
    ])
  })

  test.runIf(name === "postgres")("of many conversations are one statement", async () => {
    await using store = await open()
    const ids = Array.from({ length: 8 }, (_, n) => `conv_${n}`)
    const one = async (work: () => Promise<unknown>) => expect(await countQueries(work)).toBe(1)
    let keys: number[] = []
    await one(async () => (keys = await Promise.all(ids.map(store.begin))))
    await one(() => Promise.all(keys.map((key) => store.goesOn(key))))
    await one(() => Promise.all(keys.map((key) => store.goesOn(key, 2, { head: HEAD, release: true }))))
    await one(() => Promise.all(keys.map((key) => store.goesOn(key, 3, { lease: "claim", head: HEAD }))))
  })
})
