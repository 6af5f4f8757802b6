import { DoubtfulCalls } from "../gate/doubtful-calls.ts"
import type { Log } from "../../shared/log.ts"
import type { Runtime } from "./runtime.ts"

/** How often conversations are looked for that a dead process has left behind. */
const SWEEP_MS = 2000

/**
 * Takes up what dead processes left, at once and then again and again: who was killed a moment ago is not known to be dead
 * yet. It keeps no process alive that has nothing else to do. Returns what ends it, which waits for a look under way.
 */
export function startSweeping(runtime: Runtime, log: Log): () => Promise<void> {
  let looking: Promise<unknown> | undefined
  const doubts = new DoubtfulCalls(runtime.ports)
  const look = () => {
    looking ??= runtime
      .recover()
      .then(() => doubts.askTargets())
      .catch((error: unknown) => log.warn("sweep_failed", { error }))
      .finally(() => (looking = undefined))
  }
  look()
  const timer = setInterval(look, SWEEP_MS)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await looking
  }
}
