/**
 * Loaded into a process by `--import`: of its timers those that are set to a second or more never ring. What it does all
 * the same it does at once, however long the machine takes for it; what waits for a lease, a patience or the next round
 * never comes. A process that is not quick then hangs, on any machine, and one that is quick is so on a busy one.
 */
const LONG_MS = 1000

/** A day is as good as never, and an alarm that can be taken back. */
const NEVER_MS = 24 * 60 * 60 * 1000

const { setTimeout: after, setInterval: every } = globalThis
const longest = (ms = 0) => (ms >= LONG_MS ? NEVER_MS : ms)
globalThis.setTimeout = Object.assign(
  (ring: () => void, ms?: number, ...words: []) => after(ring, longest(ms), ...words),
  after,
)
globalThis.setInterval = Object.assign(
  (ring: () => void, ms?: number, ...words: []) => every(ring, longest(ms), ...words),
  every,
)
