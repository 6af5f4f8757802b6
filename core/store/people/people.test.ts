import { expect, test } from "vitest"
import { databases } from "../../../test/support/databases.ts"
import { newId } from "../../protocol/ids.ts"
import { openStore } from "../store.ts"

test("a name is one line without control characters, and a refusal does not repeat them", async () => {
  await using store = await openStore({ url: ":memory:" })
  for (const name of ["ada\nbob", "ada\u001b[2Jbob", "ada\tbob", "ada\u009bbob", "ada\u007f"]) {
    const refused = await store.people.ensure(name, 1).catch((error: unknown) => error as Error)
    expect(refused, JSON.stringify(name)).toMatchObject({
      code: "bad_request",
      message: "A name holds no line break, tab or other control character.",
    })
  }
  expect((await store.people.ensure("Ada Lovelace-Ünal", 1)).name).toBe("Ada Lovelace-Ünal")
})

test.each(databases)("a person is found by name and by id, on $name", async ({ create }) => {
  await using store = await openStore({ url: (await create()).url })
  const ada = await store.people.ensure("ada", 1)
  expect(await store.people.ensure(ada.id, 2)).toEqual(ada)
  // A program may have such names of its own.
  for (const name of ["user_42", newId("user")]) expect(await store.people.ensure(name, 3)).toMatchObject({ name })
})
