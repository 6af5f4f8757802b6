import { z } from "zod"
import { InverseCall } from "./proposals/audit.ts"
import { Brought } from "./conversation/brought.ts"
import { CallStatus } from "./conversation/call-status.ts"
import { KeptInSummary } from "./conversation/compaction.ts"
import { event } from "./define-event.ts"
import { MessageFile } from "./conversation/message-file.ts"
import { Finish, Part, Usage } from "./conversation/message.ts"
import { Diff, Proposed } from "./proposals/proposal.ts"
import { ReplySettings, ReplySettingsPatch } from "./conversation/reply-settings.ts"
import { RunError } from "./conversation/run.ts"
import { AskedModel } from "./conversation/stages.ts"
import { ids, JsonObject, Mode } from "./schema.ts"
import { lazily } from "./lazily.ts"

/**
 * The rows of the journal. One row is one frame on every stream. Rows are only ever added; a type or a version that
 * this build does not know marks the conversation as one it may show but not continue (LOOP-12).
 */

/** Where its tools run: on the server, unless this says otherwise, or on a device of the person. */
const place = () => ({ site: z.enum(["server", "device"]).optional(), deviceId: z.string().nullable().optional() })
/** The database of the person that it works on; null where it was taken off again. */
const connection = () => ({ connectionId: ids.connection.nullable().optional() })
/** Which models answer, one after the other, where the chosen one cannot; null: those of its agent, or of the server. */
const fallback = () => ({ fallback: z.array(z.string()).nullable().optional() })

export const ConversationStarted = event("conversation_started", () => ({
  agent: z.string(),
  model: z.string().nullable(),
  provider: z.string().nullable(),
  mode: Mode,
  title: z.string().nullable(),
  ...place(),
  ...connection(),
  ...fallback(),
  /** How the model is to reply, as far as that was said here. */
  settings: ReplySettings.optional(),
  forkedFrom: z.object({ conversation: ids.conversation, position: z.number().int() }).optional(),
}))

/** Something about the conversation was set; absent fields stay as they were. */
export const Settings = event("settings", () => ({
  model: z.string().optional(),
  provider: z.string().optional(),
  mode: Mode.optional(),
  title: z.string().optional(),
  /** The title is this model's. Without one beside it a person was faster: then it only says what was used. */
  titledBy: AskedModel.optional(),
  ...place(),
  ...connection(),
  ...fallback(),
  /** Of how the model is to reply only what was set with this; null where it was taken back. */
  settings: ReplySettingsPatch.optional(),
}))

/**
 * Who said it, or set it going, may not approve: what the mode or a grant would agree to is asked about until the run ends.
 * What a token may do does not grow because somebody else's conversation is in `auto`.
 */
const asks = lazily(() => z.literal(true).optional())

/** The id of what somebody came in with, of a token or a session; the run that they set going stops when it is revoked. */
const credential = lazily(() => z.string().optional())

export const RunStarted = event("run_started", () => ({
  runId: ids.run,
  maxIterations: z.number().int(),
  /** The run is no question to the model: it takes back this applied write, and ends when its one call has. */
  undoes: ids.audit.optional(),
  /** The run is no question to the model: it proposes once more what had expired, and ends when its one call has. */
  again: ids.proposal.optional(),
  /** The run is no question to the model: it sums up what was said, and ends when that is done. */
  compacts: z.literal(true).optional(),
  ...{ credential, asks, attended: z.literal(true).optional() }, // attended: a person can answer a tool's server
  /** What counts as the person's day while it works: as they said, or as they last said, or the server's own zone. */
  timeZone: z.string().optional(),
  /** The trace of the program that asked, as its `traceparent` said, where traces are told: that of the run links to it. */
  trace: z.string().optional(),
}))

