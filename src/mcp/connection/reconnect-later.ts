const LEAST_MS = 1000
const MAX_MS = 30_000

/**
 * Opens a stream again that its server has ended, after as long as it wants, within these. What a server says goes
 * otherwise: one that wants nothing in between, or more than a timer can count, would have us ask it without a pause.
 */
export function reconnectLater(reconnect: () => void, delayMs: number): () => void {
  const timer = setTimeout(reconnect, Math.min(MAX_MS, Math.max(LEAST_MS, delayMs)))
  return () => clearTimeout(timer)
}
