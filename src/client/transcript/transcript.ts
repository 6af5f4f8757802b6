import type { ConversationStatus } from "../../protocol/conversation/conversation.ts"
import type { CallStatus } from "../../protocol/conversation/call-status.ts"
import type { ContextMeter } from "../../protocol/conversation/context-meter.ts"
import type { Frame, UnknownFrame } from "../../protocol/frames.ts"
import type { CallId, RunId } from "../../protocol/ids.ts"
import type { Usage } from "../../protocol/conversation/message.ts"
import type { NoticeView } from "../../protocol/notices.ts"
import type { Proposal } from "../../protocol/proposals/proposal.ts"
import type { ReplySettings } from "../../protocol/conversation/reply-settings.ts"
import type { RunError, RunStatus } from "../../protocol/conversation/run.ts"
import type { JsonObject, Mode } from "../../protocol/schema.ts"

/**
 * What a person is shown of a conversation. Never changed in place: an item, or the list, that is the same object as
 * before has not changed, so a face redraws only what has.
 */
export interface Transcript {
  readonly title: string | null
  readonly agent: string | null
  readonly model: string | null
  readonly mode: Mode | null
  /** How its model is to reply, as far as that was set for it. */
  readonly settings: ReplySettings
  /** The database that it works on; the connection may have been deleted since. */
  readonly connectionId: string | null
  readonly status: ConversationStatus
  /** Oldest first. */
  readonly items: readonly Item[]
  /** The reply that is being written, to be shown after the items; null while none is. Its `message` takes its place. */
  readonly writing: string | null
  /** What was thought for that reply so far, and how long it took by then; null while nothing was. */
  readonly thinking: { readonly text: string; readonly ms: number } | null
  /** What was said is being summed up, as far as that was seen. */
  readonly isSummingUp: boolean
  /** The newest run, as far as it was seen. */
  readonly run: TranscriptRun | null
  /** What the newest run has used. */
  readonly usage: Usage | null
  /** How full it is for its model, and what it has cost so far; null where the server did not tell. */
  readonly context: ContextMeter | null
  /** How far this goes: where to go on with the event stream. */
  readonly cursor: string
}

export interface TranscriptRun {
  readonly id: RunId
  readonly status: RunStatus
  readonly maxIterations: number
  readonly startedAt: string
  readonly endedAt: string | null
  /** Why it ended where that is not plain, such as `iteration_limit`. */
  readonly reason: string | null
  readonly error: RunError | null
}

/** `key` is the same for as long as the item is there, and no other item has it. */
export type Item = MessageItem | CallItem | ProposalItem | StepItem | NoticeItem | UnknownItem

export type ShownMessage = Frame<"message">["data"]["message"]

/** Words of the person, or a whole reply. */
export interface MessageItem {
  readonly type: "message"
  readonly key: string
  readonly message: ShownMessage
}

/**
 * `asked`: the model wants it. `proposed`: a person has to decide. `approved`: somebody has. `handed_over`: a program of
 * the person's runs it. `ended`: known only from a
 * message of an older server, which does not say how. The others are how it ended; `in_doubt` may still wait for a
 * person's word.
 */
export type ShownCallState = "asked" | "proposed" | "approved" | "running" | "handed_over" | "ended" | CallStatus

/** One use of a tool. */
export interface CallItem {
  readonly type: "call"
  readonly key: CallId
  readonly name: string
  /** What runs: the model's arguments, or a person's after an edit. */
  readonly input: JsonObject
  readonly state: ShownCallState
  /** It has its result, which nothing will replace. */
  readonly isOver: boolean
  readonly text: string | null
  readonly data?: unknown
  readonly ms: number | null
  /** A write that was reported as interrupted or in doubt has ended after all. */
  readonly late: { readonly status: "ok" | "error"; readonly text: string } | null
  /** The call before it in its reply that asks for the same: it is done once, and this one gets its result. */
  readonly duplicateOf?: CallId
  /** How far it is while it runs, in words, as far as its tool tells. */
  readonly progress?: string | undefined
  /** Of `handed_over`: until when its program is waited for. */
  readonly waitsUntil?: string | undefined
}

/** A write that waits, or waited, for a decision. */
export interface ProposalItem {
  readonly type: "proposal"
  readonly key: string
  readonly proposal: Proposal
  readonly decidedBy: string | null
  readonly reason: string | null
}

/** A named stage of the run: guardrail, routing, grading … */
export interface StepItem {
  readonly type: "step"
  readonly key: string
  readonly step: string
  readonly detail: unknown
  /** Which model was asked for it, where one was. */
  readonly asked?: Frame<"step">["data"]["asked"]
  /** When it was recorded. */
  readonly at: string
}

/** Something that happened to the conversation, for a line in small print. */
export interface NoticeItem {
  readonly type: "notice"
  readonly key: string
  readonly notice: NoticeView["notice"]
  /** Why: a cause, a code, a count, of `compacted` the summary; to be put into words by the face. */
  readonly detail: string | null
  /** Of `compacted`: what gave way to the summary, and what was kept. */
  readonly summedUp?: NoticeView["summedUp"]
}

/** A frame of a newer server, as it came. */
export interface UnknownItem {
  readonly type: "unknown"
  readonly key: string
  readonly frame: UnknownFrame
}

/** A conversation of which nothing has been seen. */
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
