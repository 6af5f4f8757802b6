import { expect, test } from "vitest"
import type { ModelRequest } from "../../../core/engine/model.ts"
import { always, scripted, type ScriptedModel } from "../../../core/models/scripted/model.ts"
import { says } from "../../../core/models/scripted/script.ts"
import { anyDatabase } from "../../support/databases.ts"
import { openAiAs, refusalOf } from "../openai-client.ts"
import { pdf, png } from "../../support/message-files/images.ts"
import { Face } from "../../support/server/face.ts"

const image = (side: number) => `data:image/png;base64,${png(side, side).toString("base64")}`
const words = (text: string) => ({ type: "text", text })
const picture = (url: string) => ({ type: "image_url", image_url: { url, detail: "low" } })
const chat = (...content: object[]) => ({ model: "pawl/test", messages: [{ role: "user", content }] })

/** Returns the sizes in bytes of the images in the newest request, and its text. */
function shown(model: ScriptedModel) {
  const { history } = model.received.at(-1)!.request as ModelRequest
  const turn = history.findLast(({ role }) => role === "user")
  const files = turn?.role === "user" ? (turn.shown ?? []) : []
  return files.map((file) => (file.type === "bytes" ? file.bytes.length : file.text))
}

async function open(sees: boolean) {
  const [database] = anyDatabase
  const model = Object.assign(scripted(always(says("A square."))), sees ? { sees: { images: true, files: true } } : {})
  const face = await Face.open({ url: (await database!.create()).url, model })
  const { client } = await openAiAs(face, "ada")
  return { face, client, model, [Symbol.asyncDispose]: () => face[Symbol.asyncDispose]() }
}

test("an image in a chat completion is shown to the model, and stored with its message", async () => {
  await using opened = await open(true)
  const { client, model, face } = opened
  const answer = await client.chat.completions.create(chat(words("What is it?"), picture(image(3))))
  expect(answer.choices[0].message.content).toBe("A square.")
  expect(shown(model)).toEqual([png(3, 3).length])
  const ada = await face.as("ada")
  const { messages } = (await ada.get(`/api/conversations/${answer.pawl.conversation_id}`)).body
  expect(messages[0]).toMatchObject({ content: "What is it?", files: [{ type: "image/png", width: 3, height: 3 }] })
})

test("images in previous messages of a chat are sent to the model again; an existing conversation already has them", async () => {
  await using opened = await open(true)
  const { client, model } = opened
  const first = chat(words("What is it?"), picture(image(3)))
  const messages = [
    ...first.messages,
    { role: "assistant", content: "A square." },
    { role: "user", content: "Its side?" },
  ]
  const again = await client.chat.completions.create({ ...first, messages })
  expect(shown(model)).toEqual([png(3, 3).length])
  const headers = { "x-pawl-conversation": again.pawl.conversation_id }
  await client.chat.completions.create({ ...first, messages }, { headers })
  expect(shown(model)).toEqual([])
})

test("images and documents in a response are shown, inline or by the id of an upload", async () => {
  await using opened = await open(true)
  const { client, model, face } = opened
  const ada = await face.as("ada")
  const uploaded = await ada.post("/api/files", png(5, 5), { "content-type": "image/png", "x-file-name": "five.png" })
  const content = [
    { type: "input_text", text: "What are they?" },
    { type: "input_image", image_url: image(3) },
    { type: "input_image", file_id: uploaded.body.id },
    {
      type: "input_file",
      filename: "a.pdf",
      file_data: `data:application/pdf;base64,${pdf("Hello").toString("base64")}`,
    },
  ]
  const answer = await client.responses.create({ model: "pawl/test", input: [{ role: "user", content }] })
  expect(answer.output_text).toBe("A square.")
  expect(shown(model)).toEqual([png(3, 3).length, png(5, 5).length, pdf("Hello").length])
})

test("a model without vision refuses an image by name", async () => {
  await using opened = await open(false)
  const { client, model } = opened
  const refused = await refusalOf(client.chat.completions.create(chat(words("What is it?"), picture(image(3)))))
  expect(refused).toMatchObject({ status: 400, code: "model_lacks_images" })
  expect(refused.message).toMatch(/scripted does not support images\./)
  expect(model.received).toEqual([])
})

test.each([
  ["an address of others", [words("x"), picture("https://example.org/a.png")], /not fetched from other addresses/],
  ["no image", [words("x"), picture(`data:image/png;base64,${Buffer.from("no").toString("base64")}`)], /not accepted/],
  ["sound", [words("x"), { type: "input_audio", input_audio: {} }], /"input_audio" is not taken; text, images/],
])("%s is refused with a message", async (_what, content, sentence) => {
  await using opened = await open(true)
  const refused = await refusalOf(opened.client.chat.completions.create(chat(...content)))
  expect([refused.status, refused.message]).toEqual([
    expect.toBeOneOf([400, 415, 422]),
    expect.stringMatching(sentence),
  ])
})

test("a model is read by its name, which may contain slashes, from newer and older clients", async () => {
  await using opened = await open(true)
  const { client, face } = opened
  for (const id of ["pawl/test", "pawl/test/scripted"]) {
    expect(await client.models.retrieve(id)).toMatchObject({ id, object: "model" })
    const ada = await face.as("ada")
    expect((await ada.get(`/v1/models/${id}`)).body).toMatchObject({ id })
  }
  expect(await refusalOf(client.models.retrieve("gpt-9"))).toMatchObject({ status: 404, code: "not_found" })
})
