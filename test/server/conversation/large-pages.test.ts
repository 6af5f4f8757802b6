import { describe, expect, test } from "vitest"
import { says } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { openChecked } from "../../support/loop/checked-world.ts"
import { anyDatabase } from "../../support/databases.ts"

describe.each(anyDatabase)("on $name", ({ create }) => {
  test("a page of large messages holds fewer of them, and paging back finds each once", async () => {
    await using database = await create()
    const model = scripted(always(says("x".repeat(900_000))))
    await using world = await openChecked({ url: database.url, model })
    const id = await world.begin("Talk.")
    for (let n = 0; n < 3; n++) await world.send(id, "More.")
    const found: number[] = []
    for (let before: number | undefined; found[0] !== 1; before = found[0]) {
      const { items } = await world.store.conversations.messages(id, { limit: 50, before })
      expect(JSON.stringify(items).length).toBeLessThan(2_100_000)
      found.unshift(...items.map(({ seq }) => seq))
    }
    expect(found).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })
})
