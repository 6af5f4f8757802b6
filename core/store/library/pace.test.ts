import { expect, test } from "vitest"
import { Pace } from "./pace.ts"

/** Looks at a count at these seconds. */
function seen(looks: readonly (readonly [second: number, count: number])[]): Pace {
  const pace = new Pace()
  for (const [second, count] of looks) pace.see(count, second * 1000)
  return pace
}

test("there is no estimate before two steps some seconds apart", () => {
  expect(seen([]).secondsFor(100, 0)).toBeUndefined()
  expect(seen([[0, 640]]).secondsFor(100, 9000)).toBeUndefined()
  // Between the first look and the first step some of the step had passed already.
  expect(
    seen([
      [0, 640],
      [1, 704],
    ]).secondsFor(100, 9000),
  ).toBeUndefined()
  expect(
    seen([
      [0, 640],
      [1, 704],
      [3, 768],
    ]).secondsFor(100, 3000),
  ).toBeUndefined()
  expect(
    seen([
      [0, 640],
      [1, 704],
      [5, 768],
    ]).secondsFor(160, 5000),
  ).toBe(10)
})

test("reads in between change nothing, and the time since the last step counts", () => {
  const pace = seen([
    [0, 0],
    [1, 64],
    [2, 64],
    [3, 64],
    [5, 128],
    [6, 128],
    [9, 192],
  ])
  expect([pace.secondsFor(160, 9000), pace.secondsFor(160, 12_000), pace.secondsFor(16, 12_000)]).toEqual([10, 7, 1])
})

test("there is no estimate for a stalled count, for old steps, or after a reset", () => {
  const pace = seen([
    [0, 0],
    [1, 64],
    [5, 128],
  ])
  expect([pace.secondsFor(100, 35_000), pace.secondsFor(100, 36_000)]).toEqual([1, undefined])
  const slow = seen([
    [0, 0],
    [100, 10],
    [119, 20],
    [140, 30],
    [300, 40],
  ])
  expect(slow.secondsFor(100, 300_000)).toBeUndefined()
  expect(
    seen([
      [0, 0],
      [1, 64],
      [5, 128],
      [6, 3],
    ]).secondsFor(100, 6000),
  ).toBeUndefined()
})

test("steps of minutes ago do not count, so a slower pace gives a longer estimate", () => {
  const pace = new Pace()
  for (let second = 0; second <= 60; second++) pace.see(second * 100, second * 1000)
  for (let second = 70; second <= 240; second += 10) pace.see(6000 + second, second * 1000)
  expect(pace.secondsFor(100, 240_000)).toBe(100)
})
