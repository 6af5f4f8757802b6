import type { RecordedModelCall } from "../protocol/conversation/stages.ts"
import type { Site } from "./devices.ts"
import type { ClientTool } from "../protocol/conversation/tool-calls.ts"
import type { ClientContext, MessageFile } from "../protocol/conversation/message.ts"
import type { InverseCall } from "../protocol/proposals/proposal.ts"
import type {
  AuditId,
  CallId,
  ConnectionId,
  ConversationId,
  InboxId,
  MessageId,
  ProposalId,
  QuestionId,
  RunId,
  UserId,
} from "../protocol/ids.ts"
import type { ResultTaint } from "../protocol/events.ts"
import type { QuestionAnswer } from "../protocol/conversation/questions.ts"
import type { ReplySettings, ReplySettingsPatch } from "../protocol/conversation/reply-settings.ts"
import type { JsonObject, Mode } from "../protocol/schema.ts"
import type { Effect } from "./conversation-writes.ts"

/** Everything that reaches a conversation from outside. What is busy keeps it in the inbox; what is idle takes it at once. */
export type Input =
  | MessageInput
  | {
      readonly type: "decide"
      readonly proposalId: ProposalId
      readonly decision: "commit" | "reject"
      readonly by: string
      readonly credential?: string
      readonly reason?: string
      /** With a commit: agree to so many later writes of the same tool, too. */
      readonly grant?: { readonly uses: number; readonly prefix?: string }
    }
  | {
      readonly type: "edit"
      readonly proposalId: ProposalId
      readonly arguments: JsonObject
      readonly by: string
      readonly credential?: string
    }
  | {
      readonly type: "resolve"
      readonly proposalId: ProposalId
      readonly choice: "retry" | "done" | "abandon"
      readonly by: string
      readonly credential?: string
    }
  | ClientResultsInput
  | AnswerInput
  | UndoInput
  | AgainInput
  /** Takes back what was agreed to beforehand, for one tool or all. */
  | { readonly type: "revoke"; readonly tool?: string; readonly by: string }
  | CancelInput
  /** Sums up what was said: a run at work does it before its next reply, one of its own where nothing is at work. */
  | { readonly type: "compact"; readonly by: string; readonly credential?: string }
  | {
      readonly type: "resume"
      readonly by: string
      readonly credential?: string
      readonly asks?: true
      readonly trace?: string
    }
  | {
      readonly type: "settings"
      readonly model?: string
      readonly provider?: string
      readonly mode?: Mode
      /** Set if the caller may not approve: a mode that is wider than the current one is refused. */
      readonly mayNotWiden?: true
      readonly title?: string
      /** A model has made the title: it gives way to a person's own. */
      readonly titledBy?: RecordedModelCall
      readonly fallback?: readonly string[] | null
      readonly site?: Site
      readonly deviceId?: string | null
      readonly connectionId?: ConnectionId | null
      readonly settings?: ReplySettingsPatch
    }
  /** A write that outlived its call: sent by the node that ran it. */
  | ({
      readonly type: "late_result"
      readonly callId: CallId
      readonly status: "ok" | "error"
      readonly text: string
      readonly brings?: ResultTaint
      /** Its target was asked what became of it, maybe by several nodes: counts once, and not after a person has decided. */
      readonly whileInDoubt?: true
      /** Which try of the call it tells of. */
      readonly attempt?: number
    } & Effect)

/** What a program brings of calls that were handed over to it. */
export interface ClientResultsInput {
  readonly type: "client_results"
  readonly results: readonly ClientResult[]
  readonly by: string
}

export interface ClientResult {
  readonly callId: CallId
  readonly status: "ok" | "error"
  readonly text: string
}

/** What a person answers to a tool's server. Only the call that asks takes it; for any other it comes too late. */
export interface AnswerInput extends QuestionAnswer {
  readonly type: "answer"
  readonly questionId: QuestionId
  readonly by: string
}

export interface CancelInput {
  readonly type: "cancel"
  readonly by: string
  /** Only of the run that this credential has set going. */
  readonly credential?: string
  /** Only of this run, which is one question's: what waits behind it is not held, but has its turn. */
  readonly run?: RunId
}

