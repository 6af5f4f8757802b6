import { describe, expect, test } from "vitest"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { scripted } from "../../../core/models/scripted/model.ts"
import { of, openChecked } from "../../support/loop/checked-world.ts"
import { anyDatabase } from "../../support/databases.ts"
import { Held, read } from "../../support/loop/tools.ts"
import { message } from "../../support/loop/world.ts"

describe.each(anyDatabase)("on $name", ({ create }) => {
  // Two requests with one key that race: the first got its id and stored the message late.
  test("a message that is stored twice is one in the queue: listed, changed and withdrawn once for all", async () => {
    await using database = await create()
    const held = new Held()
    const model = scripted(calls("wait"), says("First."), says("Third."))
    await using world = await openChecked({ url: database.url, model, tools: [read("wait", held.run)] })
    const { runtime } = world.pawl
    const { queue } = world.store
    const { id } = await world.start("one")
    await held.begun
    const [two, three] = [message("two"), message("three")]
    for (const each of [two, two, three, three]) expect(await runtime.submit(id, each)).toBe("kept")
    expect((await queue.list(id, { limit: 50 })).items.map(({ text }) => text)).toEqual(["two", "three"])
    expect(await queue.withdraw(id, two.id)).toBe(true)
    expect(await queue.withdraw(id, two.id)).toBe(false)
    expect(await queue.edit(id, three.id, { text: "three, changed" })).toBe(true)
    held.end("found")
    await runtime.rest(id)
    const said = of(await world.events(id), "message").filter(({ role }) => role === "user")
    expect(said.map(({ parts }) => parts)).toEqual(["one", "three, changed"].map((text) => [{ type: "text", text }]))
    expect((await queue.list(id, { limit: 50 })).items).toEqual([])
  })
})
