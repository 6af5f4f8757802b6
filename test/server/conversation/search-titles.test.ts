import { describe, expect, test } from "vitest"
import { scripted } from "../../../core/models/scripted/model.ts"
import { databases } from "../../support/databases.ts"
import { Face } from "../../support/server/face.ts"

interface Listed {
  readonly items: readonly { readonly title: string }[]
  readonly nextCursor: string | null
}

describe.each(databases)("on $name", ({ create }) => {
  test("conversations are found by words of their titles, ignoring case, and only those of the user", async () => {
    await using database = await create()
    await using face = await Face.open({ url: database.url, model: scripted() })
    const [ada, eve] = [await face.as("ada"), await face.as("eve")]
    for (const title of ["Übung: Budget 2027", "The Garden", "budget of the garden", "100% sure_thing"])
      await ada.post("/api/conversations", { title })
    await ada.post("/api/conversations", {})
    await eve.post("/api/conversations", { title: "Budget of eve" })
    const find = async (words: string, more = "") => {
      const { body } = await ada.get(`/api/conversations?search=${encodeURIComponent(words)}${more}`)
      return body as Listed
    }
    const titles = async (words: string) => (await find(words)).items.map(({ title }) => title)
    expect(await titles("BUDGET")).toEqual(["budget of the garden", "Übung: Budget 2027"])
    expect(await titles("übung")).toEqual(["Übung: Budget 2027"])
    expect(await titles("U\u0308bung")).toEqual(["Übung: Budget 2027"])
    expect(await titles(" of the ")).toEqual(["budget of the garden"])
    expect(await titles("%")).toEqual(["100% sure_thing"])
    expect(await titles("e_t")).toEqual(["100% sure_thing"])
    expect(await titles("nothing")).toEqual([])
    const first = await find("garden", "&limit=1")
    expect(first.items.map(({ title }) => title)).toEqual(["budget of the garden"])
    const second = await find("garden", `&limit=1&cursor=${first.nextCursor}`)
    expect(second.items.map(({ title }) => title)).toEqual(["The Garden"])
    expect((await find("garden", `&limit=1&cursor=${second.nextCursor}`)).items).toEqual([])
    expect((await ada.get("/api/conversations?search=%20")).status).toBe(400)
    expect((await ada.get(`/api/conversations?search=${"x".repeat(201)}`)).status).toBe(400)
  })
  test("one request searches a limited number of titles and returns a cursor for the rest", async () => {
    await using database = await create()
    await using face = await Face.open({ url: database.url, model: scripted() })
    const ada = await face.as("ada")
    await ada.post("/api/conversations", { title: "The oldest" })
    const many = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
      INSERT INTO conversation (id, person, agent, mode, title, status, fence, created_at, updated_at)
      SELECT 'conv_' || n.i, c.person, c.agent, c.mode, 'Another', c.status, 1, 0, 0 FROM n, conversation c`
    await face.store.engine.change({ type: "statements", statements: [{ sql: many, values: [] }] })
    const { body: first } = await ada.get("/api/conversations?search=oldest")
    expect(first).toEqual({ items: [], nextCursor: expect.stringMatching(/^\d+$/) })
    const { body: second } = await ada.get(`/api/conversations?search=oldest&cursor=${first.nextCursor}`)
    expect(second).toMatchObject({ items: [{ title: "The oldest" }], nextCursor: null })
  })
})
