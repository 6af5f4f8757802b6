import { DoubtfulCalls } from "../gate/doubtful-calls.ts"
import type { Log } from "../../shared/log.ts"
import type { Runtime } from "./runtime.ts"

/** How often conversations of failed processes are searched for. */
const SWEEP_MS = 2000

/**
 * Continues the work of failed processes, now and then periodically: a process that was killed a moment ago is not yet
 * known to have failed. It does not keep the process alive. Returns a function that stops it and waits for a poll in
 * progress.
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
