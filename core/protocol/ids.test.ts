import { expect, test } from "vitest"
import { isId, newId, SLOTS, slotDigitsOf, slotOf, slotOfSecret, type UserId } from "./ids.ts"

/** As they were before there were slots. */
const OLD_PERSON = "user_1Ab2Cd3E0123456789" as UserId
const OLD_CONVERSATION = "conv_1Ab2Cd3E0123456789"

test("an id contains the slot of its owner, also if the owner's id is older than slots", () => {
  for (const person of [newId("user"), OLD_PERSON]) {
    const slot = slotOf(person)
    expect(slot).toBeTypeOf("number")
    const conversation = newId("conv", person)
    expect([slotOf(conversation), slotOf(newId("prop", person)), slotOf(newId("in", conversation))]).toEqual(
      Array(3).fill(slot),
    )
    const edition = newId("ed", person)
    expect(slotOf(`${edition.replace("ed_", "psg_")}_12`)).toBe(slot)
  }
})

test.each([
  ["an old one", OLD_CONVERSATION],
  ["one made where nobody knows whose it is", newId("msg", null)],
  ["one made as programs of others make it", newId("msg")],
  ["one of an old conversation", newId("in", OLD_CONVERSATION as never)],
  ["an old passage", "psg_1Ab2Cd3E0123456789_12"],
  ["one out of a caller's key", `conv_00000000${"aB3-_".repeat(8)}xyz`],
  ["a process", newId("node")],
  ["one of somebody's own making", "msg_hello"],
  ["letters that are no digits", "conv_1Ab2Cd3E01234567IL"],
  ["nothing", ""],
])("%s has no slot: %s", (_, id) => {
  expect(slotOf(id)).toBeUndefined()
})

test("an id whose owner's slot is unknown has the length of old ids and is valid", () => {
  const id = newId("conv", "user_ada" as UserId)
  expect(id).toHaveLength(OLD_CONVERSATION.length)
  expect([isId("conv", id), isId("conv", OLD_CONVERSATION), isId("conv", newId("conv", OLD_PERSON))]).toEqual(
    Array(3).fill(true),
  )
})

test("ids sort by age, whatever their owner and length", () => {
  const people = [newId("user"), OLD_PERSON, null, newId("user")]
  const ids = Array.from({ length: 200 }, (_, n) =>
    newId("conv", people[n % people.length] ?? null, 1_700_000_000_000 + n),
  )
  expect(ids.toSorted()).toEqual(ids)
})

test("apart from time and slot an id is random: ten digits that never repeat", () => {
  const person = newId("user")
  const chance = Array.from({ length: 2000 }, () => newId("conv", person, 1).slice("conv_".length + 8, -2))
  expect(new Set(chance).size).toBe(2000)
  expect(chance.every((digits) => digits.length === 10)).toBe(true)
})

test("users are spread evenly over the slots", () => {
  const people = 40 * SLOTS
  const counts = new Uint32Array(SLOTS)
  for (let n = 0; n < people; n++) counts[slotOf(newId("user")) as number]!++
  // Chi-square with many degrees of freedom is nearly normal: six deviations are one failure in a thousand million.
  const chiSquare = counts.reduce((sum, count) => sum + (count - 40) ** 2 / 40, 0)
  expect(Math.abs(chiSquare - (SLOTS - 1)) / Math.sqrt(2 * (SLOTS - 1))).toBeLessThan(6)
})

test("a secret contains its user's slot after its random part; an older one does not", () => {
  const person = newId("user")
  const chance = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN-_0"
  for (const prefix of ["", "pawl_"]) {
    expect(slotOfSecret(`${prefix}${chance}${slotDigitsOf(person)}`)).toBe(slotOf(person))
    expect(slotOfSecret(`${prefix}${chance}`)).toBeUndefined()
  }
  expect(slotOfSecret("eyJhbGciOiJIUzI1NiJ9.e30.abc")).toBeUndefined()
})
