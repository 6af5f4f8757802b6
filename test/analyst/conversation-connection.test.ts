import { mkdirSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { beforeAll, describe, expect, inject, test } from "vitest"
import { always, says, scripted } from "../../core/testing.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face, type Visitor } from "../support/server/face.ts"
import { makeShop } from "./shop.ts"

describe.each(anyDatabase)("the database of a conversation on $name", ({ create }) => {
  let face: Face
  let ada: Visitor
  let url: string
  let root: string
  let shop: string

  const open = async () => Face.open({ url, model: scripted(always(says("ok"))), sqliteRoot: root })
  const connectionOf = async (id: string) => (await ada.get(`/api/conversations/${id}`)).body.connectionId

  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), inject("testRun"), "databases-"))
    mkdirSync(join(root, "shared"))
    makeShop(join(root, "shared", "shop.db"))
    url = (await create()).url
    face = await open()
    ada = await face.as("ada")
    shop = await connect()
    return () => face[Symbol.asyncDispose]()
  })

  const connect = async () => {
    const { body } = await ada.post("/api/connections", { name: "Shop", kind: "sqlite", path: "shared/shop.db" })
    return body.id as string
  }

  test("is set when the conversation is created or later, and requests without one do not change it", async () => {
    const id = await ada.begin({ agent: "analyst", connectionId: shop })
    expect(await connectionOf(id)).toBe(shop)
    await ada.patch(`/api/conversations/${id}`, { title: "Sales", mode: "read-only" })
    await ada.say(id, "how are you?")
    expect(await connectionOf(id)).toBe(shop)
    expect((await ada.get("/api/conversations")).body.items[0]).toMatchObject({ id, connectionId: shop })
    expect((await ada.get(`/api/conversations/${id}/state`)).body.connection).toMatchObject({ connectionId: shop })

    const later = await ada.begin({ agent: "analyst" })
    expect(await connectionOf(later)).toBeNull()
    const { status, body } = await ada.patch(`/api/conversations/${later}`, { connectionId: shop })
    expect([status, body.connectionId]).toEqual([200, shop])
    expect(await connectionOf(later)).toBe(shop)
    expect((await ada.patch(`/api/conversations/${later}`, { connectionId: null })).body.connectionId).toBeNull()
    expect(await connectionOf(later)).toBeNull()
  })

  test("is copied to a fork, and is there after a restart", async () => {
    const id = await ada.begin({ connectionId: shop })
    await ada.say(id, "hello")
    const fork = (await ada.post(`/api/conversations/${id}/fork`, { position: 3 })).body
    expect(fork.connectionId).toBe(shop)
    await face[Symbol.asyncDispose]()
    face = await open()
    ada = await face.as("ada")
    expect([await connectionOf(id), await connectionOf(fork.id)]).toEqual([shop, shop])
  })

  test("is the user's: a foreign and a missing one get the same reply, and nothing is created or changed", async () => {
    const bob = await face.as("bob")
    const mine = await bob.begin()
    const before = (await bob.get("/api/conversations")).body.items.length
    const refused = [
      await bob.post("/api/conversations", { connectionId: shop }),
      await bob.post("/api/conversations", { connectionId: "conn_missing" }),
      await bob.post("/api/conversations", { connectionId: "nonsense" }),
      await bob.patch(`/api/conversations/${mine}`, { connectionId: shop, title: "x" }),
      await bob.patch(`/api/conversations/${mine}`, { connectionId: "conn_missing", title: "x" }),
    ]
    expect(new Set(refused.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(refused[0]).toMatchObject({ status: 404, body: { code: "not_found" } })
    expect((await bob.get("/api/conversations")).body.items).toHaveLength(before)
    expect((await bob.get(`/api/conversations/${mine}`)).body).toMatchObject({ title: null, connectionId: null })
  })

  test("the analyst is among the agents", async () => {
    const { body } = await ada.get("/api/agents")
    expect(body.items.map(({ name }: { name: string }) => name)).toContain("analyst")
  })
})
