import { describe, expect, test } from "vitest"
import { type AskOptions, hasCode, openPawl, type Pawl, type PawlOptions } from "../../core/index.ts"
import { always, says, scripted, type ScriptedReply } from "../../core/testing.ts"
import { anyDatabase } from "../support/databases.ts"
import { pdf, png } from "../support/message-files/images.ts"

const seeing = (...script: ScriptedReply[]) =>
  Object.assign(scripted(...script), { sees: { images: true, files: true } })
const csv = { name: "pigeons.csv", data: Buffer.from("name,ring\nBertha,17\n") }
const image = (side: number) => new File([new Uint8Array(png(side, side))], "square.png")

describe.each(anyDatabase)("files in questions, on $name", ({ create }) => {
  const open = async (models: PawlOptions["models"]): Promise<Pawl> =>
    openPawl({ store: { url: (await create()).url, durability: "normal" }, models })

  test("an image, a document and a text reach the model, and can be read from the message", async () => {
    const model = seeing(says("A square."), says("Bertha."))
    await using pawl = await open(model)
    const files = [image(3), { name: "a.pdf", data: new Blob([new Uint8Array(pdf("Hello"))]), type: "application/pdf" }]
    const { conversationId } = await pawl.ask("What is it?", { files })
    await pawl.ask("Who?", { conversation: conversationId, files: [csv] })
    const [first, , third] = model.received.at(-1)!.request.history
    const shownIn = (turn = first) => (turn?.role === "user" ? turn.shown : undefined)
    expect(shownIn()).toMatchObject([
      { type: "bytes", mediaType: "image/png" },
      { type: "bytes", mediaType: "application/pdf" },
    ])
    expect(JSON.stringify(shownIn(third))).toContain("Bertha,17")
    const [message] = (await pawl.conversations.messages(conversationId)).items
    expect(message?.files).toMatchObject([
      { name: "square.png", type: "image/png", width: 3, height: 3 },
      { name: "a.pdf", type: "application/pdf" },
    ])
    const stored = await pawl.files.read(message!.files![0]!.id)
    expect([stored.name, stored.type, Buffer.from(stored.data).equals(png(3, 3))]).toEqual([
      "square.png",
      "image/png",
      true,
    ])
  })

  test("a model that does not see images refuses one before anything is stored", async () => {
    const model = scripted()
    await using pawl = await open({ blind: model, other: seeing() })
    for (const key of [{}, { key: "once" }]) {
      const asked = pawl.ask("What is it?", { files: [image(3)], ...key })
      await expect(asked).rejects.toSatisfy((error) => hasCode(error, "model_lacks_images"))
      await expect(asked).rejects.toThrow(/other/)
    }
    expect((await pawl.conversations.list()).items).toEqual([])
    expect(model.received).toEqual([])
  })

  test("the model of the conversation decides, not the default", async () => {
    const blind = scripted(always(says("No.")))
    await using pawl = await open({ seeing: seeing(), blind })
    const { conversationId } = await pawl.ask("Hello.", { model: "blind" })
    const asked = pawl.ask("What is it?", { conversation: conversationId, files: [image(3)] })
    await expect(asked).rejects.toSatisfy((error) => hasCode(error, "model_lacks_images"))
  })

  test.each<[what: string, file: object, code: string]>([
    ["a file over 25 MB", { name: "a.txt", data: Buffer.alloc(25_000_001, "a") }, "message_file_too_large"],
    ["an image that is none", { name: "a.png", data: Buffer.from("no"), type: "image/png" }, "file_refused"],
    ["an empty file", { name: "a.txt", data: new Uint8Array() }, "file_refused"],
    ["a path instead of bytes", { name: "a.txt", data: "/etc/passwd" }, "bad_request"],
    ["the id of a file", { id: "file_1" }, "bad_request"],
  ])("%s is refused", async (_what, file, code) => {
    await using pawl = await open(scripted())
    const asked = pawl.ask("What is it?", { files: [file] } as AskOptions)
    await expect(asked).rejects.toSatisfy((error) => hasCode(error, code as "bad_request"))
    expect((await pawl.conversations.list()).items).toEqual([])
  })

  test("a key returns the first answer only for the same files", async () => {
    const model = scripted(says("Bertha."))
    await using pawl = await open(model)
    const first = await pawl.ask("Who?", { key: "who", files: [csv] })
    expect(await pawl.ask("Who?", { key: "who", files: [csv] })).toMatchObject({ runId: first.runId, text: "Bertha." })
    const other = { name: "pigeons.csv", data: Buffer.from("name\nAnton\n") }
    for (const files of [[], [other], [csv, other]]) {
      const asked = pawl.ask("Who?", { key: "who", files })
      await expect(asked).rejects.toSatisfy((error) => hasCode(error, "key_reused"))
    }
    expect(model.received).toHaveLength(1)
  })

  test("a file is its user's alone", async () => {
    await using pawl = await open(scripted(says("Bertha.")))
    const { conversationId } = await pawl.ask("Who?", { files: [csv] })
    const [message] = (await pawl.conversations.messages(conversationId)).items
    await pawl.people.create("ada")
    for (const id of [message!.files![0]!.id, "file_none", "x"])
      await expect(pawl.as("ada").files.read(id)).rejects.toSatisfy((error) => hasCode(error, "not_found"))
  })
})
