import { mkdirSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { beforeAll, describe, expect, inject, test } from "vitest"
import type { Model } from "../../../core/engine/model.ts"
import { calls, fails, says } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { analystModel } from "../../analyst/analyst-model.ts"
import { anyDatabase } from "../../support/databases.ts"
import { Face, type Visitor } from "../../support/server/face.ts"
import { makeShop } from "../../analyst/shop.ts"
import { currentScript } from "../../support/current-script.ts"

type Told = Record<string, unknown> & { type: string }

/** A client of the thread API, as they are written: every line is `data:` or empty, all data is JSON. */
class ThreadClient {
  readonly #visitor: Visitor
  thread = ""

  constructor(visitor: Visitor) {
    this.#visitor = visitor
  }

  async create(body: object = {}): Promise<void> {
    const reply = await this.#visitor.post("/api/chat/thread", body)
    if (reply.status !== 200) throw new Error(reply.text)
    this.thread = reply.body.thread_id
  }

  async message(text: string, user_connection_id?: string): Promise<Told[]> {
    const sent = { text, ...(user_connection_id ? { user_connection_id } : {}) }
    const { status, text: body } = await this.#visitor.post(`/api/chat/${this.thread}/message`, sent)
    if (status !== 200) throw new Error(body)
    return body.split("\n").flatMap((line) => {
      if (line === "") return []
      if (!line.startsWith("data: ")) throw new Error(`no data line: ${line}`)
      return [JSON.parse(line.slice("data: ".length)) as Told]
    })
  }

  read = (path = "") => this.#visitor.get(`/api/chat/${this.thread}${path}`)
  post = (path: string, body: object) => this.#visitor.post(`/api/chat/${this.thread}${path}`, body)
}

describe.each(anyDatabase)("a client of the thread API on $name", ({ create }) => {
  let face: Face
  let ada: Visitor
  let shop: string
  let current: Model

  beforeAll(async () => {
    const root = mkdtempSync(join(tmpdir(), inject("testRun"), "databases-"))
    mkdirSync(join(root, "shared"))
    makeShop(join(root, "shared", "shop.db"))
    const model = currentScript(() => current)
    face = await Face.open({ url: (await create()).url, model, sqliteRoot: root })
    ada = await face.as("ada")
    const target = { name: "Shop", kind: "sqlite", path: "shared/shop.db" }
    shop = (await ada.post("/api/connections", target)).body.id
    return () => face[Symbol.asyncDispose]()
  })

  test("starts a thread, chooses a database by naming it once, and reads thread and state back", async () => {
    current = analystModel(says("SELECT name FROM customer ORDER BY id"), says("SELECT count(*) AS n FROM customer"))
    const client = new ThreadClient(ada)
    await client.create({ user_id: "whoever", title: "passed over" })
    const told = await client.message("Who is there?", shop)
    expect(told.map(({ type }) => type).filter((type, at, all) => type !== all[at - 1])).toEqual([
      ...["tool_result", "chunk", "end"],
    ])
    expect(told[0]).toMatchObject({
      content: { type: "table", rows: [["Ada"], ["Bo"]], row_count: 2, truncated: false },
    })
    const chunks = told.flatMap(({ type, content }) => (type === "chunk" ? [content] : []))
    expect(told.at(-1)).toEqual({ type: "end", full_response: chunks.join("") })

    await client.message("And how many?") // names no connection: the chosen one stays
    const state = (await client.read("/state")).body
    expect(state).toMatchObject({
      thread_id: client.thread,
      model_name: "scripted",
      db_schema: expect.stringContaining("## customer (table"),
      connection: { user_id: expect.stringMatching(/^user_/), connection_id: shop },
      sql_result: expect.any(String),
    })
    expect(JSON.parse(state.sql_result)).toMatchObject({
      ...{ sql: "SELECT count(*) AS n FROM customer", columns: [{ name: "n" }], rows: [[2]], row_count: 1 },
      ...{ truncated: false, result_id: expect.stringMatching(/^res/), connection_id: shop },
    })
    const { body } = await client.read()
    expect(body.messages.map(({ sender, text }: Record<string, string>) => [sender, text?.slice(0, 13)])).toEqual([
      ["user", "Who is there?"],
      ["assistant", expect.stringContaining("Answer")],
      ["user", "And how many?"],
      ["assistant", expect.stringContaining("Answer")],
    ])
    expect([Date.parse(body.created_at), Date.parse(body.messages[0].timestamp)]).not.toContain(Number.NaN)
    // It is also an ordinary conversation.
    const native = (await ada.get(`/api/conversations/${client.thread}`)).body
    expect(native).toMatchObject({ agent: "analyst", connectionId: shop, mode: "confirm" })
  })

  test("can choose a database and a model per thread", async () => {
    const client = new ThreadClient(ada)
    await client.create()
    expect((await client.read("/state")).body).toMatchObject({ db_schema: null, connection: null, sql_result: null })
    const connected = await client.post("/connection", { user_connection_id: shop })
    expect(connected.body).toMatchObject({ thread_id: client.thread, connection: { connection_id: shop } })
    expect((await client.read("/state")).body.connection.connection_id).toBe(shop)
    const models = { scripted: true, locked: false }
    expect((await client.read("/model")).body).toEqual({ thread_id: client.thread, model: "scripted", models })
    expect((await client.post("/model", { model: "alias" })).body.model).toBe("scripted")
    expect((await client.post("/model", { name: "locked" })).status).toBe(400)
    expect((await client.post("/model", {})).status).toBe(400)
  })

  test("messages that wait behind a run do not change its database, and get theirs when their turn comes", async () => {
    const [begun, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const script = scripted(calls("look"), always(says("ok")))
    current = {
      ...script,
      async *stream(request, signal) {
        begun.resolve()
        await go.promise
        yield* script.stream(request, signal)
      },
    }
    const client = new ThreadClient(ada)
    await client.create()
    const first = client.message("One?")
    await begun.promise
    const second = client.message("Two?", shop)
    await expect
      .poll(async () => (await ada.get(`/api/conversations/${client.thread}/queue`)).body.items)
      .toHaveLength(1)
    const connection = async () => (await client.read("/state")).body.connection
    expect(await connection()).toBeNull()
    go.resolve()
    await Promise.all([first, second])
    expect(await connection()).toMatchObject({ connection_id: shop })
    const events = await face.store.journal.read(client.thread as never, { after: 0 })
    const types = events.map(({ type }) => type)
    expect(types.lastIndexOf("run_started") - types.lastIndexOf("settings")).toBe(1)
    expect(types.indexOf("settings")).toBeGreaterThan(types.indexOf("run_ended"))
  })

  test("a failed run ends with an error with its message, and without an end frame", async () => {
    current = scripted(always(fails("provider_error")))
    const client = new ThreadClient(ada)
    await client.create()
    const told = await client.message("Hello?")
    expect(told).toEqual([{ type: "error", error: expect.stringContaining("it fails as scripted") }])
  })

  test("another user's thread is exactly like a missing one, byte for byte; and a connection must be the user's own", async () => {
    current = scripted(always(says("ok")))
    const client = new ThreadClient(ada)
    await client.create()
    const bob = await face.as("bob")
    const asked = (id: string) => [
      bob.get(`/api/chat/${id}`),
      bob.get(`/api/chat/${id}/state`),
      bob.get(`/api/chat/${id}/model`),
      bob.post(`/api/chat/${id}/model`, { model: "scripted" }),
      bob.post(`/api/chat/${id}/connection`, { user_connection_id: shop }),
      bob.post(`/api/chat/${id}/message`, { text: "hello" }),
    ]
    const [hers, none] = [await Promise.all(asked(client.thread)), await Promise.all(asked("conv_missing"))]
    expect(hers.map(({ status, text }) => `${status} ${text}`)).toEqual(none.map(({ text }) => `404 ${text}`))
    const his = new ThreadClient(bob)
    await his.create()
    expect((await his.post("/connection", { user_connection_id: shop })).text).toBe(none[0]?.text)
    expect((await his.post("/message", { text: "hello", user_connection_id: shop })).text).toBe(none[0]?.text)
    expect((await his.read()).body.messages).toEqual([])
    expect((await client.read()).body.messages).toEqual([])
  })
})
