import { type Clock, sleep, systemClock } from "../../shared/time/clock.ts"
import { AppError, hasCode } from "../../protocol/errors.ts"
import type { Retriability } from "./errors/errors.ts"

export interface RetryPolicy {
  /** How often a failed request is repeated. */
  readonly retries?: number
  /**
   * The longest wait. If the provider asks for more, the request is not repeated, because a user does not wait that
   * long.
   */
  readonly maxWaitMs?: number
  readonly clock?: Clock
  /** From 0 to 1; for tests. */
  readonly random?: () => number
}

const DEFAULT_RETRIES = 2
const DEFAULT_MAX_WAIT_MS = 60_000
const FIRST_WAIT_MS = 500

/**
 * Repeats a request after a temporary failure: rate limits, overload, 5xx, a lost connection. Embedders use it; replies are
 * repeated by `#openWithRetries` of provider-model.ts.
 */
export async function retryRequest<Result>(
  request: () => Promise<Result>,
  policy: RetryPolicy,
  signal: AbortSignal,
): Promise<Result> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await request()
    } catch (error) {
      const wait = waitAfter(error, attempt, policy)
      if (wait === undefined) throw error
      await sleep(policy.clock ?? systemClock, wait, signal)
      signal.throwIfAborted()
    }
  }
}

/** The wait after the failure of this attempt, counted from 0; undefined if there is no retry. */
export function waitAfter(error: unknown, attempt: number, policy: RetryPolicy): number | undefined {
  const { retries = DEFAULT_RETRIES } = policy
  return attempt < retries && isRetriable(error) ? waitBefore(attempt, error, policy) : undefined
}

function isRetriable(error: unknown): error is AppError {
  // A model that was silent for a minute is not tried again here; a reply that had started is repeated by the loop.
  if (hasCode(error, "model_silent")) return false
  return error instanceof AppError && (error.details as Partial<Retriability>).retriable === true
}

/** The maximum number of requests. */
export const attemptsOf = ({ retries = DEFAULT_RETRIES }: RetryPolicy): number => retries + 1

function waitBefore(attempt: number, error: AppError, policy: RetryPolicy): number | undefined {
  const { maxWaitMs = DEFAULT_MAX_WAIT_MS, random = Math.random } = policy
  const { retryAfterMs } = error.details as Partial<Retriability>
  // With jitter, so that conversations that failed together do not retry together.
  const backOff = FIRST_WAIT_MS * 2 ** attempt * (0.5 + random() / 2)
  if (retryAfterMs === undefined) return Math.min(backOff, maxWaitMs)
  return retryAfterMs <= maxWaitMs ? retryAfterMs : undefined
}
