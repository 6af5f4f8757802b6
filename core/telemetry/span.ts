import { createHash } from "node:crypto"
import type { RunId } from "../protocol/ids.ts"

export type SpanAttributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

/** Something that has begun and ended, of one run. Times are milliseconds. */
export interface RunSpan {
  readonly run: RunId
  readonly id: string
  /** Nothing for the run itself. */
  readonly parent: string | undefined
  readonly name: string
  /** `client`: it waited for somebody outside this process. */
  readonly kind: "internal" | "client"
  readonly from: number
  readonly to: number
  readonly attributes: SpanAttributes
  /** The code of what went wrong; nothing where nothing did. */
  readonly error?: string | undefined
  readonly moments?: readonly SpanMoment[]
  /** The trace of whoever asked for the run, as the header `traceparent` has it. */
  readonly askedBy?: string | undefined
}

/** Something that happened at one time within a span. */
export interface SpanMoment {
  readonly name: string
  readonly at: number
  readonly attributes: SpanAttributes
}

const digest = (text: string, digits: number): string =>
  createHash("sha256").update(text).digest("hex").slice(0, digits)

/**
 * Ids follow from the run and from what the journal says of it, and from nothing else: whichever process tells a span, it
 * has this id, and a process that takes over goes on with the same trace without having been told of it.
 */
export const traceIdOf = (run: RunId): string => digest(`trace ${run}`, 32)

/** `what` is unique within the run: a kind and a position of the journal, or the id of a call. */
export const spanIdOf = (run: RunId, what: string): string => digest(`span ${run} ${what}`, 16)

/** The span of the run itself, that of which all others are parts. */
export const rootIdOf = (run: RunId): string => spanIdOf(run, "run")
