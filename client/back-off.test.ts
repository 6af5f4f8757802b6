import { expect, test } from "vitest"
import { backOff } from "./back-off.ts"

const patient = { random: () => 0 }
const hasty = { random: () => 1 }

test("each wait is twice the previous one, up to half a minute", () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 8, 1000].map((failures) => backOff({ failures, ...patient }))
  expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
})

test("jitter subtracts up to half of it", () => {
  expect(backOff({ failures: 3, ...hasty })).toBe(1000)
})

test("the stream's retry is the start, and the limit is still half a minute", () => {
  expect(backOff({ failures: 2, firstMs: 100, ...patient })).toBe(200)
  expect(backOff({ failures: 1, firstMs: 10 ** 9, ...patient })).toBe(30_000)
  expect(backOff({ failures: 1, firstMs: 0, ...patient })).toBe(100)
})

test("the server's retry time is respected, up to a limit", () => {
  expect(backOff({ failures: 1, askedMs: 60_000, ...patient })).toBe(60_000)
  expect(backOff({ failures: 4, askedMs: 1000, ...patient })).toBe(4000)
  expect(backOff({ failures: 1, askedMs: 10 ** 9, ...patient })).toBe(300_000)
})
