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
