import type { MiddlewareHandler } from "hono"
import { FairTurns } from "../../agent/concurrency/fair-turns.ts"
import type { Env } from "./request-env.ts"

/**
 * Before it is known who asks: thousands of connections over which nobody has been known yet may ask in one moment, and every
 * refusal takes its time, too.
 */
export function beginInTurns(): MiddlewareHandler<Env> {
  const turns = new FairTurns()
  return async (c, next) => {
    const turn = turns.enter(c.get("source").address ?? "")
    if (turn) await turn
    await next()
  }
}
