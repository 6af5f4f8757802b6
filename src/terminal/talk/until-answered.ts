import { backOff } from "../../client/back-off.ts"
import { mayPass } from "../../client/stream/follow.ts"
import { hasCode } from "../../protocol/errors.ts"

/** Somebody sits here and waits. */
const LONGEST_MS = 5000
/** A server that is there and fails is not asked for ever. */
const MAX_FAILURES = 10

/**
 * Tries until the server has answered, whatever its answer is. While nobody is there this has no end: what it sends has to be
 * something that happens once however often it is sent.
 */
export async function untilAnswered<Value>(attempt: () => Promise<Value>): Promise<Value> {
  for (let failures = 1; ; failures++) {
    try {
      return await attempt()
    } catch (error) {
      const isAway = hasCode(error, "unreachable")
      if (!mayPass(error) || (!isAway && failures >= MAX_FAILURES)) throw error
      const ms = Math.min(LONGEST_MS, backOff({ failures, askedMs: error.retryAfterMs, random: Math.random }))
      await new Promise((resolve) => setTimeout(resolve, ms).unref())
    }
  }
}
