import type {
  CallId,
  AuditId,
  ConnectionId,
  ConversationId,
  MessageId,
  ProposalId,
  RunId,
  UserId,
} from "../protocol/ids.ts"
import type { ResultTaint } from "../protocol/events.ts"
import { type CallState, pauseReasonOf } from "../protocol/calls/call-state.ts"
import type { CallStatus, Usage } from "../protocol/conversation/message.ts"
import type { ConversationStatus, PauseReason, RunError, RunStatus } from "../protocol/conversation/conversation.ts"
import type { ClientTool } from "../protocol/conversation/tool-calls.ts"
import type { Question, SettledQuestion } from "../protocol/conversation/questions.ts"
import type { ReplySettings } from "../protocol/conversation/reply-settings.ts"
import type { JsonObject, Mode } from "../protocol/schema.ts"
import type { Site } from "./devices.ts"
import type { CountedGrant, OpenProposal } from "./conversation-writes.ts"
import type { InboxItem } from "./input.ts"
import type { HistoryMessage } from "./model.ts"
import type { JoinedTool } from "./definition/joined-tools.ts"
import type { RoutingState } from "./definition/agent.ts"
import type { StagesState } from "./definition/stages.ts"

/**
 * The state of a conversation after its journal events up to `position` were applied. Each event changes it in place,
 * without a copy, so that a step costs the same in a long conversation as in a short one. Only replay.ts changes it.
 */
export interface Conversation {
  readonly id: ConversationId
  readonly user: UserId
  position: number
  /** When the last event was recorded. */
  at: number
  /** The number of the last message, including numbers reserved for results. */
  seq: number
  agent: string
  model: string | null
  provider: string | null
  /** The models to try, in this order, if `model` fails. Null: those of its agent, or of the server. */
  fallback: readonly string[] | null
  /** Models that recently failed. Until the given time a run starts with another model. */
  spared: ReadonlyMap<string, SparedModel>
  mode: Mode
  title: string | null
  /** The reply settings of this conversation. */
  settings: ReplySettings
  /** Settings that a model does not support and that were reported to the user once. */
  leftOut: ReadonlySet<string>
  /** Who wrote the title. Undefined if there is none, or if it is the beginning of the first message. */
  titled: "person" | "model" | undefined
  /** The number of the first reply without tool calls. */
  firstAnswer: number | undefined
  /** The location of its tools: the server or a device, and which one. */
  site: Site
  deviceId: string | null
  /** The database that it queries. The connection may have been deleted since. */
  connectionId: ConnectionId | null
  /** The user's time zone, as reported last. */
  timeZone: string | null
  /** True if a message in `history`, or in what was cut off it, has files. */
  hasFiles: boolean
  /** The messages that the model is sent. `marks` has one entry for each, used for truncation. */
  history: HistoryMessage[]
  marks: Mark[]
  /** Estimated size of `history`. */
  tokens: number
  /** Models whose reasoning is in `history`. */
  reasoners: ReadonlySet<string>
  /** The ids of the user's last messages, so that a message that is sent twice is accepted once. */
  said: MessageId[]
  /** Notes that the model is sent together with the user's next message. */
  notes: string[]
  run: RunState | undefined
  /** Tools of connected MCP servers. */
  joined: readonly JoinedTool[]
  /** Tools that the client declared with the newest run and executes itself. */
  clientTools: readonly ClientTool[]
  /** Which tools the latest message is offered. */
  readonly routing: RoutingState
  /** The decisions of its agent's stages. */
  readonly stages: StagesState
  /** The calls of the newest reply, in call order. */
  calls: Call[]
  /** Unsettled proposals of all runs. */
  readonly proposals: Map<ProposalId, OpenProposal>
  /** Writes that were undone, with the proposals that undid them. */
  undone: ReadonlyMap<AuditId, ProposalId>
  /** Approvals in advance, by tool. */
  grants: ReadonlyMap<string, CountedGrant>
  /** The taint of the history. These names are stored in snapshots. */
  readonly hasSeen: {
    /** Untrusted text, from results. */
    outside: boolean
    /** Private data of the user. */
    private: boolean
    /** Client context, which may be both. */
    brought?: true
    /** Files of a work folder that the user has not marked as trusted. */
    folder?: true
    /** The first source of untrusted text, for people. */
    outsideFrom?: string
  }
  /** Client context by name, as the model was last sent it. */
  brought: ReadonlyMap<string, string>
  /** Records which parts of the history were removed or summarized. */
  readonly compaction: CompactionState
  /** State that tools have added. */
  state: Record<string, unknown>
  /**
   * Queued messages up to this number wait for the user's next message, because the last run was cancelled or failed.
   */
  heldUpTo: number
  /**
   * True if the journal has an event that this version does not know. Such a conversation is shown but not continued.
   */
  hasUnknownEvents: boolean
  /** The inbox as far as it was read. Not part of the journal. */
  inbox: readonly InboxItem[]
  /** The number of the newest input known to be in the inbox, read or not. Not part of the journal. */
  arrivals: number
}

