import { describe, expect, test } from "vitest"
import { hangs } from "../../core/models/scripted/script.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import type { EventRow } from "../../core/store/engine/event-rows.ts"
import { says, scripted } from "../../core/testing.ts"
import { shared } from "./links.ts"
import { Face } from "../support/server/face.ts"

/** A version from before summaries: it knows neither the event nor the field of a run's first message. */
async function makeOlder({ store: { engine, node } }: Face): Promise<void> {
  await node.heartbeat()
  const older = { sql: "UPDATE node SET events_known = events_known - 1 WHERE id = ?", values: [node.id] }
  await engine.change({ type: "statements", statements: [older] })
  const { eventsToReplay } = engine
  const asBefore = (row: EventRow): EventRow => {
    const type = row[1] === "compaction" ? "not_known_yet" : row[1]
    return row.with(1, type).with(10, row[10]?.replace('"compacts":true', '"was":true') ?? null) as EventRow
  }
  Object.assign(engine, {
    stateSource: undefined,
    eventsToReplay: async (key: number) => (await eventsToReplay(key)).map(asBefore),
  })
}

/** A conversation of two turns, on the newer of two servers. */
async function open(create: (typeof shared)[number]["create"], last = says("They spoke.")) {
  const { url } = await create()
  const [model, silent] = [scripted(says("One."), says("Two."), last), scripted()]
  const older = await Face.open({ url, model: silent })
  const newer = await Face.open({ url, model })
  await makeOlder(older)
  const there = await newer.as("ada")
  const id = (await there.begin({ agent: "test" })) as ConversationId
  const path = `/api/conversations/${id}`
  for (const text of ["First?", "Second?"]) await there.post(`${path}/messages`, { text })
  await newer.pawl.runtime.rest(id)
  const remove = (face: Face) => {
    const gone = { sql: "DELETE FROM node WHERE id = ?", values: [face.store.node.id] }
    return newer.store.engine.change({ type: "statements", statements: [gone] })
  }
  return {
    ...{ older, newer, there, id, path, model, silent, remove },
    async [Symbol.asyncDispose]() {
      await Promise.all([older[Symbol.asyncDispose](), newer[Symbol.asyncDispose]()])
      // The older node's model was not asked to continue.
      expect(silent.received).toEqual([])
    },
  }
}

describe.each(shared)("a summary while a server of an older version shares a $name", ({ create }) => {
  test("is made if no run is at work", async () => {
    await using nodes = await open(create)
    expect(await nodes.there.post(`${nodes.path}/compact`)).toMatchObject({ status: 200 })
    await nodes.newer.pawl.runtime.rest(nodes.id)
    expect((await nodes.newer.store.journal.load(nodes.id)).compaction.hasGivenWay).toBe(true)
  })

  test("is not continued by the older one if the newer dies in it", async () => {
    await using nodes = await open(create, hangs("They"))
    await nodes.there.post(`${nodes.path}/compact`)
    await expect.poll(() => nodes.model.received.length).toBe(3)
    await nodes.remove(nodes.newer)
    await nodes.older.pawl.runtime.recover()
    await nodes.older.pawl.runtime.rest(nodes.id)
    expect(nodes.silent.received).toEqual([])
  })

  test("is refused while a run works, because the older one could find it in the inbox; without the older one it waits", async () => {
    await using nodes = await open(create, hangs("Three"))
    await nodes.newer.pawl.runtime.submit(nodes.id, {
      ...{ type: "message", id: "msg_third" as never, text: "Third?", when: "queue" },
    })
    await expect.poll(() => nodes.model.received.length).toBe(3)
    const asked = () => nodes.there.post(`${nodes.path}/compact`)
    expect(await asked()).toMatchObject({ status: 409, body: { code: "busy" } })
    const waiting = "SELECT count(*) AS waiting FROM inbox"
    expect(Number((await nodes.newer.store.engine.query<{ waiting: number }>(waiting, []))[0]?.waiting)).toBe(0)
    await nodes.remove(nodes.older)
    expect(await asked()).toMatchObject({ status: 200, body: { id: nodes.id } })
  })
})
