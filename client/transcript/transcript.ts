import type { CallStatus, Message, Usage } from "../../core/protocol/conversation/message.ts"
import type {
  ContextMeter,
  ConversationStatus,
  RunError,
  RunStatus,
} from "../../core/protocol/conversation/conversation.ts"
import type { ReplySettings } from "../../core/protocol/conversation/reply-settings.ts"
import type { Frame, UnknownFrame } from "../../core/protocol/frames.ts"
import type { CallId, RunId } from "../../core/protocol/ids.ts"
import type { NoticeView } from "../../core/protocol/notices.ts"
import type { Proposal } from "../../core/protocol/proposals/proposal.ts"
import type { JsonObject, Mode } from "../../core/protocol/schema.ts"

/**
 * The state of a conversation for display. Immutable: an item or list that is the same object as before has not
 * changed, so a UI can skip it.
 */
export interface Transcript {
  readonly title: string | null
  readonly agent: string | null
  readonly model: string | null
  readonly mode: Mode | null
  /** The reply settings of the conversation. */
  readonly settings: ReplySettings
  /** The selected database. It may have been deleted since. */
  readonly connectionId: string | null
  readonly status: ConversationStatus
  /** Oldest first. */
  readonly items: readonly Item[]
  /** The text of the reply in progress, shown after the items; null if there is none. Its `message` replaces it. */
  readonly writing: string | null
  /** The thinking of that reply, and its duration so far; null if there is none. */
  readonly thinking: { readonly text: string; readonly ms: number } | null
  /** True while a summary is being written, as far as this stream has seen. */
  readonly isSummingUp: boolean
  /** The newest run, as far as this stream has seen it. */
  readonly run: TranscriptRun | null
  /** The usage of the newest run. */
  readonly usage: Usage | null
  /** How much of the context window is used, and the cost so far; null if the server did not send it. */
  readonly context: ContextMeter | null
  /** The cursor to continue the event stream from. */
  readonly cursor: string
}

/** The last run of a conversation, as a transcript shows it: its status, its limits and why it ended. */
export interface TranscriptRun {
  readonly id: RunId
  readonly status: RunStatus
  readonly maxIterations: number
  readonly startedAt: string
  readonly endedAt: string | null
  /** Why the run ended, if it needs an explanation, such as `iteration_limit`. */
  readonly reason: string | null
  readonly error: RunError | null
}

/** One entry of a transcript. `key` is unique and stays the same while the item exists. */
export type Item = MessageItem | CallItem | ProposalItem | StepItem | NoticeItem | UnknownItem

/** A message as a transcript holds it, with the same fields as in the `message` frame. */
export type ShownMessage = Frame<"message">["data"]["message"]

/** A user's message, or a whole reply. */
export interface MessageItem {
  readonly type: "message"
  readonly key: string
  readonly message: ShownMessage
}

/**
 * `asked`: the model requested the call. `proposed`: it waits for approval. `approved`: it was approved. `handed_over`:
 * a client runs it. `ended`: an older server did not send how it ended. The others say how it ended; `in_doubt` may
 * wait for a decision.
 */
export type ShownCallState = "asked" | "proposed" | "approved" | "running" | "handed_over" | "ended" | CallStatus

/** A tool call in a transcript, with its state and result. */
export interface CallItem {
  readonly type: "call"
  readonly key: CallId
  readonly name: string
  /** The arguments that run: the model's, or those after a person's edit. */
  readonly input: JsonObject
  readonly state: ShownCallState
  /** True if it has its final result. */
  readonly isOver: boolean
  readonly text: string | null
  readonly data?: unknown
  readonly ms: number | null
  /** The end of a write that had been reported as interrupted or in doubt. */
  readonly delayedResult: { readonly status: "ok" | "error"; readonly text: string } | null
  /** An identical call earlier in the reply. It runs once, and this call has the same result. */
  readonly duplicateOf?: CallId
  /** The tool's progress while the call runs. */
  readonly progress?: string | undefined
  /** For `handed_over`: the deadline of the client. */
  readonly waitsUntil?: string | undefined
}

/** A proposal in a transcript: a write that needs or needed approval. */
export interface ProposalItem {
  readonly type: "proposal"
  readonly key: string
  readonly proposal: Proposal
  readonly decidedBy: string | null
  readonly reason: string | null
}

/** A named stage of a run, such as guardrail, routing or grading. */
export interface StepItem {
  readonly type: "step"
  readonly key: string
  readonly step: string
  readonly detail: unknown
  /** The model call of the stage, if it had one. */
  readonly asked?: Frame<"step">["data"]["asked"]
  /** When it was recorded. */
  readonly at: string
}

/** A notice in a transcript, such as a restart or a change of the model. */
export interface NoticeItem {
  readonly type: "notice"
  readonly key: string
  readonly notice: NoticeView["notice"]
  /** The reason: a cause, a code, a count or, for `compacted`, the summary. The UI formats it. */
  readonly detail: string | null
  /** For `compacted`: what the summary replaced and what it includes. */
  readonly summedUp?: NoticeView["summedUp"]
}

/** A frame in a transcript with a type that only a newer server knows, unchanged. */
export interface UnknownItem {
  readonly type: "unknown"
  readonly key: string
  readonly frame: UnknownFrame
}

/** The transcript of a conversation before its first frame: no items. */
export const emptyTranscript: Transcript = {
  title: null,
  agent: null,
  model: null,
  mode: null,
  settings: {},
  connectionId: null,
  status: "active",
  items: [],
  writing: null,
  thinking: null,
  isSummingUp: false,
  run: null,
  usage: null,
  context: null,
  cursor: "0",
}

/** Replaces a truncated message with the whole one, from the response of `readMessage`. */
export function withWhole(transcript: Transcript, message: Message): Transcript {
  const isIt = (item: Item) => item.type === "message" && item.key === message.id && item.message.truncated === true
  if (!transcript.items.some(isIt)) return transcript
  const items = transcript.items.map((item): Item =>
    isIt(item) ? { type: "message", key: message.id, message } : item,
  )
  return { ...transcript, items }
}
