import { describe, expect, test } from "vitest"
import { createClient, emptyTranscript, fromDetail, reduce, withWhole } from "../../../client/index.ts"
import { says } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { databasesInTurn } from "../../support/databases.ts"
import { openServer } from "../../support/server/socket.ts"

const TOLD = 100_000
/** A surrogate pair stands where the text is cut. */
const LONG = `${"x".repeat(TOLD - 1)}😀${"y".repeat(300_000)}THE END`
const EXACT = "z".repeat(TOLD)

describe.each(databasesInTurn(import.meta.filename))("on $name", { timeout: 120_000 }, (database) => {
  async function open(reply: string) {
    const server = await openServer({ database, model: scripted(always(says(reply))) })
    const ada = await server.visitor("ada")
    const id = await ada.begin()
    const client = createClient({ baseUrl: server.url, token: await server.tokenFor("ada") })
    return { ...server, ada, id, client }
  }

  test("a long reply is truncated with its full length, and its own address returns all of it", async () => {
    await using server = await open(LONG)
    const { ada, id } = server
    // The response to the message has the whole reply, as the stream does.
    expect((await ada.say(id, "Talk.")).body.messages.at(-1).content).toBe(LONG)
    const [, told] = (await ada.get(`/api/conversations/${id}`)).body.messages
    expect(told).toMatchObject({ truncated: true, length: LONG.length, finish: "stop" })
    expect(told.content).toBe("x".repeat(TOLD - 1)) // does not cut a character in half
    const [, paged] = (await ada.get(`/api/conversations/${id}/messages?limit=10`)).body.items
    expect(paged).toEqual(told)
    const { status, body } = await ada.get(`/api/conversations/${id}/messages/${told.id}`)
    expect(status).toBe(200)
    const { truncated: _, length: __, ...rest } = told
    expect(body).toEqual({ ...rest, content: LONG })
  })

  test("a long message of the user is truncated in the same way; a text of exactly the maximum is returned whole", async () => {
    await using server = await open(EXACT)
    const { ada, id } = server
    const words = `${"Listen. ".repeat(20_000)}Done?`
    await ada.say(id, words)
    const [said, reply] = (await ada.get(`/api/conversations/${id}`)).body.messages
    expect(said).toMatchObject({ role: "user", content: words.slice(0, TOLD), truncated: true, length: words.length })
    expect(reply.content).toBe(EXACT)
    expect(reply).not.toHaveProperty("truncated")
    expect(reply).not.toHaveProperty("length")
    expect((await ada.get(`/api/conversations/${id}/messages/${said.id}`)).body.content).toBe(words)
  })

  test("the address of a message is not found for another user or for another conversation", async () => {
    await using server = await open("Hello.")
    const { ada, id } = server
    await ada.say(id, "Talk.")
    const { id: message } = (await ada.get(`/api/conversations/${id}`)).body.messages[0]
    const other = await ada.begin()
    const eve = await server.visitor("eve")
    const missing = await ada.get(`/api/conversations/${id}/messages/msg_none`)
    expect([missing.status, missing.body.code]).toEqual([404, "not_found"])
    for (const answer of [
      await ada.get(`/api/conversations/${other}/messages/${message}`),
      await eve.get(`/api/conversations/${id}/messages/${message}`),
      await eve.get(`/api/conversations/${id}/messages/nonsense`),
    ])
      expect([answer.status, answer.text]).toEqual([404, missing.text])
  })

  test("a client's stream has the whole text, and a transcript replaces a truncated text with the whole", async () => {
    await using server = await open(LONG)
    const { client, id } = server
    let live = emptyTranscript
    for await (const frame of client.run(id, "Talk.")) live = reduce(live, frame)
    const opened = fromDetail(await client.readConversation({ params: { id } }))
    const [said] = opened.items
    const reply = opened.items.at(-1) // after the notice about the chosen tools
    if (reply?.type !== "message") throw new Error("there is no reply")
    expect(reply.message).toMatchObject({ truncated: true, length: LONG.length })
    const whole = withWhole(opened, await client.readMessage({ params: { id, messageId: reply.key } }))
    expect(whole.items).toEqual(live.items)
    expect(whole.items[0]).toBe(said)
    expect(whole.cursor).toBe(opened.cursor)
    // An unknown id changes nothing.
    expect(withWhole(whole, { ...reply.message, id: "msg_none" as typeof reply.message.id })).toBe(whole)
  })
})
