import { z } from "zod"
import { RunError } from "./conversation/conversation.ts"
import { CallStatus, ClientContext, Finish, MessageFile, Part, Usage } from "./conversation/message.ts"
import { ReplySettings, ReplySettingsPatch } from "./conversation/reply-settings.ts"
import { RecordedModelCall, SummaryItems } from "./conversation/stages.ts"
import { Diff, InverseCall, Proposed } from "./proposals/proposal.ts"
import { ids, JsonObject, Mode } from "./schema.ts"

/** The version of event bodies that this build writes and reads. */
export const EVENT_VERSION = 1

/** A type of row of the journal, with what every row has. */
export const event = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: () => Shape) =>
  z.object({
    type: z.literal(type),
    version: z.literal(EVENT_VERSION),
    position: z.number().int().positive(),
    at: z.number().int(),
    ...shape(),
  })

/** The location of the tools: on the server (default) or on a device of the user. */
const place = () => ({ site: z.enum(["server", "device"]).optional(), deviceId: z.string().nullable().optional() })
/** The selected database; null if the selection was removed. */
const connection = () => ({ connectionId: ids.connection.nullable().optional() })
/** The models to try in this order if the chosen one fails; null: those of the agent or the server. */
const fallback = () => ({ fallback: z.array(z.string()).nullable().optional() })

/** The first event of every conversation: its agent, model and mode. */
export const ConversationStarted = event("conversation_started", () => ({
  agent: z.string(),
  model: z.string().nullable(),
  provider: z.string().nullable(),
  mode: Mode,
  title: z.string().nullable(),
  ...place(),
  ...connection(),
  ...fallback(),
  /** The reply settings of the conversation. */
  settings: ReplySettings.optional(),
  forkedFrom: z.object({ conversation: ids.conversation, position: z.number().int() }).optional(),
}))

/** The conversation's settings were changed. Omitted fields stay as they are. */
export const Settings = event("settings", () => ({
  model: z.string().optional(),
  provider: z.string().optional(),
  mode: Mode.optional(),
  title: z.string().optional(),
  /**
   * The model call that generated the title. Without a title, a user had set one in the meantime, and this only records
   * the usage.
   */
  titledBy: RecordedModelCall.optional(),
  ...place(),
  ...connection(),
  ...fallback(),
  /** The reply settings that were changed; null if a setting was removed. */
  settings: ReplySettingsPatch.optional(),
}))

/**
 * The sender may not approve writes, so the mode and grants do not apply, and each write is proposed. A token gains no
 * permissions from a conversation in `auto` mode.
 */
const asks = z.literal(true).optional()

/** The id of the sender's token or session. If it is revoked, the run stops. */
const credential = z.string().optional()

/** A run (the processing of one user message, or an undo) has started. */
export const RunStarted = event("run_started", () => ({
  runId: ids.run,
  maxIterations: z.number().int(),
  /** The run undoes this applied write. It does not ask the model and ends with its one call. */
  undoes: ids.audit.optional(),
  /** The run proposes this expired proposal again. It does not ask the model and ends with its one call. */
  again: ids.proposal.optional(),
  /** The run writes a summary of the history and then ends. */
  compacts: z.literal(true).optional(),
  ...{ credential, asks, attended: z.literal(true).optional() }, // attended: a person can answer a tool's server
  /** The time zone during the run: as sent with the message, the latest known one, or the server's. */
  timeZone: z.string().optional(),
  /** The `traceparent` of the request, if traces are exported. The run's trace links to it. */
  trace: z.string().optional(),
  /** For a run of a sub-agent: the run of a person that it works for, whose cost limit includes its cost. */
  rootRun: ids.run.optional(),
}))

/** A message of the user, or a whole reply of the model. */
export const MessageAdded = event("message", () => ({
  id: ids.message,
  seq: z.number().int().positive(),
  role: z.enum(["user", "assistant"]),
  parts: z.array(Part),
  finish: Finish.optional(),
  model: z.string().optional(),
  usage: Usage.optional(),
  /** The sender's time zone, if it was sent. */
  timeZone: z.string().optional(),
  asks,
  /**
   * The device that sent it ('' for one without a name) if the operator lets writes to that device run without
   * approval.
   */
  approves: z.string().optional(),
  /** The client context, as the model saw it before the message. */
  brought: z.array(ClientContext).optional(),
  /** For a user's message: the reply settings for its run, or for the rest of the active run. */
  settings: ReplySettings.optional(),
  /** For a user's message: its files. Their bytes are stored next to the journal. */
  files: z.array(MessageFile).optional(),
  /** For a user's message: the JSON schema for its answer. */
  schema: JsonObject.optional(),
  data: z.unknown().optional(), // of a reply, for programs and views: its checked citations
  request: z.string().optional(), // of a whole reply: the digests of its request, which `pawl replay` compares
}))

