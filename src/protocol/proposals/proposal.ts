import { z } from "zod"
import { ids, JsonObject } from "../schema.ts"
import { lazily } from "../lazily.ts"

/** How much a write can hurt; shown to the person before the decision. */
export const ActionClass = lazily(() =>
  z.enum(["safe_create", "safe_update", "destructive_update", "destructive_delete"]),
)
export type ActionClass = z.infer<typeof ActionClass>

export const ProposalStatus = lazily(() =>
  z.enum(["pending", "applying", "applied", "failed", "rejected", "expired", "superseded", "in_doubt", "abandoned"]),
)
export type ProposalStatus = z.infer<typeof ProposalStatus>

/** What a write would change: the target as it is and as it would be. */
export const Diff = lazily(() => z.object({ before: z.unknown(), after: z.unknown() }))
export type Diff = z.infer<typeof Diff>

/**
 * A write call that waits for a person, as the journal keeps it. `hash` covers everything the person was shown and
 * `revision` the state of the target at that moment, so that what was shown is what runs.
 */
export const Proposed = lazily(() =>
  z.object({
    id: ids.proposal,
    callId: ids.call,
    tool: z.string(),
    action: ActionClass,
    summary: z.string(),
    title: z.string().optional(),
    /** Only where they differ from the call's own: a person edited them, or they are what the call's can only have meant. */
    arguments: JsonObject.optional(),
    /** No person has changed the arguments: they were written loosely, and are shown and run as they were understood. */
    understood: z.literal(true).optional(),
    diff: Diff.optional(),
    undoable: z.boolean(),
    /** It is asked about each time, whatever the mode and the grants: nobody can agree to it beforehand. */
    insists: z.literal(true).optional(),
    /** It changes nothing: a read that would send its arguments outside. What has left cannot be taken back. */
    sends: z.literal(true).optional(),
    version: z.number().int(),
    hash: z.string(),
    target: z.string().optional(),
    revision: z.string().optional(),
    expiresAt: z.number(),
  }),
)
export type Proposed = z.infer<typeof Proposed>

/** A proposal as the API shows it. */
export const Proposal = lazily(() =>
  z.object({
    id: ids.proposal,
    conversationId: ids.conversation,
    runId: ids.run,
    callId: ids.call,
    tool: z.string(),
    action: ActionClass,
    summary: z.string(),
    /** A heading for where the diff is shown below it: the summary without what the diff tells. */
    title: z.string().optional(),
    arguments: JsonObject,
    diff: Diff.nullable(),
    undoable: z.boolean(),
    /** The like of it is asked about each time: `always` is refused. */
    insists: z.literal(true).optional(),
    /** A read that would send its arguments outside. It changes nothing, whatever its class says of writes. */
    sends: z.literal(true).optional(),
    version: z.number().int(),
    hash: z.string(),
    status: ProposalStatus,
    /** Why a failed one failed, where it has a code: `proposal_stale`. */
    code: z.string().optional(),
    createdAt: z.string(),
    expiresAt: z.string(),
    /** When the person saw that it had expired: until then their inbox keeps it. */
    seenAt: z.string().optional(),
  }),
)
export type Proposal = z.infer<typeof Proposal>
