import { expect, test } from "vitest"
import { createRateLimits, spend } from "./rate-limits.ts"

const clock = { now: () => 0, monotonic: () => 0, alarm: () => () => {} }
const isRefused = (address: string, limits: ReturnType<typeof createRateLimits>) => {
  try {
    spend(limits.strangers, address)
    return false
  } catch {
    return true
  }
}

test.each([
  ["addresses of one household", "2001:db8:0:1::1", "2001:db8:0:1:ffff::2", true],
  ["one address, written in two ways", "2001:db8::1", "2001:0DB8:0:0:0:0:0:1", true],
  ["addresses of two households", "2001:db8:0:1::1", "2001:db8:0:2::1", false],
  ["two addresses of IPv4", "192.0.2.1", "192.0.2.2", false],
])("%s: requests of one count for the other: %s and %s", (_, first, second, together) => {
  const limits = createRateLimits(60, clock)
  while (!isRefused(first, limits));
  expect(isRefused(second, limits)).toBe(together)
})