/** A named stage of the run (guardrail, routing, grading …), with its decision and its model call. */
export const Step = event("step", () => ({
  step: z.string(),
  detail: z.unknown().optional(),
  asked: RecordedModelCall.optional(),
}))

/** A tool call is about to be executed. Recorded before it can have any effect. */
export const ToolStart = event("tool_start", () => ({ callId: ids.call }))

/** A call of a client tool. The run waits for its result until `expiresAt`. */
export const CallDelegated = event("handed_over", () => ({ callId: ids.call, expiresAt: z.number() }))

/**
 * Possible content of a tool's result: third-party text (`outside`), the user's own data (`private`), or
 * `both`. `folder`: files of a work folder that the user has not trusted. They count as both, limited to that folder.
 */
export const ResultTaint = z.enum(["outside", "private", "both", "folder"])
export type ResultTaint = z.infer<typeof ResultTaint>
const brings = ResultTaint.optional()

/** Facts about an applied write, if the tool reports them, for the audit log and undo. */
const effect = () => ({
  /** The actual values before and after, which may differ from the proposal's diff. */
  change: Diff.optional(),
  /** The call that undoes the write, as computed by the tool's version at the time. */
  inverse: InverseCall.optional(),
})

/** The result of a call. It is also the tool's message, at the `seq` that the call reserved. */
export const ToolEnd = event("tool_end", () => ({
  callId: ids.call,
  id: ids.message,
  seq: z.number().int().positive(),
  status: CallStatus,
  text: z.string(),
  data: z.unknown().optional(),
  ms: z.number(),
  /** A stable code for reasons that programs need to distinguish, such as `proposal_stale`. */
  code: z.string().optional(),
  /** The earlier call of this run whose result is repeated. */
  reusedFrom: ids.call.optional(),
  /** Additions to the conversation's state. */
  state: JsonObject.optional(),
  ...effect(),
  brings,
  /** For a client tool: who sent the result, or continued without it. */
  by: z.string().optional(),
}))

/** All writes of one reply that need approval, proposed together. The run pauses here. */
export const AwaitingConfirmation = event("awaiting_confirmation", () => ({ proposals: z.array(Proposed) }))

/** One proposal: the edited successor of `replaces`, or one that is approved by policy. */
export const ProposalAdded = event("proposal", () => ({
  proposal: Proposed,
  replaces: ids.proposal.optional(),
  approvedBy: z.string().optional(),
}))

/**
 * The decision about a proposal; there is at most one. `edit` creates a successor with other arguments or, without any,
 * with the same ones.
 */
export const Decision = event("decision", () => ({
  proposalId: ids.proposal,
  decision: z.enum(["commit", "reject", "edit"]),
  by: z.string(),
  reason: z.string().optional(),
  arguments: JsonObject.optional(),
  /**
   * The approval also covers this many later writes of the same tool in this conversation; for commands, those with
   * this prefix.
   */
  grant: z.object({ uses: z.number().int().positive(), prefix: z.string().optional() }).optional(),
  credential,
}))

/** A user revoked a grant: for one tool, or all grants. */
export const GrantRevoked = event("grant_revoked", () => ({ tool: z.string().optional(), by: z.string() }))

/** After a crash or timeout, it is unknown whether a write was applied, and a person has to decide. */
export const InDoubt = event("in_doubt", () => ({ callId: ids.call, because: z.string() }))

/** A person decided what to do about a write in doubt, that is, if it is unknown whether it was applied. */
export const Resolution = event("resolution", () => ({
  ...{ callId: ids.call, choice: z.enum(["retry", "done", "abandon"]), by: z.string(), credential },
}))

/** A write that was reported as interrupted or in doubt has ended after all. */
export const LateResult = event("late_result", () => ({
  ...{ callId: ids.call, status: z.enum(["ok", "error"]), text: z.string(), data: z.unknown().optional() },
  ...{ ...effect(), brings },
}))

