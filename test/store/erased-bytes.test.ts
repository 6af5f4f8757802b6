import { readdir, readFile } from "node:fs/promises"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { expect, inject, test, vi } from "vitest"
import { calls, says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { personalTables } from "../../core/store/personal-tables.ts"
import { scopes } from "../../core/protocol/account/sign-in.ts"
import { sweepErased } from "../../core/server/routes/account/retention.ts"
import { openStore, type Store } from "../../core/store/store.ts"
import { Face } from "../support/server/face.ts"

/** A word that occurs in no other text; in upper case too, and as the full-text index stems it. */
const WORD = "quixotryzebrafalk"
const NODE = "node_of_rows"

/** Every file below a folder that contains the word anywhere. */
async function holding(folder: string): Promise<string[]> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true })
  const found = files
    .filter((file) => file.isFile())
    .map(async ({ parentPath, name }) => {
      const bytes = (await readFile(join(parentPath, name))).toString("latin1").toLowerCase()
      return bytes.includes(WORD) ? [name] : []
    })
  return (await Promise.all(found)).flat().sort()
}

/** A row of the user in every table that can store personal data, with the word in each text column. */
async function fillEveryTable({ engine }: Store, user: string): Promise<string[]> {
  const [{ key: person } = { key: 0 }] = await engine.query<{ key: number }>("SELECT key FROM person WHERE id = ?", [
    user,
  ])
  const sql = "SELECT key, id FROM conversation WHERE person = ?"
  const [conversation] = await engine.query<{ key: number; id: string }>(sql, [person])
  const owner = {
    "person key": person,
    "person id": user,
    "conversation key": conversation?.key,
    "conversation id": conversation?.id,
  }
  // Some rows belong to a process.
  const node = { sql: "INSERT INTO node (id, beats, locked) VALUES (?, 1, 0)", values: [NODE] }
  await engine.change({ type: "statements", statements: [node] })
  const filled: string[] = []
  // Runs are found by events: each is a row of a commit, or is missing, and the test lengthens the text of a real one.
  const words = `${WORD} run error_message ${"lorem ".repeat(500)}`
  const longer = "UPDATE run SET error_message = ? WHERE conversation = ?"
  const statements = [{ sql: longer, values: [words, conversation?.key], mustChange: true }]
  expect(await engine.change({ type: "statements", statements })).toMatchObject({ ok: true })
  filled.push("run")
  for (const { table, column, names } of personalTables) {
    if (names === "call of a conversation" || filled.includes(table)) continue
    type Column = { name: string; type: string; pk: number }
    const columns = await engine.query<Column>(`SELECT name, type, pk FROM pragma_table_info('${table}')`, [])
    const values = columns.map(({ name, type }) => {
      if (name === column) return owner[names]
      if (name === "node") return NODE
      // Some tables have their owner in another column: the same user, as in every row that a commit writes.
      if (name === "person") return type === "TEXT" ? user : person
      if (name === "user_id") return user
      return type === "TEXT"
        ? `${WORD} ${table} ${name} ${"lorem ".repeat(500)}`
        : type === "BLOB"
          ? Buffer.from(WORD)
          : 1_000_000
    })
    const places = columns.map(() => "?").join(", ")
    const insert = { sql: `INSERT OR IGNORE INTO ${table} VALUES (${places})`, values }
    await engine.change({ type: "statements", statements: [insert] })
    filled.push(table)
  }
  return filled
}

function open(folder: string): Promise<Face> {
  const model = scripted(
    calls("create_note", { title: "x", content: `${WORD} in a note` }),
    always(says(`${WORD}, I said.`)),
  )
  return Face.open({ url: `file:${join(folder, "pawl.db")}`, model, sqliteRoot: join(folder, "databases") })
}

