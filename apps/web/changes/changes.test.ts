import { expect, test } from "vitest"
import { pairRows } from "./changes.tsx"

const [old, now, fresh] = [
  [1, "Bo"],
  [1, "Bob"],
  [2, "Di"],
]

test("an upsert shows overwritten rows next to their previous values, and new rows alone", () => {
  expect(pairRows({ before: [old], after: [now, fresh], isPaired: true })).toEqual([{ was: old, now }, { now: fresh }])
})

test("rows that cannot be distinguished are listed separately", () => {
  expect(pairRows({ before: [old], after: [now, fresh], isPaired: false })).toEqual([
    { was: old },
    { now },
    { now: fresh },
  ])
})

test("an insert has nothing before, a delete nothing after, an update both", () => {
  expect(pairRows({ before: [], after: [fresh], isPaired: false })).toEqual([{ now: fresh }])
  expect(pairRows({ before: [old], after: null, isPaired: false })).toEqual([{ was: old }])
  expect(pairRows({ before: [old], after: [now], isPaired: false })).toEqual([{ was: old, now }])
})
