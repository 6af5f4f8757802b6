import type { JsonObject } from "../../core/protocol/schema.ts"
import type { RunStatus } from "../../core/protocol/conversation/conversation.ts"

/** A call or a proposal of the conversation, in the order in which they came. */
export interface HappenedCall {
  readonly tool: string
  readonly arguments: JsonObject
  /** How it ended; `open` where it has not. */
  readonly status: string
  /** The beginning of what the tool answered. */
  readonly result?: string
}

/** The outcome of one message: its run until it rests. */
export interface HappenedAnswer {
  /** The last words of the model. */
  readonly text: string
  readonly calls: readonly HappenedCall[]
  readonly proposals: readonly HappenedCall[]
  readonly status: RunStatus
  /** Why it failed. */
  readonly error?: string
}

/** The time, tokens and cost of a run. */
export interface EvalSpent {
  /** Null where the price of some of it is not known. */
  readonly costUsd: number | null
  readonly inputTokens: number
  readonly outputTokens: number
  readonly modelCalls: number
  readonly toolCalls: number
  /** Waiting for people not counted. */
  readonly ms: number
  /** The milliseconds of these that were spent waiting for a model. */
  readonly modelMs: number
}

/** Something that is not as a case expects it: of what, and in a sentence. */
export interface Unmet {
  readonly expectation: string
  readonly problem: string
}

export const NOTHING_SPENT: EvalSpent = {
  ...{ costUsd: 0, inputTokens: 0, outputTokens: 0, modelCalls: 0, toolCalls: 0, ms: 0, modelMs: 0 },
}

export function addSpent(a: EvalSpent, b: EvalSpent): EvalSpent {
  return {
    costUsd: a.costUsd === null || b.costUsd === null ? null : a.costUsd + b.costUsd,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    modelCalls: a.modelCalls + b.modelCalls,
    toolCalls: a.toolCalls + b.toolCalls,
    ms: a.ms + b.ms,
    modelMs: a.modelMs + b.modelMs,
  }
}