/** Words of the person or a whole reply of the model. */
export const MessageAdded = event("message", () => ({
  id: ids.message,
  seq: z.number().int().positive(),
  role: z.enum(["user", "assistant"]),
  parts: z.array(Part),
  finish: Finish.optional(),
  model: z.string().optional(),
  usage: Usage.optional(),
  /** Where the person was who said it, if they told. */
  timeZone: z.string().optional(),
  asks,
  /** Said from this device, '' for one without a name, which an operator lets agree by itself to what is written on it. */
  approves: z.string().optional(),
  /** What the client sent along with the words, as the model was shown it before them. */
  brought: z.array(Brought).optional(),
  /** Of a person's words: how the model is to reply in the run that they begin, or for the rest of the one they enter. */
  settings: ReplySettings.optional(),
  /** Of a person's words: what files came with them. Their bytes are kept beside the journal. */
  files: z.array(MessageFile).optional(),
  /** Of a person's words: the JSON schema that the answer to them has to fit. */
  schema: JsonObject.optional(),
  data: z.unknown().optional(), // of a reply, for programs and views: what its citations are bound to
  request: z.string().optional(), // of a whole reply: the digests of what it answers, by which `pawl replay` compares
}))

/** A named stage of the run: guardrail, routing, grading … with what it decided, and which model it asked for that. */
export const Step = event("step", () => ({
  step: z.string(),
  detail: z.unknown().optional(),
  asked: AskedModel.optional(),
}))

/** Journaled before the effect of a call. */
export const ToolStart = event("tool_start", () => ({ callId: ids.call }))

/** A call of a tool that the person's program runs itself: it waits for the result until then. */
export const CallHandedOver = event("handed_over", () => ({ callId: ids.call, expiresAt: z.number() }))

/** What the text of a result may hold: words of others, the person's own data, or both (GATE-08). */
const brings = lazily(() => z.enum(["outside", "private", "both"]).optional())

/** What is known of a write that was applied, where its tool tells: for the audit, and for whoever wants to undo it. */
const effect = () => ({
  /** What really was there before and after, which may differ from what the proposal showed. */
  change: Diff.optional(),
  /** The call that takes it back, as the tool's version of that moment says. */
  inverse: InverseCall.optional(),
})

/** The one result of a call. It is also the tool's message, in the place that its call reserved. */
export const ToolEnd = event("tool_end", () => ({
  callId: ids.call,
  id: ids.message,
  seq: z.number().int().positive(),
  status: CallStatus,
  text: z.string(),
  data: z.unknown().optional(),
  ms: z.number(),
  /** A stable code where a program has to tell reasons apart, such as `proposal_stale`. */
  code: z.string().optional(),
  /** The earlier call of this run whose result this repeats. */
  reusedFrom: ids.call.optional(),
  /** What the tool adds to the conversation's state. */
  state: JsonObject.optional(),
  ...effect(),
  brings,
  /** Of a call that was handed over: who brought its result, or went on without it. */
  by: z.string().optional(),
}))

/** All gated writes of one reply, proposed together; the run pauses here. */
export const AwaitingConfirmation = event("awaiting_confirmation", () => ({ proposals: z.array(Proposed) }))

/** One proposal by itself: the edited successor of `replaces`, or one that policy has approved already. */
export const ProposalAdded = event("proposal", () => ({
  proposal: Proposed,
  replaces: ids.proposal.optional(),
  approvedBy: z.string().optional(),
}))

/** The one decision a proposal ever gets. `edit` asks for a successor with other arguments; without any, with the same ones. */
export const Decision = event("decision", () => ({
  proposalId: ids.proposal,
  decision: z.enum(["commit", "reject", "edit"]),
  by: z.string(),
  reason: z.string().optional(),
  arguments: JsonObject.optional(),
  /** A commit that also agrees to so many later writes of the same tool in this conversation. */
  grant: z.object({ uses: z.number().int().positive() }).optional(),
  credential,
}))

/** A person takes back what they have agreed to beforehand: for one tool, or all of it. */
export const GrantRevoked = event("grant_revoked", () => ({ tool: z.string().optional(), by: z.string() }))

/** A crash or time-out left a write about which its target cannot tell; a person has to. */
export const InDoubt = event("in_doubt", () => ({ callId: ids.call, because: z.string() }))

export const Resolution = event("resolution", () => ({
  ...{ callId: ids.call, choice: z.enum(["retry", "done", "abandon"]), by: z.string(), credential },
}))

/** A write that was reported as interrupted or in doubt has ended after all. */
export const LateResult = event("late_result", () => ({
  ...{ callId: ids.call, status: z.enum(["ok", "error"]), text: z.string(), data: z.unknown().optional() },
  ...{ ...effect(), brings },
}))

