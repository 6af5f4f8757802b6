import { describe, expect, test } from "vitest"
import { says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"

describe.each(anyDatabase)("on $name", ({ create }) => {
  // Found by random requests: the model got an empty history, or had to answer its own message.
  test("wherever a conversation is cut, its fork continues with a user message or has nothing to resume", async () => {
    await using database = await create()
    await using face = await Face.open({ url: database.url, model: scripted(always(says("Hello."))) })
    const ada = await face.as("ada")
    const id = await ada.begin()
    await ada.say(id, "hi")
    const { position } = (await ada.say(id, "hi again")).body.conversation
    const outcomes = new Set<number | string>()
    for (let at = 1; at <= position; at++) {
      const forked = await ada.post(`/api/conversations/${id}/fork`, { position: at })
      const { status, body } = await ada.post(`/api/conversations/${forked.body.id}/resume`)
      outcomes.add(body.code ?? body.run.status)
      expect([status, body.code ?? body.run.status]).toEqual(
        status === 200 ? [200, "completed"] : [409, "nothing_to_resume"],
      )
    }
    expect([...outcomes].sort()).toEqual(["completed", "nothing_to_resume"])
    expect(face.logged).toEqual([])
  })
})
