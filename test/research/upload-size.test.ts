import { afterAll, beforeAll, expect, test } from "vitest"
import { scripted } from "../../core/models/scripted/model.ts"
import { databases } from "../support/databases.ts"
import { Face, type Visitor } from "../support/server/face.ts"
import { smallPdf } from "./small-pdf.ts"
import { WordEmbedder } from "../support/word-embedder.ts"
import { countWork } from "../support/worked.ts"

let face: Face
let ada: Visitor
let bob: Visitor
let path: string
const MB = 1024 * 1024

beforeAll(async () => {
  face = await Face.open({ url: (await databases[0]!.create()).url, model: scripted(), embedder: new WordEmbedder() })
  ada = await face.as("ada")
  bob = await face.as("bob")
  path = await documentsOf(ada)
})
afterAll(() => face[Symbol.asyncDispose]())

const documentsOf = async (who: Visitor, name = "Papers") =>
  `/api/collections/${(await who.post("/api/collections", { name })).body.id}/documents`
const paper = (content: string, name = "paper.pdf") => ({ name, content, encoding: "base64" })

test("a paper with many pictures, of nearly 24 MB, is accepted", async () => {
  const pictures = `%${"x".repeat(22 * MB)}\n`
  const pdf = smallPdf(["Page one says stall."], pictures).toString("base64")
  expect((await ada.post(path, paper(pdf))).body).toMatchObject({ added: 1, items: [{ title: "paper.pdf" }] })
  expect((await ada.post("/api/collections/search", { query: "stall" })).body.items).toHaveLength(1)
})

test("other requests run while a large body is parsed", async () => {
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const { status, body } = await ada.post(path, paper(`${"A".repeat(24 * MB)}?`))
  isOver = true
  expect([status, body.code]).toEqual([400, "bad_request"])
  // A turn for every two megabytes of JSON and every one of digits.
  expect(turns).toBeGreaterThan(30)
})

test("no turn is long, whatever follows the end of the digits", async () => {
  let longest = 0
  let isOver = false
  let worked = countWork()
  const measure = () => {
    longest = Math.max(longest, worked())
    worked = countWork()
    if (!isOver) setImmediate(measure)
  }
  const body = JSON.stringify(paper(`A=${" x".repeat(15.9 * MB)}`))
  setImmediate(measure)
  const { status } = await ada.post(path, body)
  isOver = true
  measure()
  expect(status).toBe(400)
  expect(longest).toBeLessThan(1000) // parsing all of it in one go takes three seconds
})

test.each(["A===", "AAAA=AAA", "AA?A", "AAA-"])("invalid base64 is refused: %s", async (content) => {
  expect((await ada.post(path, paper(content))).status).toBe(400)
})

test("a larger body is refused with instructions, also without a declared length", async () => {
  const { status, body } = await ada.post(path, paper("A".repeat(33 * MB)))
  expect([status, body.code]).toEqual([413, "upload_too_large"])
  expect(body.detail).toMatch(/32 MB.*`pawl ingest`/)
  const chunk = new Uint8Array(MB).fill(65)
  let sent = 0
  const endless = new ReadableStream({ pull: (controller) => void (sent++, controller.enqueue(chunk)) })
  expect((await sending(ada, path, endless)).status).toBe(413)
  expect(sent).toBeLessThan(40)
})

test("four large bodies of a user are read at a time, and they do not block other users", async () => {
  const held = Array.from({ length: 4 }, () => new Sender())
  const under = held.map(({ stream }) => sending(ada, path, stream))
  await Promise.all(held.map(({ pulled }) => pulled))
  const refused = await sending(ada, path, new Sender().stream)
  expect([refused.status, await refused.json()]).toMatchObject([429, { code: "too_many_uploads" }])
  expect(refused.headers.get("retry-after")).toBe("5")
  // A small one declares its length.
  const small = JSON.stringify({ name: "a.md", content: "Small ones go on." })
  expect((await ada.post(path, small, { "content-length": `${small.length}` })).status).toBe(201)
  const other = new Sender()
  const bobs = sending(bob, await documentsOf(bob), other.stream)
  other.end(paper("QUJD", "b.txt"))
  expect((await bobs).status).toBe(201)
  for (const [i, each] of held.entries()) each.end(paper("QUJD", `${i}.txt`))
  expect((await Promise.all(under)).map(({ status }) => status)).toEqual([201, 201, 201, 201])
  const after = new Sender()
  after.end(paper("QUJD", "after.txt"))
  expect((await sending(ada, path, after.stream)).status).toBe(201)
})

test("small bodies are limited by their declared bytes in total, of one user and of all", async () => {
  const size = 8 * MB
  const held: Sender[] = []
  /** Declares its length, and then takes its time. */
  const hold = async (who: Visitor, to: string) => {
    const sender = new Sender()
    const answer = who.send("POST", to, { body: sender.stream, headers: { "content-length": `${size}` } })
    const refused = await Promise.race([sender.pulled.then(() => undefined), answer])
    if (!refused) held.push(sender)
    return { refused, answer }
  }
  const adas = await Promise.all(Array.from({ length: 4 }, () => hold(ada, path)))
  const own = (await hold(ada, path)).refused
  expect([own?.status, await own?.json()]).toMatchObject([429, { code: "too_many_uploads" }])
  expect(own?.headers.get("retry-after")).toBe("5")
  const bobs = await documentsOf(bob, "Small papers")
  const others = [await hold(bob, bobs), await hold(bob, bobs)]
  // Half of the free space is left for the next user.
  const full = (await hold(bob, bobs)).refused
  expect([full?.status, await full?.json()]).toMatchObject([503, { code: "uploads_full" }])
  expect(full?.headers.get("retry-after")).toBe("5")
  for (const [i, each] of held.entries()) each.end(paper("QUJD", `small ${i}.txt`))
  const answers = await Promise.all([...adas, ...others].map(({ answer }) => answer))
  expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(201))
  // An answered request has released its space.
  const after = await hold(ada, path)
  expect(after.refused).toBeUndefined()
  held.at(-1)?.end(paper("QUJD", "after.txt"))
  expect((await after.answer).status).toBe(201)
})

/** A body that arrives when the test sends it. */
class Sender {
  readonly #pulled = Promise.withResolvers<void>()
  readonly #body = Promise.withResolvers<string>()
  readonly pulled = this.#pulled.promise
  readonly stream = new ReadableStream(
    {
      pull: async (controller) => {
        this.#pulled.resolve()
        controller.enqueue(new TextEncoder().encode(await this.#body.promise))
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )

  end = (body: object) => this.#body.resolve(JSON.stringify(body))
}

const sending = (who: Visitor, to: string, stream: ReadableStream) => who.send("POST", to, { body: stream })
