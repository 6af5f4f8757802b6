import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { scripted } from "../../core/models/scripted/model.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face, type Visitor } from "../support/server/face.ts"
import { smallPdf } from "./small-pdf.ts"
import { WordEmbedder } from "../support/word-embedder.ts"
import { countWork } from "../support/worked.ts"

describe.each(anyDatabase)("collections over HTTP on $name", ({ create }) => {
  let face: Face
  let ada: Visitor
  const embedder = new WordEmbedder()

  beforeAll(async () => {
    face = await Face.open({ url: (await create()).url, model: scripted(), embedder })
    ada = await face.as("ada")
  })
  afterAll(() => face[Symbol.asyncDispose]())

  const made = async (name: string) => (await ada.post("/api/collections", { name })).body.id as string
  const add = (id: string, body: object) => ada.post(`/api/collections/${id}/documents`, body)

  /** Polls, as a page does, until the document is in the expected state. */
  async function ready(path: string): Promise<Record<string, unknown>> {
    for (;;) {
      const { body } = await ada.get(path)
      if (body.status !== "ingesting") return body
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  test("a file is added, becomes ready, is read, found, replaced and deleted", async () => {
    const id = await made("Wings")
    expect((await ada.get("/api/collections")).body.items[0]).toMatchObject({ id, name: "Wings", documents: 0 })
    const { status, body } = await add(id, {
      name: "wings.md",
      content: "# Wings\n\nLift grows with the angle.",
      date: "2024",
    })
    expect([status, body.added]).toEqual([201, 1])
    const document = body.items[0].id
    const path = `/api/collections/${id}/documents/${document}`
    expect(await ready(path)).toMatchObject({ status: "ready", title: "Wings", passages: 1, embedded: 1 })
    expect((await ada.get(`${path}/text?start=9&length=4`)).body).toEqual({ text: "Lift", start: 9, characters: 35 })

    const search = (
      await ada.post("/api/collections/search", { query: "what makes lift grow?", from: "2024", to: "2024" })
    ).body
    expect(search).toMatchObject({ wordsOnly: false, items: [{ documentId: document, headings: ["Wings"] }] })
    expect((await ada.get(`/api/passages/${search.items[0].id}`)).body.hash).toBe(search.items[0].hash)
    expect((await ada.post("/api/collections/search", { query: "lift", to: "2023" })).body.items).toEqual([])

    expect((await add(id, { name: "wings.md", content: "# Wings\n\nDrag.", date: "2024" })).body).toMatchObject({
      replaced: 1,
    })
    expect((await ada.get(`/api/passages/${search.items[0].id}`)).status).toBe(404)
    expect((await ada.get(`/api/collections/${id}/documents`)).body.items).toHaveLength(1)
    expect((await ada.delete(path)).status).toBe(204)
    expect((await ada.get(path)).status).toBe(404)
    expect((await ada.delete(`/api/collections/${id}`)).status).toBe(204)
    expect((await ada.delete(`/api/collections/${id}`)).status).toBe(404)
  })

  test("a PDF is sent as base64; an unreadable one is answered and listed with its reason", async () => {
    const id = await made("PDFs")
    const pdf = smallPdf(["Page one says stall."]).toString("base64")
    expect((await add(id, { name: "a.pdf", content: pdf, encoding: "base64" })).body).toMatchObject({
      added: 1,
      items: [{ kind: "pdf" }],
    })
    const broken = { name: "b.pdf", content: Buffer.from("%PDF-1.4 no").toString("base64"), encoding: "base64" }
    expect((await add(id, broken)).body).toMatchObject({
      failed: 1,
      items: [{ status: "failed", reason: expect.stringContaining("PDF") }],
    })
    expect((await add(id, { name: "c.pdf", content: "###", encoding: "base64" })).status).toBe(400)
    expect(
      (await ada.get(`/api/collections/${id}/documents`)).body.items.map((item: { status: string }) => item.status),
    ).toContain("failed")
  })

  test("base64 may have line breaks, and a megabyte of spaces in it delays no other request", async () => {
    const id = await made("Spaces")
    const content = Buffer.from("Words of a file.")
      .toString("base64")
      .replace(/^(.{8})/, "$1\r\n ")
    expect((await add(id, { name: "a.txt", content, encoding: "base64" })).body.added).toBe(1)
    const worked = countWork()
    const spaces = { name: "b.txt", content: `QUJD${" ".repeat(1_000_000)}#`, encoding: "base64" }
    expect((await add(id, spaces)).status).toBe(400)
    expect(worked()).toBeLessThan(3000)
  })

  test("hostile names and contents are refused or stored unchanged", async () => {
    const id = await made("Odd")
    for (const name of [
      "../../etc/passwd",
      "a\u202etxt.exe",
      "<script>.html",
      "x".repeat(500),
      "'; DROP TABLE document; --.md",
    ])
      expect((await add(id, { name, content: "Words." })).status).toBe(201)
    for (const body of [
      { name: "a\0b", content: "x" },
      { name: "", content: "x" },
      { name: "a", content: "" },
      { name: "a" },
      { name: "x".repeat(501), content: "x" },
      { name: "a", content: "x", date: "2024-13" },
      { name: "a", content: "x", more: 1 },
    ])
      expect((await add(id, body)).status).toBe(400)
    expect((await add(id, { name: "large.txt", content: "x".repeat(9 * 1024 * 1024) })).status).toBe(413)
    expect((await ada.post("/api/collections", { name: "Odd" })).body.code).toBe("name_taken")
    expect((await ada.post("/api/collections/search", { query: '" OR *' })).status).toBe(200)
  })

  test("while the embedder is down, search uses words only and says so", async () => {
    const id = await made("Down")
    await add(id, { name: "a.txt", content: "Ospreys fish." })
    embedder.failure = () => new Error("down")
    const { body } = await ada.post("/api/collections/search", { query: "osprey", collectionIds: [id] })
    embedder.failure = undefined
    expect(body).toMatchObject({ wordsOnly: true, items: [{ text: "Ospreys fish." }] })
  })

  test("an answer says how many passages still wait for their vectors", async () => {
    const id = await made("Waiting")
    embedder.failure = (texts) => (texts.some((text) => text.includes("Puffins")) ? new Error("busy") : undefined)
    await add(id, { name: "a.txt", content: "Puffins dive." })
    const { body } = await ada.post("/api/collections/search", { query: "who dives?", collectionIds: [id] })
    embedder.failure = undefined
    expect(body).toMatchObject({ wordsOnly: false, progress: { embedded: 0, passages: 1 } })
    expect(body.items).toMatchObject([{ text: "Puffins dive." }])
  })

  test("a document of one collection is not in another", async () => {
    const [one, two] = [await made("First"), await made("Second")]
    const { id } = (await add(one, { name: "a.txt", content: "Terns." })).body.items[0]
    expect((await ada.get(`/api/collections/${two}/documents/${id}`)).status).toBe(404)
    expect((await ada.delete(`/api/collections/${two}/documents/${id}`)).status).toBe(404)
    expect((await ada.get(`/api/collections/${one}/documents/${id}`)).status).toBe(200)
  })
})