export interface Mark {
  readonly seq: number
  tokens: number
  /**
   * Set on a message: the run that answers it. The message is not cut while that run, or one that resumes it, is
   * working.
   */
  readonly question?: RunId
  /** Set on the summary that replaces everything before it. */
  readonly isSummary?: true
  /** Set on results: the journal position of each. */
  readonly positions?: number[]
}

export interface CompactionState {
  /** Set if a summary is due, with the reason. */
  due: "full" | "asked" | undefined
  /**
   * The last message's number when a summary was last created or failed. It is not tried again before there are more
   * messages.
   */
  tried: number
  /** True if text was removed, so that the tools that search previous messages are offered. */
  hasGivenWay: boolean
  /** The user's recent decisions as text, newest last. */
  decisions: string[]
}

export interface RunState {
  readonly id: RunId
  readonly maxIterations: number
  readonly startedAt: number
  /** Set on a run that undoes an applied write. It ends with its call, without asking the model. */
  readonly undoes: AuditId | undefined
  /** Set on a run that proposes an expired proposal again. It ends with its call, too. */
  readonly again: ProposalId | undefined
  /** Set on a run that only summarizes the conversation. */
  readonly compacts: true | undefined
  /** Set on a summarizing run: the end state of the run before it, which can still be resumed. */
  readonly before: Pick<RunState, "status" | "maxIterations" | "asks"> | undefined
  readonly firstSeq: number
  /** The id of the credential that started or resumed this run, if known. */
  credential: string | undefined
  /**
   * True if a caller who may not approve started this run or sent a message to it: every write then needs a person's
   * approval.
   */
  asks: boolean
  /** Set if all its messages came from this device, which may approve writes to itself. */
  approves: string | undefined
  /** The user's time zone in this run. It changes only with a message of the user, and never while a call is open. */
  timeZone: string | undefined
  /** The run whose message it answers: itself, or the one it resumes. */
  question: RunId
  /** The reply settings of its messages. */
  settings: ReplySettings
  /** The JSON schema that its messages request for the answer. */
  schema: JsonObject | undefined
  /** How often its answer did not fit the schema. */
  mends: number
  status: Exclude<RunStatus, "paused">
  iteration: number
  endedAt: number | undefined
  reason: string | undefined
  error: RunError | undefined
  usage: Usage | undefined
  /** The model it uses instead of the chosen one, and the models that failed. */
  fallback: { readonly model: string; readonly failed: readonly FailedModel[] } | undefined
  /** The model that replied last. */
  model: string | undefined
  /** The tokens that the provider counted for the last reply and its request, and our estimate for the same. */
  counted: { readonly tokens: number; readonly estimated: number } | undefined
  /** Time spent working, without waiting for people. `countedWorkMs` subtracts time in which nothing was done. */
  workedMs: number
  /** The parts of it longer than a minute in which nothing was recorded. */
  longGapsMs: number[]
  /** How often the provider failed in the open step since the last progress. */
  restarts: number
  /** How often the process died while this run was open. */
  deaths: number
  blames: number
  /** True if this run alone can have caused the last death. */
  blamed: boolean
  /** Text shown of the last interrupted attempt at the open reply. */
  shown: string | undefined
  /** True if its tools of MCP servers were recorded. */
  hasJoined?: true
  /** True if a person is present who can answer questions of a tool's server. */
  attended?: true
  /** For a run of a sub-agent: the run that it works for. */
  rootRun?: RunId
  /** True if one of its calls has waited for another party. That time does not count as work. */
  hasWaited?: true
  /** How often in a row the model replied with calls only, although it was asked for text. */
  wordless: number
  /** The model for summaries failed in this run, so the conversation's own model writes them. */
  sumsUpItself: boolean
  /** Results of reads that can be reused until a write is applied. */
  reads: ReusableRead[]
  readonly toolHistory: { readonly callId: CallId; readonly name: string; readonly status: CallStatus }[]
}

