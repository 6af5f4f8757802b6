import { type Clock, sleep, systemClock } from "../../../shared/time/clock.ts"
import { AppError, hasCode } from "../../../protocol/errors.ts"
import type { Retriability } from "./errors.ts"

export interface RetryPolicy {
  /** How often a failed request is made again. */
  readonly retries?: number
  /** The longest wait between two requests. Where the provider asks for more, none follows: nobody watches a run that long. */
  readonly maxWaitMs?: number
  readonly clock?: Clock
  /** 0 to 1; a test gives its own. */
  readonly random?: () => number
}

const DEFAULT_RETRIES = 2
const DEFAULT_MAX_WAIT_MS = 60_000
const FIRST_WAIT_MS = 500

/** Makes a request again after a failure that may pass: rate limits, overload, 5xx, a connection that broke. */
export async function retry<Result>(
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

/** How long to wait after the failure of this attempt, counted from 0; undefined where none is to follow. */
export function waitAfter(error: unknown, attempt: number, policy: RetryPolicy): number | undefined {
  const { retries = DEFAULT_RETRIES } = policy
  return attempt < retries && isRetriable(error) ? waitBefore(attempt, error, policy) : undefined
}

function isRetriable(error: unknown): error is AppError {
  // Who has not said a word for a minute is not given two more of them; a reply that had begun is the loop's to repeat.
  if (hasCode(error, "model_silent")) return false
  return error instanceof AppError && (error.details as Partial<Retriability>).retriable === true
}

/** How many requests are made at most. */
export const attemptsOf = ({ retries = DEFAULT_RETRIES }: RetryPolicy): number => retries + 1

function waitBefore(attempt: number, error: AppError, policy: RetryPolicy): number | undefined {
  const { maxWaitMs = DEFAULT_MAX_WAIT_MS, random = Math.random } = policy
  const { retryAfterMs } = error.details as Partial<Retriability>
  // Half of it by chance, so that many conversations that failed together do not come back together.
  const backOff = FIRST_WAIT_MS * 2 ** attempt * (0.5 + random() / 2)
  if (retryAfterMs === undefined) return Math.min(backOff, maxWaitMs)
  return retryAfterMs <= maxWaitMs ? retryAfterMs : undefined
}
