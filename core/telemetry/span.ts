import { createHash } from "node:crypto"
import type { RunId } from "../protocol/ids.ts"

export type SpanAttributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

/** A part of one run with a start and an end. Times are milliseconds. */
export interface RunSpan {
  readonly run: RunId
  readonly id: string
  /** Undefined for the run itself. */
  readonly parent: string | undefined
  readonly name: string
  /** `client`: it waited for something outside this process. */
  readonly kind: "internal" | "client"
  readonly from: number
  readonly to: number
  readonly attributes: SpanAttributes
  /** An error code, if it failed. */
  readonly error?: string | undefined
  readonly events?: readonly SpanEvent[]
  /** The trace of the request that started the run, as its `traceparent` header. */
  readonly callerTrace?: string | undefined
}

/** An event at one moment within a span. */
export interface SpanEvent {
  readonly name: string
  readonly at: number
  readonly attributes: SpanAttributes
}

const digest = (text: string, digits: number): string =>
  createHash("sha256").update(text).digest("hex").slice(0, digits)

/**
 * Ids depend only on the run and on its journal. So every process creates the same id for the same span, and a process
 * that takes over a run continues the same trace.
 */
export const traceIdOf = (run: RunId): string => digest(`trace ${run}`, 32)

/** `what` is unique within the run: a kind and a journal position, or the id of a call. */
export const spanIdOf = (run: RunId, what: string): string => digest(`span ${run} ${what}`, 16)

/** The id of the run's own span, the root of all others. */
export const rootIdOf = (run: RunId): string => spanIdOf(run, "run")