export interface FailedModel {
  readonly model: string
  readonly because: string
  readonly message: string
}

export interface SparedModel extends Omit<FailedModel, "model"> {
  readonly until: number
}

export interface Call {
  readonly id: CallId
  readonly name: string
  /** When its reply was recorded. */
  readonly at: number
  /** The message number that is reserved for its result. */
  readonly seq: number
  /** The arguments that are executed: the model's, or those of a person's edit. */
  input: JsonObject
  isChanged: boolean
  readonly invalidInput: string | undefined
  state: CallState
  attempts: number
  startedAt: number
  /** Set on a call of a client tool: how long its result is waited for. */
  expiresAt?: number
  /** Set on a call that waits for another party: the state that it resumes from after a crash. */
  kept?: JsonObject
  /** Its question to the user, and how often it has asked. */
  question?: Question
  asked?: number
  /** The answers to its questions that outlast a process, by their number. */
  answers?: readonly SettledQuestion[]
  proposal: ProposalId | undefined
  /** The identical call before it. */
  duplicateOf: CallId | undefined
}

/** True if it contains untrusted text. Everything that its runs store from then on is marked as untrusted. */
export const hasSeenUntrusted = ({ hasSeen }: Pick<Conversation, "hasSeen">): boolean =>
  hasSeen.brought === true || hasSeen.folder === true || hasSeen.outside

/** The mark for text that its tools store. */
export const taintOf = ({ hasSeen }: Pick<Conversation, "hasSeen">): "untrusted" | "folder" | undefined =>
  hasSeen.brought === true || hasSeen.outside ? "untrusted" : hasSeen.folder ? "folder" : undefined

/** True if the server started the run itself for one call or for a summary, so that no model answers in it. */
export const isServerRun = (run: Partial<Pick<RunState, "undoes" | "again" | "compacts">>): boolean =>
  run.undoes !== undefined || run.again !== undefined || run.compacts === true

/** Calls without a result. A duplicate gets the result of the first call. */
export function openCalls(conversation: Conversation): Call[] {
  return conversation.calls.filter((call) => call.state !== "ended" && call.state !== "duplicate")
}

/** The reason why the run waits for a person, or undefined. */
export function pauseReason({ run, calls }: Conversation): PauseReason | undefined {
  return run?.status === "running" ? pauseReasonOf(calls) : undefined
}

/** True if the run waits for a person or for another party that a call has asked. That time does not count as work. */
export function isWaiting(conversation: Conversation): boolean {
  if (pauseReason(conversation)) return true
  const { run, calls } = conversation
  return run?.hasWaited === true && calls.some(isWaitingCall)
}

const isWaitingCall = ({ state, kept, question }: Call): boolean =>
  state === "started" && (kept !== undefined || question !== undefined)

export function runStatus(conversation: Conversation): RunStatus | undefined {
  return pauseReason(conversation) ? "paused" : conversation.run?.status
}

export function conversationStatus(conversation: Conversation): ConversationStatus {
  const status = runStatus(conversation)
  if (status === "running") return "running"
  if (status === "paused") return "awaiting_confirmation"
  return status === "failed" ? "failed" : "active"
}

/** Resets the failure counters, because something was recorded that need not be repeated. */
export function madeProgress(run: RunState): void {
  // Field by field: this runs for each result, and `Object.assign` costs more than everything else in it.
  run.restarts = run.deaths = run.blames = 0
  run.blamed = false
}

export const NO_DEATHS = { restarts: 0, deaths: 0, blames: 0, blamed: false }

/** The result of a read that the run can reuse. */
export interface ReusableRead {
  readonly callId: CallId
  readonly name: string
  readonly input: JsonObject
  readonly text: string
  readonly data: unknown
  /** The taint of the result, which a reuse has as well. */
  readonly brings: ResultTaint | undefined
}
