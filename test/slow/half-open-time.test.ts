import { expect, test } from "vitest"
import type { Clock } from "../../src/agent/clock.ts"
import { always, says } from "../../src/testing.ts"
import { goOn, openHalfOpen, stop } from "./half-open.ts"

/** Time passes ten times as fast, for real. */
class FastClock implements Clock {
  readonly #start = Date.now()
  now(): number {
    return this.#start + (Date.now() - this.#start) * 10
  }
  monotonic(): number {
    return this.now()
  }
  alarm(ms: number, ring: () => void, background?: "background"): () => void {
    const timer = setTimeout(ring, ms / 10)
    if (background) timer.unref()
    return () => clearTimeout(timer)
  }
}

// Tried again where the machine itself was busy: what is bounded here is time.
test("while time passes by itself, living peers stay and stopped ones are gone within 40 s", {
  timeout: 120_000,
  retry: 2,
}, async () => {
  const clock = new FastClock()
  await using world = await openHalfOpen(clock, always(says("Hello.")))
  const device = await world.device()
  const id = await world.ada.begin({ agent: "test" })
  const watcher = await world.watcher(id)
  const there = async () => [(await world.ada.get("/api/devices")).body.items.length, await world.openStreams()]
  const until = clock.now() + 75_000 // two rounds of pings
  while (clock.now() < until) {
    expect(await there()).toEqual([1, 2])
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  await stop(device)
  await stop(watcher)
  const from = clock.now()
  await expect.poll(there, { timeout: 20_000, interval: 20 }).toEqual([0, 0])
  const seconds = (clock.now() - from) / 1000
  expect(seconds).toBeLessThan(42)
  goOn(device)
  goOn(watcher)
  await expect.poll(there, { timeout: 20_000 }).toEqual([1, 2])
})
