import type { UiPart } from "../../protocol/dialects/ai-sdk.ts"

/** What stands beside a message as its metadata. */
export interface PawlMetadata {
  readonly conversationId?: string
  readonly runId?: string
  readonly status?: "paused" | "completed" | "cancelled" | "failed"
  readonly usage?: object
  readonly error?: { readonly code: string; readonly message: string }
  readonly createdAt?: string
}

interface Metadata {
  readonly pawl: PawlMetadata
}

/** The pieces of a UI message stream that we send. */
export type UiChunk =
  | { readonly type: "start"; readonly messageId: string; readonly messageMetadata?: Metadata }
  | { readonly type: "start-step" | "finish-step" | "reset-step" }
  | { readonly type: "text-start" | "text-end" | "reasoning-start" | "reasoning-end"; readonly id: string }
  | { readonly type: "text-delta" | "reasoning-delta"; readonly id: string; readonly delta: string }
  | CallChunk
  | SourceChunk
  | DataChunk
  | { readonly type: "steering-message"; readonly id: string; readonly parts: readonly UiPart[] }
  | { readonly type: "message-metadata"; readonly messageMetadata: Metadata }
  | { readonly type: "finish"; readonly finishReason: UiFinish; readonly messageMetadata: Metadata }
  | { readonly type: "abort"; readonly reason: string }
  | { readonly type: "error"; readonly errorText: string }

export type UiFinish = "stop" | "length" | "content-filter" | "tool-calls" | "interrupted"

/** Beside a call of the page's own tools: a tool of the agent's may have the same name. */
export const OF_PAGE = { pawl: { client: true } } as const

export type CallChunk =
  | {
      readonly type: "tool-input-available"
      readonly toolCallId: string
      readonly toolName: string
      readonly input: unknown
      readonly toolMetadata?: typeof OF_PAGE
    }
  | {
      readonly type: "tool-input-start"
      readonly toolCallId: string
      readonly toolName: string
      readonly toolMetadata: typeof OF_PAGE
    }
  | { readonly type: "tool-input-delta"; readonly toolCallId: string; readonly inputTextDelta: string }
  | {
      readonly type: "tool-input-error"
      readonly toolCallId: string
      readonly toolName: string
      readonly input: unknown
      readonly errorText: string
    }
  | {
      readonly type: "tool-approval-request"
      readonly approvalId: string
      readonly toolCallId: string
      readonly approvalDescriptor: object
      readonly reason: string
      readonly isAutomatic?: true
    }
  | {
      readonly type: "tool-approval-response"
      readonly approvalId: string
      readonly approved: boolean
      readonly reason?: string
    }
  | { readonly type: "tool-output-available"; readonly toolCallId: string; readonly output: unknown }
  | { readonly type: "tool-output-error"; readonly toolCallId: string; readonly errorText: string }
  | { readonly type: "tool-output-denied"; readonly toolCallId: string }

export type SourceChunk =
  | { readonly type: "source-url"; readonly sourceId: string; readonly url: string; readonly title: string }
  | {
      readonly type: "source-document"
      readonly sourceId: string
      readonly mediaType: string
      readonly title: string
    }

export interface DataChunk {
  readonly type: `data-${string}`
  readonly id?: string
  readonly data: unknown
  /** Told while it happens, and no part of the message. */
  readonly transient?: true
}
