import { describe, expect, test } from "vitest"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import type { UserId } from "../../../core/protocol/ids.ts"
import { databases } from "../../support/databases.ts"
import { Face } from "../../support/server/face.ts"

const COUNT = 5

describe.each(databases)("on $name", ({ name, create }) => {
  async function open(url: string) {
    const model = scripted(
      always(({ history }) =>
        history.at(-1)?.role === "tool" ? says("Done.") : calls("create_task", { title: "Buy milk" }),
      ),
    )
    const face = await Face.open({ url, model })
    const [ada, eve] = [await face.as("ada"), await face.as("eve")]
    const propose = async (who: typeof ada) => (await who.say(await who.begin(), "milk")).body.proposals[0].id as string
    const waiting: string[] = []
    for (let i = 0; i < COUNT; i++) waiting.push(await propose(ada))
    await propose(eve)
    /** All pages of two, in order. */
    const list = async (query = "") => {
      const seen: string[] = []
      for (let cursor = ""; ;) {
        const { body } = await ada.get(`/api/agent/proposals?limit=2${query}${cursor}`)
        seen.push(...body.items.map((item: { id: string }) => item.id))
        if (body.nextCursor === null) return seen
        cursor = `&cursor=${body.nextCursor}`
      }
    }
    const noted = async () => {
      const sql = "SELECT count(*) AS n FROM proposal WHERE person IS NOT NULL"
      return (await face.store.engine.query<{ n: number }>(sql, []))[0]?.n
    }
    return { face, ada, waiting, list, noted, propose: () => propose(ada) }
  }

  test("a list has each proposal once, newest first, whether its owner is recorded yet or not", async () => {
    await using database = await create()
    const { face, ada, waiting, list, noted, propose } = await open(database.url)
    await using _ = face
    expect(await noted(), "no turn writes it").toBe(0)
    const { change } = face.store.engine
    Object.assign(face.store.engine, { change: () => Promise.reject(new Error("the disk is full")) })
    const before = await list()
    Object.assign(face.store.engine, { change })
    expect(before.toSorted()).toEqual(waiting.toSorted())
    expect(await list()).toEqual(before)
    expect(await noted()).toBe(COUNT + 1)
    expect(await list("&status=pending")).toEqual(before)
    const latest = await propose()
    expect(await list()).toEqual([latest, ...before])
    await ada.post(`/api/agent/proposals/${latest}/reject`, {})
    expect(await list("&status=rejected")).toEqual([latest])
    expect(await list("&status=pending")).toEqual(before)
  })

  test("a list misses nothing while another node records the owners of proposals", async () => {
    await using database = await create()
    const { face, ada, waiting } = await open(database.url)
    await using _ = face
    const { engine } = face.store
    const { query, change } = engine
    const note = { sql: "UPDATE proposal SET person = (SELECT key FROM person WHERE name = 'ada')", values: [] }
    // This node records none; the other one does between any two queries of a list.
    let before: Promise<unknown> = Promise.resolve()
    Object.assign(engine, {
      change: () => Promise.reject(new Error("the disk is full")),
      query: (sql: string, values: unknown[]) => {
        if (!sql.includes("ORDER BY q.expires_at")) return query(sql, values)
        const answer = before.then(() => query(sql, values))
        before = answer.then(() => change({ type: "statements", statements: [note] }))
        return answer
      },
    })
    const { body } = await ada.get("/api/agent/proposals?status=pending")
    await before
    Object.assign(engine, { query, change })
    expect(body.items.map((item: { id: string }) => item.id).toSorted()).toEqual(waiting.toSorted())
  })

  test("pages have each proposal once also if the database sorts letters differently", async () => {
    await using database = await create()
    const { face, waiting, list } = await open(database.url)
    await using _ = face
    const { engine } = face.store
    const names = ["prop_a", "prop_B", "prop_c", "prop_D", "prop_e"]
    // Proposed at once, as the tool calls of one reply are.
    const statements = waiting.flatMap((id, at) => [
      { sql: "UPDATE event SET body = replace(body, ?, ?)", values: [id, names[at]] },
      { sql: "UPDATE proposal SET id = ?, expires_at = 9000000000000 WHERE id = ?", values: [names[at], id] },
    ])
    const locale = ["DROP VIEW proposals, audit", 'ALTER TABLE proposal ALTER COLUMN id TYPE TEXT COLLATE "en-x-icu"']
    if (name === "postgres") statements.push(...locale.map((sql) => ({ sql, values: [] })))
    await engine.change({ type: "statements", statements })
    expect((await list()).toSorted()).toEqual(names.toSorted())
  })

  test("a proposal that expired unnoticed leaves the inbox when it is read", async () => {
    await using database = await create()
    const { face, ada, waiting, list } = await open(database.url)
    await using _ = face
    expect(await list("&status=expired&seen=false")).toEqual([])
    const [late, settled] = waiting as [string, string]
    const sql = (id: string, status: string) => {
      return { sql: "UPDATE proposal SET expires_at = 1, status = ? WHERE id = ?", values: [status, id] }
    }
    await face.store.engine.change({ type: "statements", statements: [sql(late, "pending"), sql(settled, "expired")] })
    expect((await list("&status=expired&seen=false")).toSorted()).toEqual([late, settled].toSorted())
    await ada.post(`/api/agent/proposals/${late}/seen`)
    expect(await list("&status=expired&seen=false")).toEqual([settled])
    expect(await list("&status=expired&seen=true")).toEqual([late])
    expect(await list("&status=pending")).toHaveLength(COUNT - 2)
  })

  test("a conversation that is erased while its proposals are read is left out, and nothing fails", async () => {
    await using database = await create()
    const { face, ada, waiting } = await open(database.url)
    await using _ = face
    const { engine } = face.store
    const { events } = engine
    const { conversationId } = (await ada.get(`/api/agent/proposals/${waiting[2]}`)).body
    const [person] = await engine.query<{ id: UserId }>("SELECT id FROM person WHERE name = 'ada'", [])
    // By another node, between the query for the rows and that for their text.
    let erasing: Promise<unknown> | undefined
    Object.assign(engine, {
      events: async (...asked: Parameters<typeof events>) => {
        await (erasing ??= face.store.retention.eraseConversation(person!.id, conversationId))
        return events(...asked)
      },
    })
    const { status, body } = await ada.get("/api/agent/proposals?status=pending")
    Object.assign(engine, { events })
    const left = waiting.filter((id) => id !== waiting[2]).toSorted()
    expect([status, body.items?.map((item: { id: string }) => item.id).toSorted()]).toEqual([200, left])
  })

  test("an inbox has a proposal once that changes while it is read", async () => {
    await using database = await create()
    const { face, waiting } = await open(database.url)
    await using _ = face
    const { engine } = face.store
    const { query, change } = engine
    const [person] = await engine.query<{ id: UserId }>("SELECT id FROM person WHERE name = 'ada'", [])
    // By another node, and between any two queries: one of them is in doubt now.
    const sql =
      "UPDATE proposal SET status = CASE WHEN status = 'pending' THEN 'in_doubt' ELSE 'pending' END WHERE id = ?"
    let before: Promise<unknown> = Promise.resolve()
    Object.assign(engine, {
      query: (asked: string, values: unknown[]) => {
        if (!asked.includes("ORDER BY q.expires_at")) return query(asked, values)
        const answer = before.then(() => query(asked, values))
        const statements = [{ sql, values: [waiting[1]] }]
        before = answer.then(() => change({ type: "statements", statements }))
        return answer
      },
    })
    const inbox = await face.store.proposals.inbox(person!.id, 10)
    await before
    Object.assign(engine, { query })
    expect(inbox.map(({ id }) => id as string).toSorted()).toEqual(waiting.toSorted())
  })
})
