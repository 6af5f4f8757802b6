import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs"
import { hostname, tmpdir } from "node:os"
import { join } from "node:path"
import { beforeAll, describe, expect, inject, test } from "vitest"
import { createClient } from "../../../client/index.ts"
import { scripted } from "../../../core/testing.ts"
import { anyDatabase } from "../../support/databases.ts"
import { Face, type Visitor } from "../../support/server/face.ts"

const CSV = { "content-type": "text/csv" }

describe.each(anyDatabase)("CSV files on $name", ({ name, create }) => {
  /** On PostgreSQL the files are in the store, for all servers: test/cluster/files.test.ts. */
  const onDisk = test.runIf(name === "sqlite")
  let face: Face
  let url: string
  let ada: Visitor
  let user: string
  let root: string

  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), inject("testRun"), "csv-"))
    url = (await create()).url
    face = await Face.open({ url, model: scripted(), sqliteRoot: root })
    ada = await face.as("ada")
    user = (await ada.get("/api/auth/me")).body.user.id
    return () => face[Symbol.asyncDispose]()
  })

  const upload = (body: string | Uint8Array, search = "name=Sales 2024.csv", headers: Record<string, string> = CSV) =>
    ada.ask("POST", `/api/connections/csv?${search}`, { body, headers })
  const look = async (body: string | Uint8Array, headers = CSV) => {
    const reply = await upload(body, "preview=true", headers)
    expect(reply.status, reply.text).toBe(200)
    return reply.body
  }
  const query = async (id: string, sql: string) => {
    const reply = await ada.post(`/api/connections/${id}/query`, { sql })
    expect(reply.status, reply.text).toBe(200)
    return reply.body
  }
  const files = () => (existsSync(join(root, user, "csv")) ? readdirSync(join(root, user, "csv")) : [])
  const leftovers = () => (existsSync(join(root, ".uploads")) ? readdirSync(join(root, ".uploads")) : [])

  const ORDERS = [
    "id,Customer Name,price,exact,when,at,paid,zip,big,huge,note",
    '1,"Ada, Countess",1.50,0.10000000000000000001,2024-02-29,2024-02-29T10:00:00Z,true,01234,9007199254740993,123456789012345678901,"line\nbreak"',
    '2,"Bo ""B""",2,3.25,2024-03-01,2024-03-01 11:30,FALSE,99999,5,5,',
    "3,,-0.5,7,,2024-03-02,,00001,-1,0,日本",
  ].join("\r\n")

  test("become a private database whose column types fit all cells", async () => {
    const reply = await upload(ORDERS)
    expect(reply.status, reply.text).toBe(201)
    expect(reply.body).toMatchObject({ name: "Sales 2024.csv", kind: "sqlite", path: `csv/${reply.body.id}.db` })
    const { columns, rows } = await query(reply.body.id, "SELECT * FROM sales_2024")
    expect(columns).toEqual([
      { name: "id", type: "INTEGER" },
      { name: "Customer_Name", type: "TEXT" },
      { name: "price", type: "REAL" },
      { name: "exact", type: "DECIMAL TEXT" },
      { name: "when", type: "DATE" },
      { name: "at", type: "DATETIME" },
      { name: "paid", type: "BOOLEAN" },
      { name: "zip", type: "TEXT" },
      { name: "big", type: "INTEGER" },
      { name: "huge", type: "DECIMAL TEXT" },
      { name: "note", type: "TEXT" },
    ])
    expect(rows).toEqual([
      ...[[1, "Ada, Countess", 1.5, "0.10000000000000000001", "2024-02-29", "2024-02-29T10:00:00Z", 1, "01234"]].map(
        (row) => [...row, "9007199254740993", "123456789012345678901", "line\nbreak"],
      ),
      [2, 'Bo "B"', 2, "3.25", "2024-03-01", "2024-03-01 11:30", 0, "99999", 5, "5", null],
      [3, null, -0.5, "7", null, "2024-03-02", null, "00001", -1, "0", "日本"],
    ])
    expect(
      (await query(reply.body.id, "SELECT typeof(exact), typeof(zip), typeof(paid) FROM sales_2024")).rows[0],
    ).toEqual(["text", "text", "integer"])
    expect(leftovers()).toEqual([])
  })

  test("are previewed without storing anything", async () => {
    const before = files()
    const rows = Array.from({ length: 30 }, (_, index) => `${index};x`).join("\n")
    expect(await look(`n;t\n${rows}\n`)).toEqual({
      columns: [
        { name: "n", type: "INTEGER" },
        { name: "t", type: "TEXT" },
      ],
      rows: Array.from({ length: 20 }, (_, index) => [index, "x"]),
      delimiter: ";",
      rowCount: 30,
      warnings: [],
      questions: [],
    })
    expect(files()).toEqual(before)
    expect(leftovers()).toEqual([])
  })

  test("are read as the request says, and previewed the same way", async () => {
    const body = "day;amount\n03/04/2025;1.234\n05/06/2025;2.500\n"
    const asked = await look(body)
    expect(asked.questions).toMatchObject([
      { column: "day", option: "dates" },
      { column: "amount", option: "decimal" },
    ])
    const said = "dates=day-first&decimal=comma"
    expect((await upload(body, `preview=true&${said}`)).body).toMatchObject({
      rows: [
        ["2025-04-03", 1234],
        ["2025-06-05", 2500],
      ],
      questions: [],
      warnings: [],
    })
    const { id } = (await upload(body, `name=x&${said}`)).body
    expect((await query(id, "SELECT sum(amount), max(day) FROM x")).rows).toEqual([[3734, "2025-06-05"]])
    expect((await upload(body, "name=x&decimal=dot")).status).toBe(400)
    const latin = Buffer.from("\xcc\xee\xf1\xea\xe2\xe0,1\n", "latin1")
    expect((await upload(latin, "preview=true")).body).toMatchObject({ code: "csv_refused" })
    const named = await upload(latin, "preview=true&encoding=windows-1251&header=false")
    expect(named.body).toMatchObject({ rows: [["Москва", 1]] })
  })

  test("that make no sense are refused with an explanation", async () => {
    for (const search of ["preview=true", "name=x"]) {
      const reply = await upload('a,b\n"1,2\n3,4\n', search)
      expect(reply).toMatchObject({ status: 400, body: { code: "csv_refused" } })
      expect(reply.body.detail).toContain("quote is not closed")
    }
    expect(leftovers()).toEqual([])
  })

  test("are limited in size, also without a declared length, and only a file is accepted", async () => {
    const before = files()
    const megabyte = new Uint8Array(1024 * 1024).fill(97)
    let sent = 0
    const body = new ReadableStream({ pull: (to) => (sent++ < 70 ? to.enqueue(megabyte) : to.close()) })
    const { token } = await face.store.people.createToken({ id: user as never }, ["manage"], Date.now())
    const headers = { ...CSV, authorization: `Bearer ${token}` }
    const init = { method: "POST", headers, body, duplex: "half" } as RequestInit
    const reply = await face.fetch(new Request("http://localhost/api/connections/csv", init))
    expect(reply.status).toBe(413)
    expect(sent).toBeLessThan(70)
    expect((await upload("a,b\n", "name=x", { "content-type": "application/json" })).body.code).toBe("bad_request")
    expect((await upload("a,b\n", "name=x", {})).status).toBe(400)
    expect((await upload("a,b\n", "preview=maybe")).status).toBe(400)
    expect(files()).toEqual(before)
  })

  test("that are interrupted leave nothing behind", async () => {
    const before = files()
    const { token } = await face.store.people.createToken({ id: user as never }, ["manage"], Date.now())
    const body = new ReadableStream({
      pull(to) {
        to.enqueue(Buffer.from("a,b\n"))
        to.error(new Error("gone"))
      },
    })
    const headers = { ...CSV, authorization: `Bearer ${token}` }
    const init = { method: "POST", headers, body, duplex: "half" } as RequestInit
    expect((await face.fetch(new Request("http://localhost/api/connections/csv", init))).status).toBe(400)
    expect([files(), leftovers()]).toEqual([before, []])
  })

  onDisk("go with their connection, and with their person", async () => {
    const bob = await face.as("bob")
    const { id: bobId } = (await bob.get("/api/auth/me")).body.user
    const post = () => bob.ask("POST", "/api/connections/csv", { body: "a,b\n1,2\n", headers: CSV })
    const [first, second] = [(await post()).body, (await post()).body]
    const folder = join(root, bobId, "csv")
    expect(readdirSync(folder).sort()).toEqual([`${first.id}.db`, `${second.id}.db`].sort())
    // Another user cannot delete it.
    expect((await ada.delete(`/api/connections/${first.id}`)).status).toBe(404)
    expect(readdirSync(folder)).toHaveLength(2)
    expect((await bob.delete(`/api/connections/${first.id}`)).status).toBe(204)
    expect(readdirSync(folder)).toEqual([`${second.id}.db`])
    expect((await bob.delete("/api/me")).status).toBe(204)
    expect(existsSync(folder)).toBe(false)
  })

  onDisk("whose server was killed between file and record are swept up, and others are left alone", async () => {
    const kept = (await upload("a,b\n1,2\n")).body.id as string
    const orphan = "conn_0000000000orphan0000"
    const dead = spawn(process.execPath, ["-e", ""])
    await once(dead, "exit")
    const leave = (pid: number, name: string, intent?: object) => {
      const folder = join(root, ".uploads", `${hostname()}.${pid}.${name}`)
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, "sent.csv"), "half a file")
      if (intent) writeFileSync(join(folder, "intent.json"), JSON.stringify(intent))
    }
    writeFileSync(join(root, user, "csv", `${orphan}.db`), "a file of which no connection knows")
    leave(dead.pid ?? 0, "aa", { user, id: orphan }) // killed between the file and its record
    leave(dead.pid ?? 0, "bb", { user, id: kept }) // killed after its record
    leave(dead.pid ?? 0, "cc") // killed in the middle of the file
    leave(dead.pid ?? 0, "dd", { user: "../..", id: "../../x" })
    leave(process.ppid, "ee", { user, id: "conn_other" }) // another server, which is running
    await using next = await Face.open({ url, model: scripted(), sqliteRoot: root })
    await next.databases.sweep()
    expect(files()).not.toContain(`${orphan}.db`)
    expect(files()).toContain(`${kept}.db`)
    expect(leftovers()).toEqual([`${hostname()}.${process.ppid}.ee`])
    expect((await query(kept, "SELECT * FROM sales_2024")).rows).toEqual([[1, 2]])
  })

  test("are sent by the client unchanged", async () => {
    const { token } = await face.store.people.createToken({ id: user as never }, ["manage"], Date.now())
    const fetch = ((input: string, init: RequestInit) =>
      face.fetch(new Request(input, init))) as typeof globalThis.fetch
    const client = createClient({ baseUrl: "http://localhost", token, fetch })
    const file = new Blob(["a\tb\n1\t2\n"])
    const type = "text/tab-separated-values"
    expect(await client.uploadCsv({ file, type, query: { preview: "true" } })).toMatchObject({ delimiter: "\t" })
    expect(await client.uploadCsv({ file: "a,b\n1,2\n", query: { name: "x" } })).toMatchObject({ kind: "sqlite" })
  })
})