export interface MessageInput {
  readonly type: "message"
  readonly id: MessageId
  readonly text: string
  /** While a run works: wait for its end, enter at the next safe point, or be refused. */
  readonly when: "queue" | "steer" | "reject"
  readonly maxIterations?: number
  /** Where the person is who says it, if they tell. */
  readonly timeZone?: string
  /** How the model is to reply in the run that it begins or enters. */
  readonly settings?: ReplySettings
  /** A JSON schema that the answer has to fit. */
  readonly schema?: JsonObject
  /** What its sender's program sent along, bounded: the model is shown it as words from outside. */
  readonly brought?: readonly ClientContext[]
  /** Files of its sender, each of which is kept for as long as the conversation is. */
  readonly files?: readonly MessageFile[]
  /** Tools of its sender's program, for the run that it begins; the program runs them itself. */
  readonly clientTools?: readonly ClientTool[]
  /** What that program brings of calls that wait for it: told before these words. */
  readonly results?: ClientResultsInput
  /** The id of what its sender came in with: the run that it starts stops when that is revoked. */
  readonly credential?: string
  /** The device that it was said from, '' where it has no name: an operator lets it agree to what is written on itself. */
  readonly approves?: string
  /** Its sender may not approve: its run asks about every write, whatever the mode. */
  readonly asks?: true
  /** The `traceparent` of the request that it came with, where traces are told: the run that it starts links to it. */
  readonly trace?: string
  /** A person is there who can answer what a tool's server asks. */
  readonly attended?: true
  /** Refused unless this is the newest run still: its sender has not seen what was said since. Only with `reject`. */
  readonly behind?: RunId
  /** Where the run works that it begins. One that it enters stays where it is, and so does everything when it is refused. */
  readonly place?: RunSite
}

export interface RunSite {
  /** Of a conversation that works on devices; one on the server stays there. */
  readonly deviceId?: string
  readonly connectionId?: ConnectionId
}

/** Takes back an applied write, with the call that was recorded for that when it was applied. Never kept waiting. */
export interface UndoInput {
  readonly type: "undo"
  readonly auditId: AuditId
  /** What is undone, in words. */
  readonly summary: string
  /** Names the call that undoes. */
  readonly callId: CallId
  readonly inverse: InverseCall
  readonly by: string
  readonly credential?: string
}

/** Proposes once more what expired before anybody decided it. Never kept waiting. */
export interface AgainInput {
  readonly type: "again"
  readonly proposalId: ProposalId
  /** What it is, as it was shown: for a run of its own, where the one that wanted it has gone on without it. */
  readonly summary: string
  readonly tool: string
  readonly arguments: JsonObject
  /** Names the call of such a run. */
  readonly callId: CallId
  /** The applied write that it was to take back. */
  readonly undoes?: AuditId
  readonly by: string
  readonly credential?: string
}

/** An input that waits in the inbox of a busy conversation. */
export interface InboxItem {
  readonly id: InboxId
  /** Counts the inputs of its conversation; never used twice. */
  readonly number: number
  readonly input: Input
}

/** What a conversation begins with. */
export interface Beginning {
  readonly user: UserId
  readonly agent: string
  readonly model?: string | null
  readonly provider?: string | null
  readonly mode?: Mode
  readonly title?: string | null
  readonly fallback?: readonly string[] | null
  readonly site?: Site
  readonly deviceId?: string | null
  readonly connectionId?: ConnectionId | null
  readonly settings?: ReplySettings
  readonly id?: ConversationId
}

/** Said only where it is not the usual: most conversations never hear of a device, nor of a database. */
export const settingsOf = ({ site, deviceId, connectionId, fallback, settings }: Beginning) => ({
  ...(fallback ? { fallback: [...fallback] } : {}),
  ...(site === "device" ? { site, ...(deviceId ? { deviceId } : {}) } : {}),
  ...(connectionId ? { connectionId } : {}),
  ...(settings ? { settings } : {}),
})
