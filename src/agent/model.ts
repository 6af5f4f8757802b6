import type { CallId, MessageId } from "../protocol/ids.ts"
import type { CallStatus } from "../protocol/conversation/call-status.ts"
import type { MessageFile } from "../protocol/conversation/message-file.ts"
import type { ReplyFinish, PaidBy, Part, Usage } from "../protocol/conversation/message.ts"
import type { JsonObject } from "../protocol/schema.ts"
import type { ReplySettings, SettingName } from "../protocol/conversation/reply-settings.ts"

/** The share of a model's context that history may fill; the rest is for instructions, tools and the answer. */
export const HISTORY_SHARE = 0.75

/** What the loop asks of a language model. Providers, the scripted and the offline model implement it in models/. */
export interface Model {
  readonly name: string
  readonly provider: string
  /** By what its calls are counted, where its provider's name is a person's own choice. */
  readonly countedAs?: string
  /** How many tokens it can read; the history is cut to fit. */
  readonly contextTokens: number
  /** Null where it is not known. Calls of a model that says nothing about it are not accounted for. */
  readonly price?: Price | null
  /** The operator's, where it says nothing. */
  readonly paidBy?: PaidBy
  /** What it can be shown as it is: images, documents (PDF). All else it gets as text; nothing, where it says nothing. */
  readonly sees?: { readonly images: boolean; readonly files: boolean }
  /** It is no judge of anything: where a decision is asked for, there is none. */
  readonly decides?: false
  /** It is known to take no tools: an agent that has some cannot work with it, and says so before it is asked. */
  readonly takesTools?: false
  /**
   * One reply, part by part. It must end with exactly one `finish`: a stream that merely stops is a broken reply, and
   * the caller treats it as one. Failures are thrown as errors with a code of protocol/errors.ts.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ReplyPart | BesidePart>
}

/** Dollars per million tokens. Input that the provider reads from or writes to its cache may cost more or less. */
export interface Price {
  readonly input: number
  readonly output: number
  readonly cached?: number
  readonly cacheWrite?: number
}

/** The longest reply under a ceiling, thinking included, where nobody has said another. More would set so much aside that small ceilings allow nothing. */
export const USUAL_OUTPUT_TOKENS = 16_384

export interface ModelRequest {
  readonly system: string
  /** Append-only and shared with the fold: read it, never change it. Every call in it has its result (promise 7). */
  readonly history: readonly HistoryMessage[]
  readonly tools: readonly ToolDeclaration[]
  /** `none`: the model must answer in words, though the tools stay declared (some providers refuse tool history without). */
  readonly toolChoice: "auto" | "none"
  /** The reply is wanted as JSON, for this decision: the instructions say in which shape. */
  readonly answers?: string
  /** The reply may not be longer, thinking included: set where a ceiling on costs holds, and never left out. */
  readonly maxOutputTokens?: number
  /** How it is to reply, as far as anybody has said. What the model does not know it leaves out, and says so. */
  readonly settings?: ReplySettings
  /** What the answer has to fit, told in `system` too: a provider that can hold a model to it may be asked to. */
  readonly answerSchema?: JsonObject
}

export interface ToolDeclaration {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments: always an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>
}

export type HistoryMessage = UserTurn | AssistantTurn | ToolTurn

export interface UserTurn {
  readonly role: "user"
  readonly text: string
  /** Nobody has said it: it is what the model is told between its replies. */
  readonly isNote?: true
  /** What came with the words, as the journal says. */
  readonly files?: TurnFiles
  /** The same, in the same order, as this model is shown it: made anew for each request. */
  readonly shown?: readonly ShownFile[]
}

export interface NamedFiles {
  readonly items: readonly MessageFile[]
  /** A provider has refused them: no model is shown them again as they are. */
  readonly withheld?: true
}

export interface TurnFiles extends NamedFiles {
  readonly message: MessageId
}

/** A file in a request: its bytes, with a line that says what they are, or words in their place. */
export type ShownFile =
  | { readonly type: "words"; readonly text: string }
  | {
      readonly type: "bytes"
      readonly text: string
      readonly name: string
      readonly mediaType: string
      readonly bytes: Uint8Array
    }

export interface AssistantTurn {
  readonly role: "assistant"
  /** In the order the model wrote them. */
  readonly parts: readonly Part[]
}

/** The results of the calls of the reply before it, in call order. */
export interface ToolTurn {
  readonly role: "tool"
  readonly results: readonly CallResult[]
  /** The files of all of them, in the same order, as this model is shown them behind the results: made anew for each request. */
  readonly shown?: readonly ShownFile[]
}

export interface CallResult {
  readonly callId: CallId
  readonly name: string
  readonly status: CallStatus
  readonly text: string
  /** What it has brought beside its words, as the journal says. */
  readonly files?: NamedFiles
}

/** No part of the reply: before its first one, the provider is not asked again for so long, and people are told. */
export interface WaitingPart {
  readonly type: "waiting"
  /** As people call it. */
  readonly provider: string
  /** The code of what it answered. */
  readonly because: string
  readonly ms: number
  /** Which request follows the wait, and how many there are at most. */
  readonly attempt: number
  readonly attempts: number
}

/** No part of the reply either: of its settings these do not count, or not as they were meant. Before the first part. */
export interface LeftOutPart {
  readonly type: "left_out"
  readonly settings: readonly { readonly name: SettingName; readonly because: string }[]
}

/**
 * Nor this: more of a block of thinking that is being written, for whoever watches. The first of a block may be empty. The
 * whole block follows as a part of the reply; a model that tells only whole ones need not say this.
 */
export interface ThinkingPart {
  readonly type: "thinking"
  readonly text: string
}

/** What is told beside a reply. */
export type BesidePart = WaitingPart | LeftOutPart | ThinkingPart

export type ReplyPart =
  | { readonly type: "text"; readonly text: string }
  /** One whole block of private thinking, with what its provider wants back. */
  | { readonly type: "reasoning"; readonly text: string; readonly metadata?: unknown }
  /** `input` is the JSON text as the model wrote it, valid or not. */
  | { readonly type: "call"; readonly name: string; readonly input: string; readonly metadata?: unknown }
  | { readonly type: "finish"; readonly finish: ReplyFinish; readonly usage: Usage }
