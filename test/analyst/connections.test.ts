import { mkdirSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { beforeAll, describe, expect, inject, test } from "vitest"
import { OutboundPolicy } from "../../core/models/network/outbound-policy.ts"
import { scripted } from "../../core/testing.ts"
import { databasesInTurn } from "../support/databases.ts"
import { Face, type Visitor } from "../support/server/face.ts"
import { makeShop } from "./shop.ts"

const PASSWORD = "a-password-nobody-else-has"

describe.each(databasesInTurn(import.meta.filename))("connections on $name", ({ name: engine, create }) => {
  let face: Face
  let ada: Visitor
  let bob: Visitor
  let root: string
  let adaFolder: string

  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), inject("testRun"), "databases-"))
    const reach = new OutboundPolicy(["127.0.0.1"])
    const settings = { sqliteRoot: root, superuserConnections: true, reach }
    face = await Face.open({ url: (await create()).url, model: scripted(), ...settings })
    ada = await face.as("ada")
    bob = await face.as("bob")
    const { id } = (await ada.get("/api/auth/me")).body.user
    adaFolder = join(root, id)
    mkdirSync(adaFolder)
    mkdirSync(join(root, "shared"))
    makeShop(join(adaFolder, "shop.db"))
    makeShop(join(root, "shared", "everybody.db"))
    return () => face[Symbol.asyncDispose]()
  })

  /** A quick run has no PostgreSQL: connections that are only stored or refused need none. */
  const server = () => {
    const url = inject("postgresUrl") || "postgres://ada:secret@127.0.0.1:5432/shop"
    const { hostname: host, port, pathname, username: user, password } = new URL(url)
    return { kind: "postgres", host, port: Number(port), database: pathname.slice(1), user, password }
  }

  const made = async (body: object) => {
    const reply = await ada.post("/api/connections", { name: "Shop", ...body })
    expect(reply.status, reply.text).toBe(201)
    return reply.body.id as string
  }

  test("an unsaved connection can be tested by the same rules, and nothing about it is stored or reported", async () => {
    const before = (await ada.get("/api/connections")).body
    const told = async (body: object) => {
      const reply = await ada.post("/api/connections/try", { name: "Shop", ...body })
      expect(reply.status, reply.text).toBe(200)
      expect(reply.text).not.toContain(PASSWORD)
      return reply.body
    }
    expect(await told({ kind: "sqlite", path: "shop.db" })).toMatchObject({ ok: true, code: null, problem: null })
    expect(await told({ kind: "sqlite", path: "none.db" })).toMatchObject({ ok: false, code: "file_not_allowed" })
    expect(await told({ kind: "sqlite", path: "../../everybody.db" })).toMatchObject({ ok: false })
    const place = { kind: "postgres", port: 1, database: "x", user: "x", password: PASSWORD }
    expect(await told({ ...place, host: "127.0.0.1" })).toMatchObject({ ok: false, code: "connection_failed" })
    expect(await told({ ...place, host: "10.0.0.1" })).toMatchObject({ ok: false, code: "host_not_allowed" })
    if (engine === "postgres") {
      expect(await told(server())).toMatchObject({ ok: true })
      const wrong = await told({ ...server(), password: PASSWORD })
      expect(wrong).toMatchObject({ ok: false, code: "connection_failed" })
    }
    expect((await ada.post("/api/connections/try", { kind: "sqlite" })).status).toBe(400)
    expect((await ada.get("/api/connections")).body).toEqual(before)
  })

  test("a connection to a remote host is encrypted unless the request turns that off", async () => {
    const place = { name: "Shop", kind: "postgres", database: "x", user: "x", password: PASSWORD }
    const ssl = async (more: object) => (await ada.post("/api/connections", { ...place, ...more })).body.ssl
    expect(await ssl({ host: "8.8.8.8" })).toBe(true)
    expect(await ssl({ host: "8.8.8.8", ssl: false })).toBe(false)
    expect(await ssl({ host: "8.8.8.8", ssl: "no-verify" })).toBe("no-verify")
    expect(await ssl({ host: "127.0.0.1" })).toBe(false)
    const { id } = (await ada.post("/api/connections", { ...place, host: "127.0.0.1" })).body
    const moved = await ada.patch(`/api/connections/${id}`, { host: "8.8.8.8", password: PASSWORD })
    expect(moved.body).toMatchObject({ host: "8.8.8.8", ssl: true })
    const plain = await ada.patch(`/api/connections/${id}`, { ssl: false, password: PASSWORD })
    expect(plain.body).toMatchObject({ ssl: false })
    const renamed = await ada.patch(`/api/connections/${id}`, { host: "8.8.4.4", password: PASSWORD })
    expect(renamed.body).toMatchObject({ host: "8.8.4.4", ssl: false })
  })

  test("a user's SQLite file can be stored, tested, described, queried, renamed and deleted", async () => {
    const id = await made({ kind: "sqlite", path: "shop.db" })
    const path = `/api/connections/${id}`
    expect((await ada.post(`${path}/test`)).body).toMatchObject({ ok: true, code: null, problem: null })
    const { body: schema } = await ada.get(`${path}/schema`)
    expect(schema).toMatchObject({ tables: 2, shown: 2 })
    expect(schema.markdown).toContain("## purchase (table, about 2 row(s))")
    expect(schema.markdown).toContain("Refers: customer_id → customer(id)")
    expect(schema.markdown).toContain("| 1 | Ada | London |")
    const sql = "SELECT name, sum(cents) AS total FROM customer c JOIN purchase p ON p.customer_id = c.id GROUP BY 1"
    expect((await ada.post(`${path}/query`, { sql })).body).toEqual({
      resultId: expect.stringMatching(/^res_/),
      columns: [
        { name: "name", type: "TEXT" },
        { name: "total", type: "INTEGER" },
      ],
      rows: [["Ada", 1349]],
      truncated: false,
    })
    expect((await ada.patch(path, { name: "Our shop" })).body).toMatchObject({ name: "Our shop", path: "shop.db" })
    expect((await ada.patch(path, { path: "shared/everybody.db" })).body).toMatchObject({ name: "Our shop" })
    expect((await ada.post(`${path}/query`, { sql })).status).toBe(200)
    expect((await ada.delete(path)).status).toBe(204)
    expect((await ada.get(path)).status).toBe(404)
  })

  test.runIf(engine === "postgres")("so can a PostgreSQL database, and no reply contains its password", async () => {
    const reply = await ada.post("/api/connections", { name: "Main", ...server() })
    expect(reply.status, reply.text).toBe(201)
    const { password } = server()
    const path = `/api/connections/${reply.body.id}`
    expect((await ada.post(`${path}/test`)).body).toMatchObject({ ok: true })
    const sql = "SELECT count(*) AS n, 1.50::numeric(10,2) AS price, DATE '2026-02-03' AS day"
    expect((await ada.post(`${path}/query`, { sql })).body).toEqual({
      resultId: expect.stringMatching(/^res_/),
      columns: [
        { name: "n", type: "bigint" },
        { name: "price", type: "numeric(10,2)" },
        { name: "day", type: "date" },
      ],
      rows: [[1, "1.50", "2026-02-03"]],
      truncated: false,
      timeZone: expect.any(String),
    })
    expect((await ada.get(`${path}/schema`)).status).toBe(200)
    const wrong = await ada.patch(path, { password: PASSWORD })
    expect(wrong.status).toBe(200)
    const tested = await ada.post(`${path}/test`)
    expect(tested.body).toMatchObject({ ok: false, code: "connection_failed" })
    const failed = await ada.post(`${path}/query`, { sql })
    expect([failed.status, failed.body.code]).toEqual([502, "connection_failed"])
    const everything = [reply, wrong, tested, failed, await ada.get(path), await ada.get("/api/connections")]
    everything.push(await ada.get("/api/export"))
    for (const { text } of everything) {
      expect(text).not.toContain(password)
      expect(text).not.toContain(PASSWORD)
    }
    expect(reply.body).toMatchObject({ configured: true, host: "127.0.0.1", ssl: false })
    expect(Object.keys(reply.body)).not.toContain("password")
  })

  test("a stored password is not sent to a new address", async () => {
    const id = await made({ ...server(), password: PASSWORD })
    const path = `/api/connections/${id}`
    for (const change of [{ host: "8.8.8.8" }, { port: 1 }, { user: "eve" }, { ssl: "no-verify" }]) {
      const reply = await ada.patch(path, change)
      expect([reply.status, reply.body.detail]).toEqual([400, expect.stringContaining("password")])
    }
    expect((await ada.patch(path, { host: "127.0.0.1", database: "other" })).status).toBe(200)
    expect((await ada.patch(path, { host: "8.8.8.8", password: "new" })).body).toMatchObject({ host: "8.8.8.8" })
    expect((await ada.patch(path, { path: "shop.db" })).status).toBe(400)
    expect((await ada.patch(path, {})).status).toBe(400)
  })

  test("a host that is not public is refused when it is stored, and so is an invalid one", async () => {
    for (const host of [
      "10.0.0.1",
      "169.254.169.254",
      "::1",

      "127.0.0.2",
      "0.0.0.0",
      "::ffff:127.0.0.1",
    ]) {
      const reply = await ada.post("/api/connections", { name: "x", ...server(), host })
      expect([host, reply.status, reply.body.code]).toEqual([host, 400, "host_not_allowed"])
    }
    for (const host of ["/var/run/postgresql", "a b", "x?host=127.0.0.1", "db.example/x", "@abstract", "[::1]", "-x"]) {
      const reply = await ada.post("/api/connections", { name: "x", ...server(), host })
      expect([host, reply.status, reply.body.code]).toEqual([host, 400, "bad_request"])
    }
    const strays = { sslrootcert: "/etc/passwd", connectionString: "postgres://x", options: "-c x" }
    for (const [name, value] of Object.entries(strays)) {
      expect((await ada.post("/api/connections", { name: "x", ...server(), [name]: value })).status).toBe(400)
    }
  })

  test("every request for another user's connection answers like one for a missing connection", async () => {
    const id = await made({ kind: "sqlite", path: "shop.db" })
    const asks = (missing: string) =>
      Promise.all([
        bob.get(`/api/connections/${missing}`),
        bob.patch(`/api/connections/${missing}`, { name: "mine" }),
        bob.delete(`/api/connections/${missing}`),
        bob.post(`/api/connections/${missing}/test`),
        bob.get(`/api/connections/${missing}/schema`),
        bob.post(`/api/connections/${missing}/query`, { sql: "SELECT 1" }),
      ])
    const [theirs, none] = [await asks(id), await asks("conn_0000000000000000")]
    expect(theirs.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404])
    expect(theirs.map(({ text }) => text)).toEqual(none.map(({ text }) => text))
    expect((await bob.get("/api/connections")).body.items).toEqual([])
    expect((await ada.get(`/api/connections/${id}`)).body.name).toBe("Shop")
    // Nor can a user open a file in another user's folder, by any name.
    const folder = adaFolder.split("/").at(-1) ?? ""
    for (const path of [
      join(adaFolder, "shop.db"),
      `../${folder}/shop.db`,
      `${folder}/shop.db`,
      `shared/../${folder}/shop.db`,
    ]) {
      const reply = await bob.post("/api/connections", { name: "x", kind: "sqlite", path })
      expect([path, reply.status, reply.body.code]).toEqual([path, 400, "file_not_allowed"])
    }
    expect(
      (await bob.post("/api/connections", { name: "x", kind: "sqlite", path: "shared/everybody.db" })).status,
    ).toBe(201)
  })

  test("a user can store at most a hundred connections", async () => {
    const carl = await face.as("carl")
    const body = { name: "x", kind: "sqlite", path: "shared/everybody.db" }
    for (let count = 0; count < 100; count++) expect((await carl.post("/api/connections", body)).status).toBe(201)
    const reply = await carl.post("/api/connections", body)
    expect([reply.status, reply.body.code]).toEqual([409, "too_many"])
  })

  test("a row that was moved to another user cannot be decrypted", async () => {
    const id = await made({ kind: "sqlite", path: "shop.db" })
    const dora = await face.as("dora")
    const user = (await dora.get("/api/auth/me")).body.user.id
    const sql = "UPDATE connection SET person = ? WHERE id = ?"
    await face.store.engine.change({ type: "statements", statements: [{ sql, values: [user, id] }] })
    expect((await dora.get(`/api/connections/${id}`)).body).toMatchObject({ configured: false, name: "Shop" })
    const reply = await dora.post(`/api/connections/${id}/query`, { sql: "SELECT 1" })
    expect([reply.status, reply.body.code]).toEqual([409, "secret_unreadable"])
  })

  test("erasing a user deletes their connections", async () => {
    const eve = await face.as("eve", "read", "manage")
    await eve.post("/api/connections", { name: "x", kind: "sqlite", path: "shared/everybody.db" })
    const count = async () => (await face.store.engine.query("SELECT id FROM connection WHERE name = ?", ["x"])).length
    const before = await count()
    expect((await eve.delete("/api/me")).status).toBeLessThan(300)
    expect(await count()).toBe(before - 1)
  })
})
