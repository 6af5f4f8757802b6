import { expect, test } from "vitest"
import { isId, newId, slotOf, type UserId } from "../../protocol/ids.ts"
import { conversationIdOfKey } from "./idempotency-keys.ts"

test("a key belongs to one conversation of one person, also with other keys in the same slot", () => {
  const ada = newId("user")
  const bob = `${newId("user").slice(0, -2)}${ada.slice(-2)}` as UserId
  const id = conversationIdOfKey(ada, "k")
  expect([isId("conv", id), slotOf(id), conversationIdOfKey(ada, "k")]).toEqual([true, slotOf(ada), id])
  expect(new Set([id, conversationIdOfKey(bob, "k"), conversationIdOfKey(ada, "j")]).size).toBe(3)
})
