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

/** All input to a conversation. A busy conversation stores it in the inbox; an idle one handles it at once. */
export type Input =
  | MessageInput
  | {
      readonly type: "decide"
      readonly proposalId: ProposalId
      readonly decision: "commit" | "reject"
      readonly by: string
      readonly credential?: string
      readonly reason?: string
      /** With a commit: also approve this many later writes of the same tool. */
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
  /** Revokes approvals in advance, for one tool or all. */
  | { readonly type: "revoke"; readonly tool?: string; readonly by: string }
  | CancelInput
  /** Summarizes the conversation: before the next reply of a running run, else in a run of its own. */
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
      /** Set if the caller may not approve: a wider mode is refused. */
      readonly mayNotWiden?: true
      readonly title?: string
      /** Set if a model wrote the title. It does not replace a title of the user. */
      readonly titledBy?: RecordedModelCall
      readonly fallback?: readonly string[] | null
      readonly site?: Site
      readonly deviceId?: string | null
      readonly connectionId?: ConnectionId | null
      readonly settings?: ReplySettingsPatch
    }
  /** The result of a write that ended after its call did, sent by the node that ran it. */
  | ({
      readonly type: "late_result"
      readonly callId: CallId
      readonly status: "ok" | "error"
      readonly text: string
      readonly brings?: ResultTaint
      /**
       * The target was asked for the result, perhaps by several nodes. It counts once, and not after a person has
       * decided.
       */
      readonly whileInDoubt?: true
      /** The attempt of the call that it reports on. */
      readonly attempt?: number
    } & Effect)

/** Results of client tools. */
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

/** The user's answer to a question of a tool's server. Only the call that asked accepts it; later it is refused. */
export interface AnswerInput extends QuestionAnswer {
  readonly type: "answer"
  readonly questionId: QuestionId
  readonly by: string
}

export interface CancelInput {
  readonly type: "cancel"
  readonly by: string
  /** Only if this credential started the run. */
  readonly credential?: string
  /** Only this run. Messages that wait behind it are not held. */
  readonly run?: RunId
}

export interface MessageInput {
  readonly type: "message"
  readonly id: MessageId
  readonly text: string
  /** If a run is working: wait for its end, join it at the next safe point, or be refused. */
  readonly when: "queue" | "steer" | "reject"
  readonly maxIterations?: number
  /** The user's time zone, if the client reports it. */
  readonly timeZone?: string
  /** Reply settings for the run that it starts or joins. */
  readonly settings?: ReplySettings
  /** A JSON schema that the answer must fit. */
  readonly schema?: JsonObject
  /** Client context, bounded. The model is sent it as untrusted text. */
  readonly brought?: readonly ClientContext[]
  /** Files of the sender. Each is stored as long as the conversation. */
  readonly files?: readonly MessageFile[]
  /** Tools of the client for the run that it starts. The client executes them. */
  readonly clientTools?: readonly ClientTool[]
  /** Results of client tools that the run waits for. They come before this message. */
  readonly results?: ClientResultsInput
  /** The id of the sender's credential. If it is revoked, the run that this message starts is cancelled. */
  readonly credential?: string
  /** Set if an operator lets the sender's device approve writes to itself: the device's name, '' without one. */
  readonly approves?: string
  /** Set if the sender may not approve: the run proposes every write, whatever the mode. */
  readonly asks?: true
  /** The request's `traceparent`, if tracing is on: the trace of the run that it starts links to it. */
  readonly trace?: string
  /** A person is present who can answer questions of a tool's server. */
  readonly attended?: true
  /** The run that a sub-agent works for. */
  readonly rootRun?: RunId
  /**
   * Refused unless this is still the newest run, because the sender has not seen anything after it. Only with `reject`.
   */
  readonly behind?: RunId
  /**
   * The location of the run that it starts. A run that it joins stays where it is, and so does the conversation if the
   * message is refused.
   */
  readonly place?: RunSite
}

export interface RunSite {
  /** For a conversation that works on devices. One on the server stays there. */
  readonly deviceId?: string
  readonly connectionId?: ConnectionId
}

/** Undoes an applied write with the call that was recorded when it was applied. It never waits. */
export interface UndoInput {
  readonly type: "undo"
  readonly auditId: AuditId
  /** A description of the undone write. */
  readonly summary: string
  /** The id of the call that undoes. */
  readonly callId: CallId
  readonly inverse: InverseCall
  readonly by: string
  readonly credential?: string
}

/** Proposes an expired proposal again. It never waits. */
export interface AgainInput {
  readonly type: "again"
  readonly proposalId: ProposalId
  /** Its description, as shown: for a run of its own, if the original run has continued without it. */
  readonly summary: string
  readonly tool: string
  readonly arguments: JsonObject
  /** The id of that run's call. */
  readonly callId: CallId
  /** The applied write that it was to undo. */
  readonly undoes?: AuditId
  readonly by: string
  readonly credential?: string
}

/** An input that waits in the inbox of a busy conversation. */
export interface InboxItem {
  readonly id: InboxId
  /** The number of the input in its conversation; never used twice. */
  readonly number: number
  readonly input: Input
}

/** The settings of a new conversation. */
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

/** Without the defaults: most conversations have no device and no database. */
export const settingsOf = ({ site, deviceId, connectionId, fallback, settings }: Beginning) => ({
  ...(fallback ? { fallback: [...fallback] } : {}),
  ...(site === "device" ? { site, ...(deviceId ? { deviceId } : {}) } : {}),
  ...(connectionId ? { connectionId } : {}),
  ...(settings ? { settings } : {}),
})
