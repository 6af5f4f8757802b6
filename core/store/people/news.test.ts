import { describe, expect, test } from "vitest"
import { databases } from "../../../test/support/databases.ts"
import { newId } from "../../protocol/ids.ts"
import { openStore } from "../store.ts"

describe.each(databases)("news on $name", ({ create }) => {
  test("counts changes by person and kind, of any node, for existing people only", async () => {
    await using database = await create()
    await using one = await openStore({ url: database.url })
    await using two = await openStore({ url: database.url })
    const [ada, bob] = [await one.people.ensure("ada", 1), await one.people.ensure("bob", 1)]
    const nobody = newId("user")
    expect(await one.news.read([ada.id, bob.id])).toEqual([])
    await Promise.all([
      one.news.tell("conversations", [ada.id, bob.id, nobody]),
      two.news.tell("conversations", [bob.id, ada.id]),
      two.news.tell("workspace", [ada.id]),
    ])
    const counted = await two.news.read([bob.id, ada.id, nobody])
    expect(counted.map(({ user, kind, count }) => `${user} ${kind} ${count}`).sort()).toEqual(
      [`${ada.id} conversations 2`, `${ada.id} workspace 1`, `${bob.id} conversations 2`].sort(),
    )
    expect(await one.news.tell("workspace", [ada.id])).toEqual([{ user: ada.id, kind: "workspace", count: 2 }])
  })

  test("is read for any number of people, and deleted with its person", async () => {
    await using database = await create()
    await using store = await openStore({ url: database.url })
    const people = await Promise.all(Array.from({ length: 205 }, (_, at) => store.people.ensure(`p${at}`, 1)))
    const ids = people.map(({ id }) => id)
    expect(await store.news.tell("conversations", ids)).toHaveLength(205)
    expect(await store.retention.erasePerson(ids[200]!)).toBe(true)
    expect(await store.news.read(ids)).toHaveLength(204)
  })
})