/** The attempt at the current step failed. Text shown since the last event is discarded. */
export const Restarted = event("restarted", () => ({
  because: z.enum(["crash", "handover", "provider"]),
  detail: z.string().optional(),
  /**
   * Why a crash does not count against this run alone: other runs were in a tool call too, or it only waited for a
   * provider.
   */
  blame: z.enum(["shared", "none"]).optional(),
  /**
   * The text that was shown, as far as it was recorded. It is stored as a broken reply if no later attempt writes text.
   */
  shown: z.string().optional(),
}))

/** A model failed before any text was shown. The run continues with the next model of its list. */
export const ModelFallback = event("fallback", () => ({
  from: z.string(),
  to: z.string(),
  /** The error's code and message. */
  because: z.string(),
  message: z.string(),
  /** The models between the two that were skipped, and why. */
  passed: z.array(z.object({ model: z.string(), because: z.string() })).optional(),
  /** The model was not asked, because it had failed shortly before, in a previous run. */
  earlier: z.literal(true).optional(),
  /** Until then, runs of this conversation start with another model, if there is one. */
  until: z.number().int(),
}))

/** Messages before `seq` are no longer sent to the model, except the current question and the last summary. */
export const HistoryCut = event("history_cut", () => ({
  seq: z.number().int(),
  tokens: z.number(),
  /** The summary was dropped too, because it alone is too long for this model. */
  summary: z.literal("dropped").optional(),
}))

/**
 * The history is shortened. `due`: a summary is needed before the next model call. `references`: results before `seq`
 * are replaced by references that a tool can read. `summary`: messages before `seq`, except the current question, are
 * replaced by this summary. `failed`: no summary could be written, and nothing has changed.
 */
export const Compaction = event("compaction", () => ({
  what: z.enum(["due", "references", "summary", "failed"]),
  /** For `due`: the history is too long for the model (`full`), or a user asked for it (`asked`). */
  because: z.enum(["full", "asked"]).optional(),
  by: z.string().optional(),
  seq: z.number().int().optional(),
  /** About how many tokens were freed; negative if the summary is longer than the messages it replaces. */
  tokens: z.number().optional(),
  /** How many messages the summary replaces, including tool results. */
  messages: z.number().int().optional(),
  summary: z.string().optional(),
  kept: SummaryItems.optional(),
  /** The summary may contain untrusted text: the id that marks where this text starts and ends. */
  outside: ids.message.optional(),
  /**
   * For `failed`: a code. For `due`: why the chosen model wrote no summary, so that the conversation's own model is
   * asked.
   */
  problem: z.string().optional(),
  asked: RecordedModelCall.optional(),
}))

/** A run has completed, failed or was cancelled. */
export const RunEnded = event("run_ended", () => ({
  status: z.enum(["completed", "failed", "cancelled"]),
  /**
   * Why the run ended, if it needs an explanation: `iteration_limit`, `reply_limit`, `empty_reply`, `superseded`,
   * `forked`, `imported`, `undo`, `compaction`.
   */
  reason: z.string().optional(),
  error: RunError.optional(),
  /** For `failed`: whether the last model rejected the request or its content. Other failures are temporary. */
  refuses: z.enum(["request", "content"]).optional(),
  /** Messages up to this number in the queue are held until the user sends another message. */
  heldUpTo: z.number().int().optional(),
}))

/**
 * Any event of a conversation's journal, the append-only record of what happened. Each event is one frame on every stream.
 * Events are only added: if a conversation has an event of a type or version that this build does not know, the build can
 * show it but not continue it.
 */
export const JournalEvent = z.discriminatedUnion("type", [
  ConversationStarted,
  Settings,
  RunStarted,
  MessageAdded,
  Step,
  ToolStart,
  CallDelegated,
  ToolEnd,
  AwaitingConfirmation,
  ProposalAdded,
  Decision,
  GrantRevoked,
  InDoubt,
  Resolution,
  LateResult,
  Restarted,
  ModelFallback,
  HistoryCut,
  Compaction,
  RunEnded,
])
export type JournalEvent = z.infer<typeof JournalEvent>
/** The type of a journal event, such as `run_started`. */
export type EventType = JournalEvent["type"]
/** The journal event with this `type`. */
export type EventOf<Type extends EventType> = Extract<JournalEvent, { type: Type }>

type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never
/** An event before it has a position in the journal. */
export type NewEvent = Without<JournalEvent, "version" | "position" | "at">

/** An event of a newer version. It is shown unchanged and has no effect. */
export interface UnknownEvent {
  readonly type: string
  readonly version: number
  readonly position: number
  readonly at: number
  readonly body: unknown
}
