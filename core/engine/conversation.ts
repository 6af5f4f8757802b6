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
import type { Question } from "../protocol/conversation/questions.ts"
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
  /** The number of the last message, places reserved for results included. */
  seq: number
  agent: string
  model: string | null
  provider: string | null
  /** Which models answer, in this order, where `model` cannot; null: those of its agent, or of the server. */
  fallback: readonly string[] | null
  /** Models that could not answer: until then a run begins with another one. */
  spared: ReadonlyMap<string, SparedModel>
  mode: Mode
  title: string | null
  /** How its model is to reply, as far as that was set for it. */
  settings: ReplySettings
  /** What people were told of settings that a model does not know: not told again. */
  leftOut: ReadonlySet<string>
  /** Whose the title is. Undefined while it is nobody's: none, or the first words of the first message. */
  titled: "person" | "model" | undefined
  /** The number of the first reply that was no call. */
  firstAnswer: number | undefined
  /** Where its tools run, and on which device. */
  site: Site
  deviceId: string | null
  /** The database that it works on. The connection may have been deleted since. */
  connectionId: ConnectionId | null
  /** Where the person last said that they are. */
  timeZone: string | null
  /** Files were sent along with words of `history`, or of what has been cut off since. */
  hasFiles: boolean
  /** What the model is shown; `marks` says the same about each entry for the one who cuts it. */
  history: HistoryMessage[]
  marks: Mark[]
  /** Estimated size of `history`. */
  tokens: number
  /** Models whose private reasoning stands in `history`. */
  reasoners: ReadonlySet<string>
  /** The ids of the last messages of the person: the same one is not taken twice. */
  said: MessageId[]
  /** What the model has to be told with the next words of the person. */
  notes: string[]
  run: RunState | undefined
  /** Tools of other people's servers that it has. */
  joined: readonly JoinedTool[]
  /** The tools of the program that began the newest run, which it runs itself. */
  clientTools: readonly ClientTool[]
  /** Which tools the newest words were given. */
  readonly routing: RoutingState
  /** What the stages of its agent have decided, where it has any. */
  readonly stages: StagesState
  /** The calls of the newest reply, in call order. */
  calls: Call[]
  /** Proposals that are not settled, of whichever run. */
  readonly proposals: Map<ProposalId, OpenProposal>
  /** Applied writes that were taken back, and the proposals that did it. */
  undone: ReadonlyMap<AuditId, ProposalId>
  /** By tool: what a person has agreed to beforehand. */
  grants: ReadonlyMap<string, CountedGrant>
  /** What results have brought in: words of others, and the person's own data; and whether a client sent along what may be both. */
  /** `folder`: files of a work folder that its person has not trusted. */
  readonly hasSeen: { outside: boolean; private: boolean; brought?: true; folder?: true; outsideFrom?: string }
  /** What clients have sent along, as the model was last shown it, by name. */
  brought: ReadonlyMap<string, string>
  /** What of the history has given way to what came later. */
  readonly compaction: CompactionState
  /** What tools have added. */
  state: Record<string, unknown>
  /** Messages queued up to this number wait until somebody speaks: the last run was cancelled or failed. */
  heldUpTo: number
  /** Holds an event this build does not know: shown, never continued. */
  hasUnknownEvents: boolean
  /** Waiting input, as far as it has been read; not part of the journal. */
  inbox: readonly InboxItem[]
  /** The number of the newest input that is known to have arrived there, read or not; not part of the journal either. */
  arrivals: number
}

export interface Mark {
  readonly seq: number
  tokens: number
  /** Set on words: the run that they are the question of. They are not cut while it, or one that resumes it, works. */
  readonly question?: RunId
  /** Set on what stands in the place of all that was said before. */
  readonly isSummary?: true
  /** Set on results: where each stands in the journal. */
  readonly positions?: number[]
}

export interface CompactionState {
  /** A summary is wanted, and why. */
  due: "full" | "asked" | undefined
  /** The number of the last message when a summary was last made, or could not be: not again before more was said. */
  tried: number
  /** Something has given way: the tools that find it again are shown. */
  hasGivenWay: boolean
  /** What the person has decided lately, in words, newest last. */
  decisions: string[]
}