/** The attempt at the open step died; text shown since the last event belongs to the dead attempt. */
export const Restarted = event("restarted", () => ({
  because: z.enum(["crash", "handover", "provider"]),
  detail: z.string().optional(),
  /** Why a crash is not held against this run alone: others were in a tool call too, or it only waited for a provider. */
  blame: z.enum(["shared", "none"]).optional(),
  /** What was shown of it, as far as the writer lived to say: kept as a broken reply if no later attempt says a word. */
  shown: z.string().optional(),
}))

/** A model could not answer, and nothing of its reply was seen: the run goes on with the next one of its list. */
export const ModelFallback = event("fallback", () => ({
  from: z.string(),
  to: z.string(),
  /** The code of what went wrong, and its sentence. */
  because: z.string(),
  message: z.string(),
  /** Of those between the two: why each was passed over. */
  passed: z.array(z.object({ model: z.string(), because: z.string() })).optional(),
  /** It was not asked this time, since it had failed a moment ago, in a run before this one. */
  earlier: z.literal(true).optional(),
  /** Until then the runs of this conversation begin with another one, where there is one. */
  until: z.number().int(),
}))

/** Messages before `seq` are no longer shown to the model, except the question being answered and the last summary. */
export const HistoryCut = event("history_cut", () => ({
  seq: z.number().int(),
  tokens: z.number(),
  /** The summary went too: it alone was too much for this model. */
  summary: z.literal("dropped").optional(),
}))

/**
 * The history makes room. `due`: a summary is wanted, and is made before the model is asked again. `references`: results
 * before `seq` are told as a reference by which a tool reads them again. `summary`: messages before `seq`, except the
 * question being answered, are told as this summary. `failed`: none could be made, and nothing has changed.
 */
export const Compaction = event("compaction", () => ({
  what: z.enum(["due", "references", "summary", "failed"]),
  /** Of `due`: the history has outgrown the model, or somebody asked for it. */
  because: z.enum(["full", "asked"]).optional(),
  by: z.string().optional(),
  seq: z.number().int().optional(),
  /** About how many tokens the history is shorter now; below zero where a summary is longer than what it stands for. */
  tokens: z.number().optional(),
  /** How many messages gave way to the summary, results of tools among them. */
  messages: z.number().int().optional(),
  summary: z.string().optional(),
  kept: KeptInSummary.optional(),
  /** Words from outside may speak through the summary: the id that marks where they begin and end. */
  outside: ids.message.optional(),
  /** Of `failed`: a code. Of `due`: why the model of choice has made none, so that the conversation's own is asked. */
  problem: z.string().optional(),
  asked: AskedModel.optional(),
}))

export const RunEnded = event("run_ended", () => ({
  status: z.enum(["completed", "failed", "cancelled"]),
  /** Why it ended where that is not plain: `iteration_limit`, `reply_limit`, `empty_reply`, `superseded`, `forked`, `undo`, `compaction`. */
  reason: z.string().optional(),
  error: RunError.optional(),
  /** Of `failed`: whether its last model did not take the request as such, or what stands in it. Anything else passes. */
  refuses: z.enum(["request", "content"]).optional(),
  /** Messages queued up to this number of the inbox are held until somebody speaks; what came later is the next message. */
  heldUpTo: z.number().int().optional(),
}))

export const JournalEvent = lazily(() =>
  z.discriminatedUnion("type", [
    ConversationStarted,
    Settings,
    RunStarted,
    MessageAdded,
    Step,
    ToolStart,
    CallHandedOver,
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
  ]),
)
export type JournalEvent = z.infer<typeof JournalEvent>
export type EventType = JournalEvent["type"]
export type EventOf<Type extends EventType> = Extract<JournalEvent, { type: Type }>

type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never
/** An event before the journal has given it its place. */
export type NewEvent = Without<JournalEvent, "version" | "position" | "at">

/** A row of a newer Pawl: shown as it is, never acted on. */
export interface UnknownEvent {
  readonly type: string
  readonly version: number
  readonly position: number
  readonly at: number
  readonly body: unknown
}
