import { beforeAll, describe, expect, test } from "vitest"
import { scripted, type ScriptedModel, type ScriptedReply } from "../../../core/models/scripted/model.ts"
import { calls, replies, says } from "../../../core/models/scripted/script.ts"
import { databases } from "../../support/databases.ts"
import { currentScript } from "../../support/current-script.ts"
import { pdf } from "../../support/message-files/images.ts"
import { Face } from "../../support/server/face.ts"
import { type OpenAiPerson, openAiAs, refusalOf } from "../openai-client.ts"

type Item = { readonly id: string; readonly type: string; readonly content: { readonly text: string }[] }

describe.each(databases)("the openai package uses conversations on $name", ({ create }) => {
  let face: Face
  let ada: OpenAiPerson
  let bob: OpenAiPerson
  let current: ScriptedModel
  const plays = (...script: ScriptedReply[]) => (current = scripted(...script))
  const begin = (metadata: object = { model: "pawl/test" }) => ada.client.conversations.create({ metadata })
  const respond = (conversation: string, body: object) =>
    ada.client.responses.create({ model: "pawl/test", conversation, ...body })
  const itemsOf = async (id: string, query: object = {}) => {
    const found: Item[] = []
    for await (const item of ada.client.conversations.items.list(id, query)) found.push(item)
    return found
  }
  const textsOf = (items: Item[]) => items.map(({ type, content }) => content?.[0]?.text ?? type)

  beforeAll(async () => {
    const model = Object.assign(
      currentScript(() => current),
      { sees: { images: true, files: true } },
    )
    face = await Face.open({ url: (await create()).url, model })
    ada = await openAiAs(face, "ada")
    bob = await openAiAs(face, "bob")
    return () => face[Symbol.asyncDispose]()
  })

  test("a conversation is created, continued, renamed and deleted", async () => {
    const conversation = await begin({ model: "pawl/test", title: "Pigeons" })
    expect(conversation).toMatchObject({ object: "conversation", metadata: { model: "pawl/test", title: "Pigeons" } })
    expect(await ada.client.conversations.retrieve(conversation.id)).toEqual(conversation)
    plays(says("One."), says("Two."))
    await respond(conversation.id, { input: "First" })
    await respond(conversation.id, { input: "Second" })
    expect(textsOf(await itemsOf(conversation.id, { order: "asc" }))).toEqual(["First", "One.", "Second", "Two."])
    const renamed = await ada.client.conversations.update(conversation.id, { metadata: { title: "Doves" } })
    expect(renamed.metadata.title).toBe("Doves")
    expect((await ada.client.conversations.retrieve(conversation.id)).metadata.title).toBe("Doves")
    expect(await ada.client.conversations.delete(conversation.id)).toEqual({
      ...{ id: conversation.id, object: "conversation.deleted", deleted: true },
    })
    expect(await refusalOf(ada.client.conversations.retrieve(conversation.id))).toMatchObject({ status: 404 })
  })

  test("without a model, a conversation is with the default agent", async () => {
    const { id, metadata } = await ada.client.conversations.create()
    plays(says("Hello."))
    const answer = await ada.client.responses.create({ model: metadata.model, input: "Hello", conversation: id })
    expect(answer.output_text).toBe("Hello.")
    const other = await refusalOf(respond(id, { input: "Hello" }))
    expect([other.status, other.message]).toEqual([400, expect.stringContaining(metadata.model)])
  })

  test("items are listed in pages in both orders, and read one by one, also very long ones", async () => {
    const long = "word ".repeat(30_000)
    plays(...["One.", long, "Three.", long, "Five."].map((text) => says(text)))
    const { id } = await begin()
    for (const text of ["1", "2", "3", "4", "5"]) await respond(id, { input: text })
    const expected = ["1", "One.", "2", long, "3", "Three.", "4", long, "5", "Five."]
    const all = await itemsOf(id, { order: "asc", limit: 3 })
    expect(textsOf(all)).toEqual(expected)
    expect(textsOf(await itemsOf(id, { limit: 4 }))).toEqual(expected.toReversed())
    const page = await ada.client.conversations.items.list(id, { limit: 2 })
    expect(page).toMatchObject({ has_more: true, last_id: all.at(-2)!.id })
    for (const item of all)
      expect(await ada.client.conversations.items.retrieve(item.id, { conversation_id: id })).toEqual(item)
  })

  test("calls of the client's functions and their results are items, those of the agent's tools are not", async () => {
    plays(
      replies(says("Let me look."), calls(["unknown_tool"], ["client-look", { at: 1 }], ["client-look", { at: 2 }])),
      says("Both."),
    )
    const { id } = await begin()
    const tools = [{ type: "function", name: "look", parameters: { type: "object" } }]
    const first = await respond(id, { input: "What is there?", tools })
    const results = first.output
      .filter(({ type }: Item) => type === "function_call")
      .map(({ call_id, arguments: args }: { call_id: string; arguments: string }) => ({
        ...{ type: "function_call_output", call_id, output: `seen ${args}` },
      }))
    await respond(id, { input: results.slice(0, 1) })
    await respond(id, { input: results.slice(1) })
    for (const limit of [1, 3, 100]) {
      const items = await itemsOf(id, { order: "asc", limit })
      expect(items).toMatchObject([
        { type: "message", role: "user" },
        { type: "message", role: "assistant", content: [{ text: "Let me look." }] },
        { type: "function_call", name: "look", arguments: '{"at":1}', call_id: results[0].call_id },
        { type: "function_call", name: "look", arguments: '{"at":2}', call_id: results[1].call_id },
        { type: "function_call_output", call_id: results[0].call_id, output: 'seen {"at":1}' },
        { type: "function_call_output", call_id: results[1].call_id, output: 'seen {"at":2}' },
        { type: "message", role: "assistant", content: [{ text: "Both." }] },
      ])
      expect(await itemsOf(id, { limit })).toEqual(items.toReversed())
      const call = items[3]!
      expect(await ada.client.conversations.items.retrieve(call.id, { conversation_id: id })).toEqual(call)
    }
  })

  test("a message's files are items by their ids", async () => {
    plays(says("A title."))
    const { id } = await begin()
    const file = await ada.client.files.create({
      file: new File([pdf("Hello")], "a.pdf", { type: "application/pdf" }),
      purpose: "user_data",
    })
    const content = [
      { type: "input_text", text: "What is it?" },
      { type: "input_file", file_id: file.id },
    ]
    await respond(id, { input: [{ role: "user", content }] })
    const [message] = await itemsOf(id, { order: "asc" })
    expect(message).toMatchObject({ content: [{ text: "What is it?" }, { file_id: file.id, filename: "a.pdf" }] })
  })

  test("another person's conversation and its items are not found", async () => {
    plays(says("One."))
    const { id } = await begin()
    await respond(id, { input: "First" })
    const [item] = await itemsOf(id)
    const { conversations } = bob.client
    const asked: (() => Promise<unknown>)[] = [
      () => conversations.retrieve(id),
      () => conversations.update(id, { metadata: { title: "Mine" } }),
      () => conversations.delete(id),
      () => conversations.items.list(id),
      () => conversations.items.retrieve(item!.id, { conversation_id: id }),
      () => conversations.items.create(id, { items: [] }),
      () => conversations.items.delete(item!.id, { conversation_id: id }),
    ]
    for (const ask of asked) expect(await refusalOf(ask())).toMatchObject({ status: 404, code: "not_found" })
    const own = await bob.client.conversations.create()
    const foreign = conversations.items.retrieve(item!.id, { conversation_id: own.id })
    expect(await refusalOf(foreign)).toMatchObject({ status: 404 })
    expect(await refusalOf(ada.client.conversations.items.list(id, { after: "msg_0" }))).toMatchObject({ status: 404 })
  })

  test.each<[what: string, act: (id: string, item: string) => Promise<unknown>, sentence: RegExp]>([
    [
      "items of a new conversation",
      () => ada.client.conversations.create({ items: [{ role: "user" }] }),
      /by responses/,
    ],
    ["new items", (id) => ada.client.conversations.items.create(id, { items: [{ role: "user" }] }), /by responses/],
    [
      "the deletion of an item",
      (id, item) => ada.client.conversations.items.delete(item, { conversation_id: id }),
      /cannot be deleted alone/,
    ],
    ["other metadata", () => begin({ project: "a" }), /only model and title are stored/],
    ["an unknown agent", () => begin({ model: "pawl/nobody" }), /nobody/],
    ["another agent", (id) => ada.client.conversations.update(id, { metadata: { model: "pawl/x" } }), /stays with/],
  ])("%s are refused", async (_what, act, sentence) => {
    plays(says("One."))
    const { id } = await begin()
    await respond(id, { input: "First" })
    const [item] = await itemsOf(id)
    const refused = await refusalOf(act(id, item!.id))
    expect([refused.status, refused.message]).toEqual([400, expect.stringMatching(sentence)])
  })
})