export interface RunState {
  readonly id: RunId
  readonly maxIterations: number
  readonly startedAt: number
  /** Set on a run that takes back an applied write: it ends with its call, without asking the model. */
  readonly undoes: AuditId | undefined
  /** Set on a run that proposes once more what had expired; it ends with its call too. */
  readonly again: ProposalId | undefined
  /** Set on a run that sums up what was said, and does nothing else. */
  readonly compacts: true | undefined
  /** Of such a run: the last one before it that was more than that, as it has ended. It is left as it was, to be resumed. */
  readonly before: Pick<RunState, "status" | "maxIterations" | "asks"> | undefined
  /** The number of its first message. */
  readonly firstSeq: number
  /** The id of what the person came in with who set it going last, where that is known. */
  credential: string | undefined
  /** Somebody who may not approve has set it going or spoken into it: no mode and no grant agrees in the person's place. */
  asks: boolean
  /** All its words were said from this device, which may agree by itself to what is written on it. */
  approves: string | undefined
  /** What counts as the person's day. It changes only with their words, which no open call lives to see. */
  timeZone: string | undefined
  /** The run whose words it answers: itself, or the one it resumes. */
  question: RunId
  /** How the model is to reply in it, as its words have said. */
  settings: ReplySettings
  /** What its answer has to fit, as its words have asked for. */
  schema: JsonObject | undefined
  /** How often its answer did not fit. */
  mends: number
  status: Exclude<RunStatus, "paused">
  iteration: number
  endedAt: number | undefined
  reason: string | undefined
  error: RunError | undefined
  usage: Usage | undefined
  /** Which model it asks since the chosen one could not answer, and which ones could not. */
  fallback: { readonly model: string; readonly failed: readonly FailedModel[] } | undefined
  /** Which model has answered last. */
  model: string | undefined
  /** What its provider counted for the last reply, question included, and what we had estimated for the same. */
  counted: { readonly tokens: number; readonly estimated: number } | undefined
  /** Time spent working, waiting for people not counted. `workedMsWithin` leaves out what was no work. */
  workedMs: number
  /** Of it, each time of more than a minute in which nothing was recorded. */
  longGapsMs: number[]
  /** How often the open step broke off at the provider since the last progress. */
  restarts: number
  /** How often the process died while it was open; and how often it may have been the cause. */
  deaths: number
  blames: number
  /** The last death can have had no other cause. */
  blamed: boolean
  /** What was shown of the attempt at the open reply that broke off last. */
  shown: string | undefined
  /** Which tools of other servers it has is on record. */
  hasJoined?: true
  /** A person is there who can answer what a tool's server asks. */
  attended?: true
  /** A call of it has waited for others: that was no work. */
  hasWaited?: true
  /** Asked for words, the model has only called: how often in a row. */
  wordless: number
  /** The model of choice for summaries has failed in it: its own makes them. */
  sumsUpItself: boolean
  /** Answers of reads that may be reused: until a write is applied. */
  reads: ReusableRead[]
  readonly toolHistory: { readonly callId: CallId; readonly name: string; readonly status: CallStatus }[]
}

/** A model that was asked and could not answer. */
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
  /** When it was made: its reply's own time, which waiting for a person does not move. */
  readonly at: number
  /** The place its result takes among the messages. */
  readonly seq: number
  /** What runs: the model's arguments, or a person's after an edit. */
  input: JsonObject
  /** A person has changed the arguments. */
  isChanged: boolean
  readonly invalidInput: string | undefined
  state: CallState
  /** How often it was started. */
  attempts: number
  startedAt: number
  /** Of one that was handed over: until when its result is waited for. */
  expiresAt?: number
  /** Of one that waits for others: what it goes on with after a crash. */
  kept?: JsonObject
  /** What its server asks the person now, and how often it has asked. */
  question?: Question
  asked?: number
  proposal: ProposalId | undefined
  /** The call before it that asks for the same. */
  duplicateOf: CallId | undefined
}

/** Whether it has read untrusted content: what its runs store from then on is marked. */
export const hasSeenOutside = ({ hasSeen }: Pick<Conversation, "hasSeen">): boolean =>
  hasSeen.brought === true || hasSeen.folder === true || hasSeen.outside

/** What its tools mark stored text with. */
export const taintOf = ({ hasSeen }: Pick<Conversation, "hasSeen">): "untrusted" | "folder" | undefined =>
  hasSeen.brought === true || hasSeen.outside ? "untrusted" : hasSeen.folder ? "folder" : undefined

/** Whether a run was written by us, for one call or for a summary: no model answers in it. */
export const isOurs = (run: Partial<Pick<RunState, "undoes" | "again" | "compacts">>): boolean =>
  run.undoes !== undefined || run.again !== undefined || run.compacts === true

/** Those that have no result; a duplicate has its first call's, and ends with it. */
export function openCalls(conversation: Conversation): Call[] {
  return conversation.calls.filter((call) => call.state !== "ended" && call.state !== "duplicate")
}

/** Why the run waits for a person, if it does. */
export function pauseReason({ run, calls }: Conversation): PauseReason | undefined {
  return run?.status === "running" ? pauseReasonOf(calls) : undefined
}

/** Whether it waits, for a person or for others that a call has asked: that is no work of the run. */
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

/** Something was recorded that need not be done again: what broke off before is forgotten. */
export function madeProgress(run: RunState): void {
  // By hand: it happens with every result, and `Object.assign` costs more than the rest of it.
  run.restarts = run.deaths = run.blames = 0
  run.blamed = false
}

export const NO_DEATHS = { restarts: 0, deaths: 0, blames: 0, blamed: false }

/** The answer of a read that the run may use again. */
export interface ReusableRead {
  readonly callId: CallId
  readonly name: string
  readonly input: JsonObject
  readonly text: string
  readonly data: unknown
  /** What it held, which it holds again. */
  readonly brings: ResultTaint | undefined
}
