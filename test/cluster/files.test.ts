import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, test } from "vitest"
import { systemClock } from "../../core/shared/time/clock.ts"
import { sweepErased } from "../../core/server/routes/account/retention.ts"
import { always, calls, says, scripted } from "../../core/testing.ts"
import { databases } from "../support/databases.ts"
import { Face, type Visitor } from "../support/server/face.ts"

const CSV = { "content-type": "text/csv" }
const shared = databases.filter(({ name }) => name === "postgres")

/** Each server has a folder of its own, as on two machines: only the database is common to them. */
describe.each(shared)("files of two servers on one $name", { timeout: 120_000 }, ({ create }) => {
  /** The statement that the model proposes next. */
  let asked = ""
  const model = () =>
    scripted(
      always(({ history }) =>
        history.at(-1)?.role === "user" ? calls("change_database", { sql: asked, why: "x" }) : says("Ok."),
      ),
    )
  const open = async () => {
    const { url } = await create()
    /** Moving it forward makes the files on their disks old. */
    const times = { aheadMs: 0 }
    const machineClock = { ...systemClock, now: () => Date.now() + times.aheadMs }
    const options = () => ({ url, model: model(), machineClock })
    const [one, two] = [await Face.open(options()), await Face.open(options())]
    const [here, there] = [await one.as("ada"), await two.as("ada")]
    const user = (await here.get("/api/auth/me")).body.user.id as string
    return {
      ...{ one, two, here, there, user, times },
      async [Symbol.asyncDispose]() {
        await Promise.all([one[Symbol.asyncDispose](), two[Symbol.asyncDispose]()])
      },
    }
  }
  const upload = async (by: Visitor, body = "a,b\n1,2\n3,4\n") => {
    const reply = await by.ask("POST", "/api/connections/csv?name=x", { body, headers: CSV })
    expect(reply.status, reply.text).toBe(201)
    return reply.body.id as string
  }
  const query = async (by: Visitor, id: string, sql = "SELECT a, b FROM x ORDER BY a") => {
    const reply = await by.post(`/api/connections/${id}/query`, { sql })
    return reply.status === 200 ? reply.body.rows : reply.body.code
  }
  const propose = async (by: Visitor, id: string, sql: string) => {
    await by.patch(`/api/connections/${id}`, { writable: true })
    asked = sql
    const { body, text } = await by.say(await by.begin({ agent: "analyst", connectionId: id }), "Go.")
    expect(body.proposals, text).toHaveLength(1)
    return body.proposals[0].id as string
  }
  const agree = async (by: Visitor, proposal: string) =>
    (await by.post(`/api/agent/proposals/${proposal}/commit`, {})).body.status
  const cached = ({ server }: Face) => {
    const folder = join(server.settings.dataFolder, "file-cache")
    const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : []
    return names.filter((name) => name.includes("/")).map((name) => join(folder, name))
  }
  const inStore = async ({ store }: Face) => {
    const count = async (table: string) =>
      (await store.engine.query<{ n: number }>(`SELECT count(*) AS n FROM ${table}`, []))[0]?.n
    return [await count("kept_file"), await count("kept_file_part")]
  }

  test("a file uploaded at one can be queried at the other, and need not stay on a disk", async () => {
    await using nodes = await open()
    const id = await upload(nodes.here)
    expect(await query(nodes.there, id)).toEqual([
      [1, 2],
      [3, 4],
    ])
    expect((await nodes.there.get(`/api/connections/${id}/schema`)).body.markdown).toContain("x")
    expect([cached(nodes.one).length, cached(nodes.two).length]).toEqual([1, 1])
    for (const path of [...cached(nodes.one), ...cached(nodes.two)]) renameSync(path, `${path}.away`)
    expect([await query(nodes.here, id), await query(nodes.there, id)]).toEqual([
      [
        [1, 2],
        [3, 4],
      ],
      [
        [1, 2],
        [3, 4],
      ],
    ])
    expect(existsSync(join(nodes.one.server.settings.sqliteRoot, nodes.user, "csv"))).toBe(false)
  })

  test("the sample created at one is available at the other", async () => {
    await using nodes = await open()
    const { id } = (await nodes.here.post("/api/connections/sample")).body
    expect(await query(nodes.there, id, "SELECT count(*) FROM purchase")).toEqual([[1600]])
  })

  test("a change made at one is visible at the other, wherever it was proposed", async () => {
    await using nodes = await open()
    const id = await upload(nodes.here)
    expect(await query(nodes.here, id)).toEqual([
      [1, 2],
      [3, 4],
    ])
    const proposal = await propose(nodes.here, id, "UPDATE x SET b = b + 10 WHERE a = 1")
    expect(await query(nodes.there, id)).toEqual([
      [1, 2],
      [3, 4],
    ]) // nothing was changed by rehearsing it
    expect(await agree(nodes.there, proposal)).toBe("applied")
    expect([await query(nodes.here, id), await query(nodes.there, id)]).toEqual([
      [
        [1, 12],
        [3, 4],
      ],
      [
        [1, 12],
        [3, 4],
      ],
    ])
    expect(await inStore(nodes.one)).toEqual([1, 1])
  })

  test("a change of rows that another node has changed in the meantime is stale", async () => {
    await using nodes = await open()
    const id = await upload(nodes.here)
    const first = await propose(nodes.here, id, "UPDATE x SET b = b + 10 WHERE a = 1")
    const second = await propose(nodes.there, id, "UPDATE x SET b = b + 100 WHERE a = 1")
    expect(await agree(nodes.there, second)).toBe("applied")
    expect(await agree(nodes.here, first)).not.toBe("applied")
    expect(await query(nodes.here, id)).toEqual([
      [1, 102],
      [3, 4],
    ])
  })

  test("concurrent changes at both are all made, each once", async () => {
    await using nodes = await open()
    const id = await upload(nodes.here, "a,b\n1,0\n2,0\n3,0\n4,0\n5,0\n6,0\n")
    const sides = [nodes.here, nodes.there]
    const proposals: string[] = []
    for (let row = 1; row <= 6; row++) {
      proposals.push(await propose(sides[row % 2] as Visitor, id, `UPDATE x SET b = b + 1 WHERE a = ${row}`))
    }
    const ends = await Promise.all(proposals.map((each, index) => agree(sides[(index + 1) % 2] as Visitor, each)))
    expect(ends).toEqual(proposals.map(() => "applied"))
    expect(await query(nodes.there, id, "SELECT b FROM x")).toEqual([[1], [1], [1], [1], [1], [1]])
    expect(await inStore(nodes.one)).toEqual([1, 1])
  })

  test("a file deleted at one is gone at the other, and from the store", async () => {
    await using nodes = await open()
    const [id, other] = [await upload(nodes.here), await upload(nodes.here, "a,b\n5,6\n")]
    await query(nodes.there, id)
    expect((await nodes.here.delete(`/api/connections/${id}`)).status).toBe(204)
    expect([await query(nodes.here, id), await query(nodes.there, id)]).toEqual(["not_found", "not_found"])
    // The path alone does not open it either.
    const guess = { name: "y", kind: "sqlite", path: `csv/${id}.db` }
    expect((await nodes.there.post("/api/connections", guess)).body.code).toBe("file_not_allowed")
    expect(await query(nodes.there, other)).toEqual([[5, 6]])
    expect(await inStore(nodes.one)).toEqual([1, 1])
  })

  test("a file deleted at one server is removed from the disk of the other once no reader can have it open", async () => {
    await using nodes = await open()
    const [id, other] = [await upload(nodes.here), await upload(nodes.here, "a,b\n5,6\n")]
    await query(nodes.there, id)
    await query(nodes.there, other)
    expect(cached(nodes.two)).toHaveLength(2)
    await nodes.here.delete(`/api/connections/${id}`)
    await nodes.two.databases.tidyFiles()
    expect(cached(nodes.two)).toHaveLength(2)
    nodes.times.aheadMs = 6 * 60_000
    await nodes.two.databases.tidyFiles()
    expect(cached(nodes.two)).toHaveLength(1)
    expect(await query(nodes.there, other)).toEqual([[5, 6]])
  })

  test("an account erased at one leaves nothing in the store, nor on the disk of the other", async () => {
    await using nodes = await open()
    const id = await upload(nodes.here)
    await query(nodes.there, id)
    expect((await nodes.here.delete("/api/me")).status).toBe(204)
    expect(await inStore(nodes.one)).toEqual([0, 0])
    expect(cached(nodes.one)).toEqual([])
    await sweepErased({ retention: nodes.two.store.retention, databases: nodes.two.databases })
    expect(cached(nodes.two)).toEqual([])
  })

  test("a damaged copy on a disk is detected and fetched again", async () => {
    await using nodes = await open()
    const id = await upload(nodes.here)
    expect(await query(nodes.there, id)).toEqual([
      [1, 2],
      [3, 4],
    ])
    const [copy = ""] = cached(nodes.two)
    for (const rubbish of ["", "rubbish", "SQLite format 3\0".padEnd(8192, "x")]) {
      writeFileSync(copy, rubbish)
      expect(await query(nodes.there, id)).toEqual([
        [1, 2],
        [3, 4],
      ])
    }
  })

  test("an older upload on one server's disk moves to the store when it is first used there", async () => {
    await using nodes = await open()
    const id = await upload(nodes.here)
    // As the previous version left it: a file in the person's folder, and no row in the store.
    const [copy = ""] = cached(nodes.one)
    const file = join(nodes.one.server.settings.sqliteRoot, nodes.user, "csv", `${id}.db`)
    mkdirSync(dirname(file), { recursive: true })
    renameSync(copy, file)
    const gone = ["kept_file", "kept_file_part"].map((table) => ({ sql: `DELETE FROM ${table}`, values: [] }))
    await nodes.one.store.engine.change({ type: "statements", statements: gone })
    expect(await query(nodes.there, id)).toBe("file_not_allowed")
    expect(await query(nodes.here, id)).toEqual([
      [1, 2],
      [3, 4],
    ])
    expect([existsSync(file), await inStore(nodes.one)]).toEqual([false, [1, 1]])
    expect(await query(nodes.there, id)).toEqual([
      [1, 2],
      [3, 4],
    ])
  })

  test("a starting server imports uploads left on its disk, except those without an owner", async () => {
    await using nodes = await open()
    const id = await upload(nodes.here)
    const folder = join(nodes.one.server.settings.sqliteRoot, nodes.user, "csv")
    const [copy = ""] = cached(nodes.one)
    mkdirSync(folder, { recursive: true })
    renameSync(copy, join(folder, `${id}.db`))
    writeFileSync(join(folder, "conn_0000000000nobody0000.db"), "nobody's")
    const gone = ["kept_file", "kept_file_part"].map((table) => ({ sql: `DELETE FROM ${table}`, values: [] }))
    await nodes.one.store.engine.change({ type: "statements", statements: gone })
    await nodes.one.databases.sweep()
    await expect
      .poll(() => query(nodes.there, id))
      .toEqual([
        [1, 2],
        [3, 4],
      ])
    expect(readdirSync(folder)).toEqual(["conn_0000000000nobody0000.db"])
  })

  /** A file that the operator has put into the person's folder: on each server's disk, or in a shared folder. */
  const placeFile = (face: Face, user: string, town: string) => {
    const folder = join(face.server.settings.sqliteRoot, user)
    mkdirSync(folder, { recursive: true })
    const db = new DatabaseSync(join(folder, "shop.db"))
    db.exec(`CREATE TABLE x (a INTEGER PRIMARY KEY, b TEXT); INSERT INTO x VALUES (1, '${town}')`)
    db.close()
  }
  const connect = async (by: Visitor) => {
    const { body, text } = await by.post("/api/connections", { name: "Shop", kind: "sqlite", path: "shop.db" })
    expect(body.id, text).toBeTruthy()
    return body.id as string
  }

  test("a file placed by the operator is read from the disk of the server that is asked, until one of them changes it", async () => {
    await using nodes = await open()
    placeFile(nodes.one, nodes.user, "Bonn")
    placeFile(nodes.two, nodes.user, "Bonn")
    const id = await connect(nodes.here)
    const first = await propose(nodes.here, id, "UPDATE x SET b = b || '+'")
    const second = await propose(nodes.there, id, "UPDATE x SET b = b || '-'")
    expect([await query(nodes.here, id), await query(nodes.there, id)]).toEqual([[[1, "Bonn"]], [[1, "Bonn"]]])
    expect(await agree(nodes.here, first)).toBe("applied")
    expect(await query(nodes.here, id)).toEqual([[1, "Bonn+"]])
    // The other server's file is not the one that was changed, so it is neither read nor written any more.
    const told = await nodes.there.post(`/api/connections/${id}/query`, { sql: "SELECT b FROM x" })
    expect([told.body.code, told.body.detail]).toEqual([
      "connection_failed",
      expect.stringContaining("share the folder PAWL_SQLITE_ROOT"),
    ])
    await agree(nodes.there, second)
    expect((await nodes.there.get(`/api/agent/proposals/${second}`)).body.status).toBe("failed")
    const untouched = new DatabaseSync(join(nodes.two.server.settings.sqliteRoot, nodes.user, "shop.db"))
    expect(untouched.prepare("SELECT b FROM x").get()).toEqual({ b: "Bonn" })
    untouched.close()
  })

  test("an operator's file in a shared folder is changed at both", async () => {
    const { url } = await create()
    await using one = await Face.open({ url, model: model() })
    await using two = await Face.open({ url, model: model(), sqliteRoot: one.server.settings.sqliteRoot })
    const [here, there] = [await one.as("ada"), await two.as("ada")]
    placeFile(one, (await here.get("/api/auth/me")).body.user.id, "Bonn")
    const id = await connect(here)
    expect(await agree(here, await propose(here, id, "UPDATE x SET b = b || '+'"))).toBe("applied")
    expect(await agree(there, await propose(there, id, "UPDATE x SET b = b || '-'"))).toBe("applied")
    expect([await query(here, id), await query(there, id)]).toEqual([[[1, "Bonn+-"]], [[1, "Bonn+-"]]])
  })
})
