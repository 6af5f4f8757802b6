import { randomUUID } from "node:crypto"
import { describe, expect, test } from "vitest"
import { answer } from "../../core/engine/definition/tool.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import type { EventRow } from "../../core/store/engine/event-rows.ts"
import { calls, says, scripted } from "../../core/testing.ts"
import { shared } from "./links.ts"
import { write } from "../support/loop/tools.ts"
import { Face } from "../support/server/face.ts"
import { isOver, readFrames, transcriptOf } from "../support/server/stream.ts"

/** A newer version knows one more kind of event, `teleported`, which changes nothing that an older one knows of. */
async function makeNewer({ store: { engine, node } }: Face): Promise<void> {
  await node.heartbeat()
  const newer = { sql: "UPDATE node SET events_known = events_known + 1 WHERE id = ?", values: [node.id] }
  await engine.change({ type: "statements", statements: [newer] })
  const { eventsToReplay } = engine
  const known = ([position, type, ...rest]: EventRow): EventRow => [
    position,
    type === "teleported" ? "settings" : type,
    ...rest,
  ]
  Object.assign(engine, {
    stateSource: undefined,
    eventsToReplay: async (key: number) => (await eventsToReplay(key)).map(known),
  })
}

/** An idle conversation with an event that the newer server has written and the older does not know. */
async function open(create: (typeof shared)[number]["create"], script = [says("Hi."), says("Second.")]) {
  const { url } = await create()
  const tools = [write("save", () => answer("Saved."))]
  const [model, silent] = [scripted(...script), scripted()]
  const older = await Face.open({ url, model: silent, tools })
  const newer = await Face.open({ url, model, tools })
  await makeNewer(newer)
  const [there, here] = [await newer.as("ada"), await older.as("ada")]
  const id = (await there.begin({ agent: "test" })) as ConversationId
  const path = `/api/conversations/${id}`
  const said = await there.post(`${path}/messages`, { text: "Hello?" })
  await newer.pawl.runtime.rest(id)
  const { engine } = newer.store
  const insert = `INSERT INTO event (conversation, position, type, version, at, body) SELECT key,
    (SELECT max(position) + 1 FROM event WHERE conversation = key), 'teleported', 1, 0, '{}' FROM conversation WHERE id = ?`
  await engine.change({ type: "statements", statements: [{ sql: insert, values: [id] }] })
  newer.pawl.ports.journal.drop(id)
  older.pawl.ports.journal.drop(id)
  const head = async () => (await engine.query("SELECT owner, fence FROM conversation WHERE id = ?", [id]))[0]
  return {
    ...{ older, newer, here, there, id, path, said, silent, head },
    newerDies: () =>
      engine.change({
        type: "statements",
        statements: [{ sql: "DELETE FROM node WHERE id = ?", values: [newer.store.node.id] }],
      }),
    async [Symbol.asyncDispose]() {
      await Promise.all([older[Symbol.asyncDispose](), newer[Symbol.asyncDispose]()])
      // The older one has never called its model.
      expect(silent.received).toEqual([])
    },
  }
}

describe.each(shared)("servers of two versions on one $name", ({ create }) => {
  test("messages that the older one cannot process are stored there, and answered by the newer", async () => {
    await using nodes = await open(create)
    const headers = { accept: "text/event-stream", "content-type": "application/json" }
    const stream = await nodes.here.send("POST", `${nodes.path}/messages`, { body: { text: "And then?" }, headers })
    const seen = readFrames(stream, isOver)
    expect(await nodes.newer.pawl.runtime.recover()).toBe(1)
    expect(transcriptOf(await seen).shown.at(-1)).toBe("Second.")
  })

  test("a request repeated with its key at the older one gets the newer one's answer", async () => {
    await using nodes = await open(create)
    const say = () => nodes.here.post(`${nodes.path}/messages`, { text: "And then?" }, key)
    const key = { "idempotency-key": randomUUID() }
    expect(await say()).toMatchObject({ status: 202, body: { queued: { text: "And then?" } } })
    expect(await nodes.newer.pawl.runtime.recover()).toBe(1)
    await nodes.newer.pawl.runtime.rest(nodes.id)
    expect(await say()).toMatchObject({ status: 200, body: { run: { status: "completed" } } })
  })

  test("a proposal is decided at the older one, and carried out once, by the newer", async () => {
    await using nodes = await open(create, [calls("save"), says("Saved it.")])
    const [proposal] = nodes.said.body.proposals
    const committed = nodes.here.post(`/api/agent/proposals/${proposal.id}/commit`)
    await expect.poll(() => nodes.newer.pawl.runtime.recover()).toBe(1)
    expect(await committed).toMatchObject({ status: 200, body: { status: "applied" } })
    expect(await nodes.here.post(`/api/agent/proposals/${proposal.id}/commit`)).toMatchObject({ status: 409 })
  })

  test("a request that needs the whole journal is refused by the older one, and nothing of it is stored", async () => {
    await using nodes = await open(create, [calls("save"), says("Saved it.")])
    const [proposal] = nodes.said.body.proposals
    const refused = { status: 409, body: { code: "newer_journal" } }
    expect(await nodes.here.post(`/api/agent/proposals/${proposal.id}/commit`, { always: true })).toMatchObject(refused)
    expect(await nodes.here.post(`${nodes.path}/messages`, { text: "Now!", when: "reject" })).toMatchObject(refused)
    expect(await nodes.newer.pawl.runtime.recover()).toBe(0)
  })

  test("without a running newer node messages are refused instead of waiting forever", async () => {
    await using nodes = await open(create)
    await nodes.newerDies()
    const refused = await nodes.here.post(`${nodes.path}/messages`, { text: "And then?" })
    expect(refused).toMatchObject({ status: 409, body: { code: "newer_journal" } })
    expect(await nodes.newer.pawl.runtime.recover()).toBe(0)
  })

  test("the older one never takes over what waits for the newer, and reads it at most once", async () => {
    await using nodes = await open(create)
    const { older, newer, id } = nodes
    expect(await nodes.here.post(`${nodes.path}/messages`, { text: "And then?" })).toMatchObject({ status: 202 })
    await older.pawl.runtime.rest(id)
    const before = await nodes.head()
    await older.pawl.runtime.recover()
    await older.pawl.runtime.rest(id)
    const { eventsToReplay } = older.store.engine
    let read = 0
    Object.assign(older.store.engine, {
      stateSource: undefined,
      eventsToReplay: (key: number) => (read++, eventsToReplay(key)),
    })
    expect(await older.pawl.runtime.recover()).toBe(0)
    expect([await nodes.head(), read]).toEqual([before, 0])
    expect(await newer.pawl.runtime.recover()).toBe(1)
    await newer.pawl.runtime.rest(id)
    expect((await nodes.here.get(nodes.path)).body.messages.at(-1)).toMatchObject({ content: "Second." })
  })
})
