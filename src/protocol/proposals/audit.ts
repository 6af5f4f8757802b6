import { z } from "zod"
import { ActionClass } from "./proposal.ts"
import { ids, JsonObject } from "../schema.ts"
import { lazily } from "../lazily.ts"

/** A call that takes another one back. */
export const InverseCall = lazily(() => z.object({ tool: z.string(), input: JsonObject }))
export type InverseCall = z.infer<typeof InverseCall>

/** One applied write: what was there before and after, who decided, and how it can be taken back. */
export const AuditEntry = lazily(() =>
  z.object({
    id: ids.audit,
    conversationId: ids.conversation,
    runId: ids.run,
    callId: ids.call,
    proposalId: ids.proposal,
    tool: z.string(),
    action: ActionClass,
    summary: z.string(),
    arguments: JsonObject,
    before: z.unknown(),
    after: z.unknown(),
    /** The id of a person, `policy` (the conversation was in auto), `grant`, or `device`: the one it was said from, as an operator allows. */
    decidedBy: z.string(),
    appliedAt: z.string(),
    undoable: z.boolean(),
    /** What an undo would propose. */
    inverse: InverseCall.nullable(),
    /** The entry that this one has taken back. */
    undoes: ids.audit.nullable(),
    /** The proposal that has taken this one back. */
    undoneBy: ids.proposal.nullable(),
  }),
)
export type AuditEntry = z.infer<typeof AuditEntry>
