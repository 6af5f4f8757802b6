import type { JsonObject } from "../../core/protocol/schema.ts"
import type { RunStatus } from "../../core/protocol/conversation/conversation.ts"

/** A call or a proposal of the conversation. */
export interface RecordedCall {
  readonly tool: string
  readonly arguments: JsonObject
  /** Its final status; `open` if it has none. */
  readonly status: string
  /** The start of the tool's answer. */
  readonly result?: string
}

/** The outcome of one message: its run until it is idle. */
export interface RecordedAnswer {
  /** The model's last text. */
  readonly text: string
  readonly calls: readonly RecordedCall[]
  readonly proposals: readonly RecordedCall[]
  readonly status: RunStatus
  /** The error of a failed run. */
  readonly error?: string
}

/** The time, tokens and cost of a run. */
export interface EvalSpent {
  /** Null if the price of a part is unknown. */
  readonly costUsd: number | null
  readonly inputTokens: number
  readonly outputTokens: number
  readonly modelCalls: number
  readonly toolCalls: number
  /** Without the time of waiting for people. */
  readonly ms: number
  /** The milliseconds of these that were spent waiting for a model. */
  readonly modelMs: number
}

/** An unmet expectation: its name, and a sentence. */
export interface FailedCheck {
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