/** A user with some history: text in every table, changed and deleted rows among it, and a file. */
async function settle(face: Face) {
  const ada = await face.as("ada", ...scopes)
  const id = await ada.begin({ title: `${WORD} title` })
  const { body } = await ada.say(id, `my ${WORD}`)
  await ada.post(`/api/agent/proposals/${body.proposals[0].id}/commit`)
  const { body: col } = await ada.post("/api/collections", { name: "Papers" })
  const pages = Array.from({ length: 40 }, (_, n) => `${WORD}${n} ${"ipsum ".repeat(n)}`).join("\n\n")
  await ada.post(`/api/collections/${col.id}/documents`, { name: "a.txt", content: pages })
  const { body: note } = await ada.post("/api/workspace/notes", {
    title: "n",
    content: `${WORD} ${"dolor ".repeat(400)}`,
  })
  await ada.ask("PATCH", `/api/workspace/notes/${note.id}`, { body: { content: "changed" } })
  const headers = { "content-type": "text/csv", "x-file-name": "a.csv" }
  await ada.ask("POST", "/api/connections/csv?name=a", { body: `word\n${WORD}\n`, headers })
  const filled = await fillEveryTable(face.store, (await ada.get("/api/auth/me")).body.user.id)
  expect(filled.length).toBeGreaterThan(25)
  return ada
}

test("after a user is erased no file contains their word: at the answer, after a stop, after the next start", async () => {
  const folder = mkdtempSync(join(tmpdir(), inject("testRun"), "erased-"))
  {
    await using face = await open(folder)
    const ada = await settle(face)
    const bob = await face.as("bob")
    await bob.begin({ title: "I stay" })
    expect(await holding(folder)).toContain("pawl.db-wal")
    expect((await ada.ask("DELETE", "/api/me")).status).toBe(204)
    // Another process reads what it would find after kill -9.
    expect(await holding(folder)).toEqual([])
    expect((await bob.get("/api/conversations")).body.items).toHaveLength(1)
  }
  expect(await holding(folder)).toEqual([])
  await using again = await open(folder)
  expect((await (await again.as("bob")).get("/api/conversations")).body.items).toHaveLength(1)
  expect(await holding(folder)).toEqual([])
})

test("an erasure that is interrupted before it is recorded deletes nothing; one interrupted later is finished later", async () => {
  const folder = mkdtempSync(join(tmpdir(), inject("testRun"), "erased-"))
  const uploads = async () => (await holding(folder)).filter((name) => !name.startsWith("pawl.db"))
  const gone = new Error("the process is gone")
  await using face = await open(folder)
  const ada = await settle(face)
  const { databases } = face
  const { retention } = face.store
  expect(await uploads()).toHaveLength(1)

  vi.spyOn(retention, "erasePerson").mockRejectedValueOnce(gone)
  expect((await ada.ask("DELETE", "/api/me")).status).toBe(500)
  expect(await uploads()).toHaveLength(1)
  expect((await ada.get("/api/auth/me")).status).toBe(200)

  vi.spyOn(databases, "eraseFiles").mockRejectedValueOnce(gone)
  expect((await ada.ask("DELETE", "/api/me")).status).toBe(500)
  expect((await ada.get("/api/auth/me")).status).toBe(401)
  await sweepErased({ retention, databases }) // as a server does when it starts, and every minute
  expect(await holding(folder)).toEqual([])
})

test("a file that was created without secure_delete is rewritten once", async () => {
  const folder = mkdtempSync(join(tmpdir(), inject("testRun"), "erased-"))
  const file = join(folder, "pawl.db")
  await (await openStore({ url: `file:${file}` }))[Symbol.asyncDispose]()
  const before = new DatabaseSync(file)
  before.exec("PRAGMA user_version = 0; PRAGMA secure_delete = OFF; CREATE TABLE old (text TEXT)")
  before.prepare("INSERT INTO old VALUES (?)").run(`${WORD} `.repeat(1000))
  before.exec("DROP TABLE old")
  before.close()
  expect(await holding(folder)).toEqual(["pawl.db"])
  await using store = await openStore({ url: `file:${file}` })
  await store.retention.erasePerson((await store.people.ensure("ada", 1)).id)
  expect(await holding(folder)).toEqual([])
})

test("a deleted conversation leaves none of its text either", async () => {
  const folder = mkdtempSync(join(tmpdir(), inject("testRun"), "erased-"))
  await using face = await Face.open({ url: `file:${join(folder, "pawl.db")}`, model: scripted(always(says("ok"))) })
  const ada = await face.as("ada")
  const id = await ada.begin()
  await ada.say(id, `${WORD} ${"sit ".repeat(3000)}`)
  expect((await ada.ask("DELETE", `/api/conversations/${id}`)).status).toBe(204)
  expect(await holding(folder)).toEqual([])
})
