import { expect, test } from "vitest"
import { isId, newId, slotOf, type UserId } from "../../protocol/ids.ts"
import { conversationOfKey } from "./idempotency-keys.ts"

test("a key is one conversation of one person, in that person's slot, also beside others of the same slot", () => {
  const ada = newId("user")
  const bob = `${newId("user").slice(0, -2)}${ada.slice(-2)}` as UserId
  const id = conversationOfKey(ada, "k")
  expect([isId("conv", id), slotOf(id), conversationOfKey(ada, "k")]).toEqual([true, slotOf(ada), id])
  expect(new Set([id, conversationOfKey(bob, "k"), conversationOfKey(ada, "j")]).size).toBe(3)
})
