import type { CallId, MessageId } from "../protocol/ids.ts"
import type { CallStatus, MessageFile, PaidBy, Part, ReplyFinish, Usage } from "../protocol/conversation/message.ts"
import type { JsonObject } from "../protocol/schema.ts"
import type { ReplySettings, SettingName } from "../protocol/conversation/reply-settings.ts"

/** The share of a model's context window that history may use. The rest is for instructions, tools and the answer. */
export const HISTORY_SHARE = 0.75

/** A language model. Providers, the scripted model and the offline model implement it. */
export interface Model {
  readonly name: string
  readonly provider: string
  /** The name that usage is counted under, if a user chose the provider's name. */
  readonly countedAs?: string
  /** The size of the context window in tokens. History is truncated to fit. */
  readonly contextTokens: number
  /** Null if the price is unknown. If it is omitted, calls are not counted towards costs. */
  readonly price?: Price | null
  /** Who pays for calls. Default: the operator (`shared`). */
  readonly paidBy?: PaidBy
  /**
   * Which files the model accepts directly: images, documents (PDF). Other files are sent as text. Default: neither.
   */
  readonly sees?: { readonly images: boolean; readonly files: boolean }
  /**
   * False if the model is never used for verdicts, such as routing; those steps then use their fallback without a
   * model.
   */
  readonly decides?: false
  /** False if the model does not support tools. An agent with tools then fails before it sends a request. */
  readonly takesTools?: false
  /**
   * Streams one reply in parts. The stream must end with exactly one `finish` part; a stream that ends without it
   * counts as interrupted. Failures are thrown as errors with a code of `protocol/errors.ts`.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ReplyPart | StatusPart>
}

/** Dollars per million tokens. Input that the provider reads from or writes to its cache can have its own price. */
export interface Price {
  readonly input: number
  readonly output: number
  readonly cached?: number
  readonly cacheWrite?: number
}

/**
 * The reply limit under a cost limit if none is set, including thinking. A higher value would reserve so much that
 * small cost limits allow no call.
 */
export const USUAL_OUTPUT_TOKENS = 16_384

/** One request to a language model: the system prompt, the messages so far, and the tools that it may call. */
export interface ModelRequest {
  /** The name of the agent, for logs and scripted models. Not sent to providers. */
  readonly agent?: string
  readonly system: string
  /**
   * Append-only and shared with the conversation's state: read it, never change it. Every call in it has a
   * result.
   */
  readonly history: readonly HistoryMessage[]
  readonly tools: readonly ToolDeclaration[]
  /**
   * `none`: the model must answer in text. The tools are still declared, because some providers reject history with
   * tool calls otherwise.
   */
  readonly toolChoice: "auto" | "none"
  /** Set if the reply must be JSON for this decision. The instructions describe its shape. */
  readonly answers?: string
  /** The most output tokens, including thinking. It is set if a cost limit applies, and adapters must not drop it. */
  readonly maxOutputTokens?: number
  /** The reply settings. A model that does not support one leaves it out and reports this with a `left_out` part. */
  readonly settings?: ReplySettings
  /**
   * A JSON schema for the answer, also described in `system`. A provider that supports structured output can enforce
   * it.
   */
  readonly answerSchema?: JsonObject
}

/** A tool as a language model sees it: its name, its description and the JSON schema of its arguments. */
export interface ToolDeclaration {
  readonly name: string
  readonly description: string
  /** A JSON schema of type object for the arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>
}

/** One message of a request to a model: of the user, of the assistant (the model), or the results of its tool calls. */
export type HistoryMessage = UserTurn | AssistantTurn | ToolTurn

/** A user's message, or a note from the server, in a request to a model. */
export interface UserTurn {
  readonly role: "user"
  readonly text: string
  /** A note for the model between its replies, not a message of the user. */
  readonly isNote?: true
  /** The files attached to the message, as recorded in the journal. */
  readonly files?: TurnFiles
  /** The same files, in the same order, in the form that this model accepts. Computed for each request. */
  readonly shown?: readonly ShownFile[]
}

/** Files that are attached to a message or a tool result, by reference. Their bytes are stored separately. */
export interface NamedFiles {
  readonly items: readonly MessageFile[]
  /** A provider rejected these files, so they are no longer sent to any model in this form. */
  readonly withheld?: true
}

/** The files attached to a user's message, with the id of that message. */
export interface TurnFiles extends NamedFiles {
  readonly message: MessageId
}

/** A file in a request: its bytes with a line that describes it, or text in its place. */
export type ShownFile =
  | { readonly type: "words"; readonly text: string }
  | {
      readonly type: "bytes"
      readonly text: string
      readonly name: string
      readonly mediaType: string
      readonly bytes: Uint8Array
    }

/** An earlier reply of the model, in a later request to it. */
export interface AssistantTurn {
  readonly role: "assistant"
  /** In the order in which the model wrote them. */
  readonly parts: readonly Part[]
}

/** The results of the calls in the previous reply, in call order. */
export interface ToolTurn {
  readonly role: "tool"
  readonly results: readonly CallResult[]
  /** The files of all results, in the same order, in the form that this model accepts. Computed for each request. */
  readonly shown?: readonly ShownFile[]
}

/** The result of one tool call as the next request sends it to the model: how it ended, and its text. */
export interface CallResult {
  readonly callId: CallId
  readonly name: string
  readonly status: CallStatus
  readonly text: string
  /** Files in the result, as recorded in the journal. */
  readonly files?: NamedFiles
}

/**
 * Reports that the adapter waits before it retries the request. It is sent before the first part of the reply and shown
 * to people.
 */
export interface WaitingPart {
  readonly type: "waiting"
  /** The provider's display name. */
  readonly provider: string
  /** The error code of the failed request. */
  readonly because: string
  readonly ms: number
  /** The number of the next request, and the most requests that are made. */
  readonly attempt: number
  readonly attempts: number
}

/** Reports settings that the model ignores or applies differently. It is sent before the first part of the reply. */
export interface LeftOutPart {
  readonly type: "left_out"
  readonly settings: readonly { readonly name: SettingName; readonly because: string }[]
}

/**
 * A piece of a thinking block in progress, for live display. The first piece of a block may be empty. The whole block
 * follows as a `reasoning` part. A model that only reports whole blocks need not send this.
 */
export interface ThinkingPart {
  readonly type: "thinking"
  readonly text: string
}

/**
 * A part of a model's stream that is about the request and not part of the reply: a wait, an ignored setting, or
 * thinking in progress.
 */
export type StatusPart = WaitingPart | LeftOutPart | ThinkingPart

/** One part of a model's reply stream: text, a thinking block, a tool call, or the end of the reply. */
export type ReplyPart =
  | { readonly type: "text"; readonly text: string }
  /** One whole thinking block, with the metadata that the provider expects back. */
  | { readonly type: "reasoning"; readonly text: string; readonly metadata?: unknown }
  /** `input` is the JSON text as the model wrote it, valid or not. */
  | { readonly type: "call"; readonly name: string; readonly input: string; readonly metadata?: unknown }
  | { readonly type: "finish"; readonly finish: ReplyFinish; readonly usage: Usage }
