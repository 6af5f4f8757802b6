import { AppError, failure, hasCode } from "../protocol/errors.ts"
import type { Parts } from "./parts.ts"

type Closing = Pick<Parts, "closing">

/** Refuses what is asked of one that was closed. */
export function refuseClosed({ closing }: Closing): void {
  if (closing.aborted) throw failure("draining")
}

/**
 * The same work; where its store is closed in the middle of it, that is said. What a store says of itself then sounds as
 * if it came back, or is no code of ours.
 */
export function orClosed<T>({ closing }: Closing, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    const isOfStore = !(error instanceof AppError) || hasCode(error, "store_unavailable")
    throw closing.aborted && isOfStore ? failure("draining") : error
  })
}

/** The same calls, each of which says when it was closed meanwhile. */
export function untilClosed<Calls extends object>(parts: Closing, calls: Calls): Calls {
  const told = Object.entries(calls).map(([name, call]: [string, (...given: unknown[]) => unknown]) => {
    const asked = (...given: unknown[]) => {
      const work = call(...given)
      return work instanceof Promise ? orClosed(parts, work) : work
    }
    return [name, asked] as const
  })
  return Object.fromEntries(told) as Calls
}
