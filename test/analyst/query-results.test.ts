import { beforeAll, describe, expect, test } from "vitest"
import type { QueryAnswer } from "../../core/protocol/databases/connections.ts"
import { newId, type UserId } from "../../core/protocol/ids.ts"
import { toCsv } from "../../core/protocol/databases/csv.ts"
import { countWork } from "../support/worked.ts"
import { SqlQueryResults } from "../../core/store/databases/query-results.ts"
import { always, says, scripted } from "../../core/testing.ts"
import { databasesInTurn } from "../support/databases.ts"
import { TurnedClock } from "../support/loop/world.ts"
import { Face, type Visitor } from "../support/server/face.ts"

const answer = (...rows: unknown[][]): QueryAnswer => ({
  columns: [{ name: "a", type: null }],
  rows,
  truncated: false,
})

describe.each(databasesInTurn(import.meta.filename))("results on $name", ({ create }) => {
  let face: Face
  const connectionId = newId("conn")

  beforeAll(async () => {
    face = await Face.open({ url: (await create()).url, model: scripted(always(says("ok"))) })
    return () => face[Symbol.asyncDispose]()
  })

  const enter = async (name: string): Promise<{ visitor: Visitor; user: UserId }> => {
    const visitor = await face.as(name)
    return { visitor, user: (await visitor.get("/api/auth/me")).body.user.id }
  }
  const keep = (user: UserId, kept: QueryAnswer = answer([1]), conversationId: string | null = null) =>
    face.store.results.keep(user, {
      connectionId,
      conversationId: conversationId as never,
      sql: "SELECT 1",
      answer: kept,
    })
  const countOf = async (user: UserId) => {
    const sql = "SELECT count(*) AS n FROM query_result WHERE person = ? AND size > 0"
    return Number((await face.store.engine.query<{ n: number }>(sql, [user]))[0]?.n)
  }

  test("belong to one user, are complete, and are found under their connection", async () => {
    const { visitor: ada, user } = await enter("ada")
    const { visitor: bob } = await enter("bob")
    const { id, hash } = await keep(user, answer(["x"], [null], [{ deep: [1, { b: 1, a: 2 }] }]))
    const path = `/api/connections/${connectionId}/results/${id}`
    expect((await ada.get(path)).body).toMatchObject({ id, connectionId, sql: "SELECT 1", hash, truncated: false })
    const missing = await bob.get(`/api/connections/${connectionId}/results/${newId("res")}`)
    for (const ending of ["", ".csv"]) {
      const refused = await bob.get(`${path}${ending}`)
      expect([refused.status, refused.text]).toEqual([404, missing.text])
      expect((await ada.get(`/api/connections/${newId("conn")}/results/${id}${ending}`)).status).toBe(404)
    }
    // The same result has the same hash for every user; another result has another hash.
    expect((await keep(user, answer(["x"], [null], [{ deep: [1, { a: 2, b: 1 }] }]))).hash).toBe(hash)
    expect((await keep(user, answer(["y"]))).hash).not.toBe(hash)
  })

  test("are limited to the newest of a user, by count and size, and each is truncated if it is too long", async () => {
    const { user } = await enter("cleo")
    const { user: other } = await enter("dan")
    const theirs = await keep(other)
    const { engine } = face.store
    let time = 0
    const results = new SqlQueryResults(engine, () => ++time, {
      results: 5,
      characters: 4000,
      longest: 1000,
      expired: 2,
    })
    const add = (rows: number) => {
      const kept = answer(...Array.from({ length: rows }, () => ["x".repeat(96)]))
      return results.keep(user, { connectionId, conversationId: null, sql: "SELECT 1", answer: kept })
    }
    const first = await add(1)
    for (let n = 0; n < 5; n++) await add(1)
    expect([await countOf(user), await results.find(user, first.id)]).toEqual([5, undefined])
    const cut = await add(12)
    expect([cut.rows.length, cut.truncated, (await results.find(user, cut.id))?.rows.length]).toEqual([10, true, 10])
    for (let n = 0; n < 3; n++) await add(12)
    expect(await countOf(user)).toBe(3) // a fourth of a thousand signs and a few more is too much
    expect(await face.store.results.find(other, theirs.id)).toBeDefined()
    // Only the newest of the results without rows are stored.
    const rows = await engine.query("SELECT id FROM query_result WHERE person = ? AND size = 0", [user])
    expect(rows).toHaveLength(2)
    expect(await results.findExpired(user, first.id)).toBeUndefined()
  })

  test("expire after seven days without use, and say how to run the query again", async () => {
    const DAY = 24 * 60 * 60_000
    const clock = new TurnedClock()
    await using place = await create()
    await using turned = await Face.open({ url: place.url, model: scripted(always(says("ok"))), clock })
    const ada = await turned.as("ada")
    const { id: user } = (await ada.get("/api/auth/me")).body.user as { id: UserId }
    const { results, storage } = turned.store
    const stored = async () => (await storage.byTable(user)).get("query_result") ?? 0
    const add = () =>
      results.keep(user, { connectionId, conversationId: null, sql: "SELECT 1", answer: answer(["x".repeat(50_000)]) })
    const [used, unused] = [await add(), await add()]
    const path = ({ id }: { id: string }) => `/api/connections/${connectionId}/results/${id}`
    await clock.advance(6 * DAY)
    expect((await ada.get(path(used))).status).toBe(200)
    await results.sweep()
    expect(await stored()).toBeGreaterThan(100_000)

    await clock.advance(DAY + 60_000)
    for (const swept of [false, true]) {
      if (swept) await results.sweep()
      expect((await ada.get(path(used))).status).toBe(200)
      for (const ending of ["", ".csv"]) {
        const gone = await ada.get(`${path(unused)}${ending}`)
        expect([gone.status, gone.body.code]).toEqual([410, "result_expired"])
        expect(gone.body.detail).toContain("Run its SQL again")
      }
    }
    expect(await stored()).toBeLessThan(55_000)
    // Neither another user nor another connection can find it.
    const bob = await turned.as("bob")
    expect((await bob.get(path(unused))).status).toBe(404)
    expect((await ada.get(`/api/connections/${newId("conn")}/results/${unused.id}`)).status).toBe(404)
    await clock.advance(8 * DAY)
    expect((await ada.get(path(used))).status).toBe(410)
  })

  test("are deleted with their conversation, with their connection if they have none, and with their user", async () => {
    const { visitor: eve, user } = await enter("eve")
    const conversation = await eve.begin()
    const inside = await keep(user, answer([1]), conversation)
    const outside = await keep(user)
    const found = async () => {
      const all = await Promise.all([inside, outside].map(({ id }) => face.store.results.find(user, id)))
      return all.map((result) => result !== undefined)
    }
    expect(await found()).toEqual([true, true])
    expect((await eve.get("/api/export")).text).toContain(inside.id)
    await eve.delete(`/api/conversations/${conversation}`)
    expect(await found()).toEqual([false, true])
    const late = await keep(user, answer([1]), conversation) // asked before it was erased, answered after
    expect(await face.store.results.find(user, late.id)).toBeUndefined()

    const target = { kind: "postgres", host: "8.8.8.8", database: "d", user: "u", password: "p" }
    const { id } = (await eve.post("/api/connections", { name: "Main", ...target })).body
    const { id: mine } = await face.store.results.keep(user, {
      ...{ connectionId: id, conversationId: null, sql: "SELECT 1", answer: answer([1]) },
    })
    await eve.delete(`/api/connections/${id}`)
    expect(await face.store.results.find(user, mine)).toBeUndefined()
    await face.store.retention.erasePerson(user)
    expect(await countOf(user)).toBe(0)
  })
})

