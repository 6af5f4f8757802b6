/**
 * Loaded into a process by `--import`: its timers of a second or more never fire. All other work runs at once,
 * however long the machine takes for it; what waits for a lease, a timeout or the next round never happens. So a
 * process that waits hangs on any machine, and one that does not passes on a busy one too.
 */
const LONG_MS = 1000

/** A day counts as never, and the timer can still be cleared. */
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
