import { mkdirSync, mkdtempSync, readdirSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { describe, expect, inject, test } from "vitest"
import type { UserId } from "../../core/protocol/ids.ts"
import { always, says, scripted } from "../../core/testing.ts"
import { makeShop } from "../analyst/shop.ts"
import { databases } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"

const MEGABYTE = 1024 * 1024

describe.each(databases)("on $name", ({ name, create }) => {
  test("64 large query results stop at the limit, and so does the disk", { timeout: 120_000 }, async () => {
    await using database = await create()
    const root = mkdtempSync(join(tmpdir(), inject("testRun"), "databases-"))
    mkdirSync(join(root, "shared"))
    makeShop(join(root, "shared", "shop.db"))
    const limit = 24 * MEGABYTE
    const model = scripted(always(says("ok")))
    await using face = await Face.open({ url: database.url, model, sqliteRoot: root, personBytes: limit })
    const ada = await face.as("ada")
    const { body } = await ada.post("/api/connections", { name: "Shop", kind: "sqlite", path: "shared/shop.db" })
    const answers: { status: number; code: unknown }[] = []
    for (let query = 0; query < 64; query++) {
      const sql = "select hex(zeroblob(3900000)) a, 1 b"
      const answer = await ada.post(`/api/connections/${body.id}/query`, { sql })
      answers.push({ status: answer.status, code: answer.body.code })
    }
    expect(answers[0]).toEqual({ status: 200, code: undefined })
    expect(answers.filter(({ code }) => code === "storage_full").length).toBeGreaterThan(50)
    expect(
      (await face.store.storage.read((await ada.get("/api/auth/me")).body.user.id as UserId)).bytes,
    ).toBeLessThanOrEqual(limit)
    if (name === "sqlite") expect(sizeOf(dirname(database.url.slice("file:".length)))).toBeLessThan(3 * limit)
  })
})

const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
