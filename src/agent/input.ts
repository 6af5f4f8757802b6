import type { CallId, ConversationId, InboxId, MessageId, ProposalId, UserId } from "../protocol/ids.ts"
import type { JsonObject, Mode } from "../protocol/schema.ts"

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
  /** With a credential: only of the run that this credential has set going. */
  | { readonly type: "cancel"; readonly by: string; readonly credential?: string }
  | { readonly type: "resume"; readonly by: string; readonly credential?: string }
  | {
      readonly type: "settings"
      readonly model?: string
      readonly provider?: string
      readonly mode?: Mode
      readonly title?: string
    }
  /** A write that outlived its call: sent by the node that ran it. */
  | { readonly type: "late_result"; readonly callId: CallId; readonly status: "ok" | "error"; readonly text: string }

export interface MessageInput {
  readonly type: "message"
  readonly id: MessageId
  readonly text: string
  /** While a run works: wait for its end, enter at the next safe point, or be refused. */
  readonly when: "queue" | "steer" | "reject"
  readonly maxIterations?: number
  /** The id of what its sender came in with: the run that it starts stops when that is revoked. */
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
  readonly id?: ConversationId
}
