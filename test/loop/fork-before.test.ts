import { describe, expect, test } from "vitest"
import { says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"

describe.each(anyDatabase)("on $name", ({ create }) => {
  test("a fork before a message has everything up to it, and continues with another message", async () => {
    await using database = await create()
    await using face = await Face.open({ url: database.url, model: scripted(always(says("Yes."))) })
    const ada = await face.as("ada")
    const id = await ada.begin()
    await ada.say(id, "one")
    await ada.say(id, "two")
    const { messages } = (await ada.get(`/api/conversations/${id}`)).body
    const fork = (before: string) => ada.post(`/api/conversations/${id}/fork`, { before })
    const forked = await fork(messages[2].id)
    expect(forked.status).toBe(201)
    const texts = async (of: string) =>
      (await ada.get(`/api/conversations/${of}`)).body.messages.map(({ content }: { content: string }) => content)
    expect(await texts(forked.body.id)).toEqual(["one", "Yes."])
    await ada.say(forked.body.id, "three")
    expect(await texts(forked.body.id)).toEqual(["one", "Yes.", "three", "Yes."])
    const first = await fork(messages[0].id)
    expect(await texts(first.body.id)).toEqual([])
    expect(await texts(id)).toEqual(["one", "Yes.", "two", "Yes."])

    // A fork cannot start before a reply, nor before a message of another conversation, nor name both positions.
    for (const before of [messages[1].id, "msg_nobody"]) expect((await fork(before)).status).toBe(404)
    const other = await ada.begin()
    expect((await ada.post(`/api/conversations/${other}/fork`, { before: messages[2].id })).status).toBe(404)
    const both = await ada.post(`/api/conversations/${id}/fork`, { before: messages[2].id, position: 1 })
    expect(both.status).toBe(400)
    expect(face.logged).toEqual([])
  })

  test("tools list example messages", async () => {
    await using database = await create()
    await using face = await Face.open({ url: database.url, model: scripted() })
    const { items } = (await (await face.as("ada")).get("/api/tools")).body
    const examples = items.flatMap(({ examples }: { examples: string[] }) => examples)
    expect(examples).toContain("list my tasks")
  })
})
