import { describe, expect, test } from "vitest"
import { openPawl } from "../../core/index.ts"
import { always, says, scripted } from "../../core/testing.ts"
import { anyDatabase } from "../support/databases.ts"

describe.each(anyDatabase)("users by code on $name", ({ create }) => {
  test("are created once, found by name and id, listed and erased with their data", async () => {
    await using database = await create()
    await using pawl = await openPawl({ store: database.url, models: scripted(always(says("Hello."))) })
    const ada = await pawl.people.create("ada")
    expect(await pawl.people.create("ada")).toEqual(ada)
    expect(await pawl.people.get(ada.id)).toEqual(ada)
    expect(await pawl.people.get("ada")).toEqual(ada)
    await pawl.people.create("bob")
    const names = async () => (await pawl.people.list()).items.map(({ name }) => name).sort()
    expect(await names()).toEqual(["ada", "bob"])

    const { conversationId } = await pawl.as(ada.id).ask("Hi.")
    await pawl.people.erase("ada")
    expect(await names()).toEqual(["bob"])
    await expect(pawl.as(ada.id).answer(conversationId)).rejects.toMatchObject({ code: "person_unknown" })
    await expect(pawl.as("ada").ask("Hi.")).rejects.toMatchObject({ code: "person_unknown" })
  })

  test("that do not exist are refused by as(), which creates none", async () => {
    await using database = await create()
    await using pawl = await openPawl({ store: database.url, models: scripted(always(says("Hello."))) })
    for (const name of ["ada", "user_1JNMtm1ZVh7W4XgK2T9Y", "", " issuer subject", "a\0b"]) {
      await expect(pawl.as(name).ask("Hi.")).rejects.toMatchObject({ code: "person_unknown" })
      await expect(pawl.as(name).proposals.list()).rejects.toMatchObject({ code: "person_unknown" })
    }
    expect((await pawl.people.list()).items).toEqual([])
  })
})