test("a file distinguishes NULL from empty text, quotes values, and runs nothing in a spreadsheet", () => {
  const columns = ["a", "=b", "c,d"].map((name) => ({ name, type: null }))
  const rows = [
    [null, "", 'say "hi"'],
    ["=1+1", "-cmd|x", "@sum"],
    [-5, "-5.25", "+1e3"],
    [" =1", "\t=1", "two\nlines"],
    [{ bytes: 1, base64: "AP8=" }, { a: [1] }, true],
    ["9007199254740993", "+49 30 1234", "ok"],
  ]
  expect([...toCsv(columns, rows)].join("").split("\r\n")).toEqual([
    `a,'=b,"c,d"`,
    `,"","say ""hi"""`,
    `'=1+1,'-cmd|x,'@sum`,
    `-5,-5.25,+1e3`,
    `' =1,'\t=1,"two\nlines"`,
    `AP8=,"{""a"":[1]}",true`,
    `9007199254740993,'+49 30 1234,ok`,
    "",
  ])
})

test("exporting a cell takes linear time, also if it nearly is a number", () => {
  const cells = ["1".repeat(400_000), `${"1".repeat(200_000)}.${"1".repeat(200_000)}`, " ".repeat(400_000)]
  const rows = cells.map((cell) => [`-${cell}x`])
  const worked = countWork()
  const file = [...toCsv([{ name: "n", type: null }], rows)].join("")
  expect(file.length).toBeGreaterThan(1_200_000)
  expect(worked()).toBeLessThan(1000) // a pattern with two ways to fit took minutes
})

test("a large file is streamed in chunks of similar size", () => {
  const rows = Array.from({ length: 20_000 }, (_, n) => [n, "x".repeat(100)])
  const portions = [
    ...toCsv(
      [
        { name: "n", type: null },
        { name: "x", type: null },
      ],
      rows,
    ),
  ]
  expect(portions.length).toBeGreaterThan(5)
  expect(Math.max(...portions.map(({ length }) => length))).toBeLessThan(300_000)
  expect(portions.join("").split("\r\n")).toHaveLength(20_002)
})
