import { beforeAll, describe, expect, test } from "vitest"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { says } from "../../../core/models/scripted/script.ts"
import type { ModelRequest } from "../../../core/engine/model.ts"
import { databases } from "../../support/databases.ts"
import { png } from "../../support/message-files/images.ts"
import { Face } from "../../support/server/face.ts"
import { type OpenAiPerson, openAiAs, refusalOf } from "../openai-client.ts"

const text = (content: string, name = "a.txt") => new File([content], name)

describe.each(databases)("the openai package stores files on $name", ({ create }) => {
  let face: Face
  let ada: OpenAiPerson
  const model = Object.assign(scripted(always(says("A square."))), { sees: { images: true, files: true } })
  const upload = (file: File, more: object = {}) => ada.client.files.create({ file, purpose: "user_data", ...more })
  const post = (body: string | FormData, headers: Record<string, string> = {}) =>
    face.fetch(
      new Request("http://localhost/v1/files", {
        method: "POST",
        body,
        headers: { authorization: `Bearer ${ada.token}`, ...headers },
      }),
    )

  beforeAll(async () => {
    face = await Face.open({ url: (await create()).url, model })
    ada = await openAiAs(face, "ada")
    return () => face[Symbol.asyncDispose]()
  })

  test("an uploaded file is read, downloaded and deleted by its id", async () => {
    const file = await upload(text("Hello", "hello.txt"))
    expect(file).toMatchObject({ object: "file", bytes: 5, filename: "hello.txt", purpose: "user_data" })
    expect(file.expires_at - file.created_at).toBe(24 * 60 * 60)
    expect(await ada.client.files.retrieve(file.id)).toEqual(file)
    expect(await (await ada.client.files.content(file.id)).text()).toBe("Hello")
    expect(await ada.client.files.delete(file.id)).toEqual({ id: file.id, object: "file", deleted: true })
    expect(await refusalOf(ada.client.files.retrieve(file.id))).toMatchObject({ status: 404, code: "not_found" })
  })

  test("the purpose may come before the file, and the same bytes are the same file", async () => {
    const [first, second] = [
      await upload(text("Twice")),
      await ada.client.files.create({ purpose: "vision", file: text("Twice", "b.txt") }),
    ]
    expect(second).toMatchObject({ id: first.id, filename: "b.txt" })
  })

  test("an uploaded image is shown to the model by its id, and then does not expire", async () => {
    const { id } = await upload(new File([png(3, 3)], "a.png", { type: "image/png" }))
    const content = [
      { type: "input_text", text: "What is it?" },
      { type: "input_image", file_id: id },
    ]
    await ada.client.responses.create({ model: "pawl/test", input: [{ role: "user", content }] })
    const { history } = model.received.at(-1)!.request as ModelRequest
    expect(history.at(-1)).toMatchObject({ shown: [{ type: "bytes" }] })
    expect(await ada.client.files.retrieve(id)).not.toHaveProperty("expires_at")
  })

  test("files are listed in pages, newest first or oldest first, each person's own", async () => {
    const bob = await openAiAs(face, "bob")
    const ids = []
    for (const letter of ["a", "b", "c"])
      ids.push((await bob.client.files.create({ file: text(letter), purpose: "user_data" })).id)
    const listed = async (query: object) => {
      const found = []
      for await (const { id } of bob.client.files.list(query)) found.push(id)
      return found
    }
    expect(await listed({ order: "asc", limit: 2 })).toEqual(ids.toSorted())
    expect(await listed({ limit: 1 })).toEqual(ids.toSorted().toReversed())
    expect(await bob.client.files.list({ limit: 2 })).toMatchObject({ has_more: true, data: [{}, {}] })
    expect(await listed({ purpose: "batch" })).toEqual([])
    expect(await refusalOf(ada.client.files.content(ids[0]))).toMatchObject({ status: 404 })
  })

  test.each<[what: string, more: object, sentence: RegExp]>([
    ["a batch", { purpose: "batch" }, /purpose: files are for messages; send user_data, vision or assistants/],
    ["training data", { purpose: "fine-tune" }, /purpose: files are for messages/],
    ["an expiry", { expires_after: { anchor: "created_at", seconds: 3600 } }, /expires_after.*not supported/],
  ])("%s is refused", async (_what, more, sentence) => {
    const refused = await refusalOf(upload(text("x"), more))
    expect([refused.status, refused.message]).toEqual([400, expect.stringMatching(sentence)])
  })

  test("forms that are malformed or have too many or too large fields are refused", async () => {
    const form = (...fields: [name: string, value: string | File][]) => {
      const data = new FormData()
      for (const [name, value] of fields) data.append(name, value)
      return data
    }
    const many = Array.from({ length: 20 }, (_, at): [string, string] => [`f${at}`, "x"])
    const bodies: [string | FormData, Record<string, string>?][] = [
      [form(["purpose", "user_data"])],
      [form(["file", text("a")], ["file", text("b")])],
      [form(...many, ["file", text("a")])],
      [form(["purpose", "x".repeat(2000)], ["file", text("a")])],
      ["hello", { "content-type": "text/plain" }],
      ["hello", { "content-type": "multipart/form-data" }],
      ["--x\r\nno end", { "content-type": "multipart/form-data; boundary=x" }],
    ]
    for (const [body, headers] of bodies) {
      const refused = await post(body, headers)
      const { error } = (await refused.json()) as { error: { type: string; message: string } }
      expect([refused.status, error.type], error.message).toEqual([400, "invalid_request_error"])
    }
  })
})
