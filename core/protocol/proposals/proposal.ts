import { z } from "zod"
import type { CallStatus } from "../conversation/message.ts"
import { ids, JsonObject } from "../schema.ts"

/** The kind of risk of a write, shown to the person before they decide. */
export const ActionClass = z.enum(["safe_create", "safe_update", "destructive_update", "destructive_delete"])
export type ActionClass = z.infer<typeof ActionClass>

/**
 * The status of a proposal. `in_doubt`: it is unknown whether the change was applied. `superseded`: it was replaced or
 * is no longer needed.
 */
export const ProposalStatus = z.enum([
  "pending",
  "applying",
  "applied",
  "failed",
  "rejected",
  "expired",
  "superseded",
  "in_doubt",
  "abandoned",
])
export type ProposalStatus = z.infer<typeof ProposalStatus>

/** The change that a write would make: its target before and after. */
export const Diff = z.object({ before: z.unknown(), after: z.unknown() })
export type Diff = z.infer<typeof Diff>

/**
 * A write that needs approval, as recorded in the journal. `hash` covers everything that the person sees and `revision`
 * the target's state, so that only what was shown can run.
 */
export const Proposed = z.object({
  id: ids.proposal,
  callId: ids.call,
  tool: z.string(),
  action: ActionClass,
  summary: z.string(),
  title: z.string().optional(),
  /** Only if they differ from the call's own: a person edited them, or the server corrected their form. */
  arguments: JsonObject.optional(),
  /** True if the server corrected the form of the arguments, and no person edited them. */
  understood: z.literal(true).optional(),
  diff: Diff.optional(),
  undoable: z.boolean(),
  /** True if each such write must be approved, despite the mode and grants. */
  insists: z.literal(true).optional(),
  /** True for a read that would send its arguments to a third party. This cannot be undone. */
  sends: z.literal(true).optional(),
  /** Why approval is needed, although the mode or a grant would cover the write, as a sentence. */
  reason: z.string().optional(),
  /** The command line. A grant covers only this one, or those with a stated prefix. */
  commandLine: z.string().optional(),
  version: z.number().int(),
  hash: z.string(),
  target: z.string().optional(),
  revision: z.string().optional(),
  expiresAt: z.number(),
})
export type Proposed = z.infer<typeof Proposed>

/** A proposal as the API returns it. */
export const Proposal = z.object({
  id: ids.proposal,
  conversationId: ids.conversation,
  runId: ids.run,
  callId: ids.call,
  tool: z.string(),
  action: ActionClass,
  summary: z.string(),
  /** A heading for the diff: the summary without the details that the diff shows. */
  title: z.string().optional(),
  arguments: JsonObject,
  diff: Diff.nullable(),
  undoable: z.boolean(),
  /** True if each such write must be approved; `always` is then rejected. */
  insists: z.literal(true).optional(),
  /** True for a read that would send its arguments to a third party. It changes nothing, whatever its `action` is. */
  sends: z.literal(true).optional(),
  /** Why approval is needed, although the mode or a grant would cover the write, as a sentence. */
  reason: z.string().optional(),
  /** The command line. A grant covers only this one, or those with a stated prefix. */
  commandLine: z.string().optional(),
  version: z.number().int(),
  hash: z.string(),
  status: ProposalStatus,
  /** Why it failed, if the reason has a code, such as `proposal_stale`. */
  code: z.string().optional(),
  createdAt: z.string(),
  expiresAt: z.string(),
  /** When the user saw that it had expired. Until then it stays in their inbox. */
  seenAt: z.string().optional(),
})
export type Proposal = z.infer<typeof Proposal>

/** A proposal that no longer waits for a decision, as listed with messages. */
export const DecidedProposal = z.object({
  /** The journal position at which it was proposed. */
  position: z.number().int(),
  /** A user id, `policy`, `grant` or `device`; null if there was no decision. */
  decidedBy: z.string().nullable(),
  /** Why it was rejected, in the user's own words. */
  reason: z.string().nullable(),
  /** The arguments after the user's edit. */
  editedTo: JsonObject.optional(),
  proposal: Proposal,
})
export type DecidedProposal = z.infer<typeof DecidedProposal>

/** How an interrupted write ended, if that became known only later. */
export const DelayedResult = z.object({ callId: ids.call, status: z.enum(["ok", "error"]), text: z.string() })
export type DelayedResult = z.infer<typeof DelayedResult>

/** A call that undoes another one. */
export const InverseCall = z.object({ tool: z.string(), input: JsonObject })
export type InverseCall = z.infer<typeof InverseCall>

/** An applied write: the values before and after, who approved it, and how to undo it. */
export const AuditEntry = z.object({
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
  /**
   * A user id, `policy` (the conversation was in auto mode), `grant`, or `device` (the operator lets this device
   * apply its own writes).
   */
  decidedBy: z.string(),
  appliedAt: z.string(),
  undoable: z.boolean(),
  /** The call that an undo would propose. */
  inverse: InverseCall.nullable(),
  /** The entry that this one has undone. */
  undoes: ids.audit.nullable(),
  /** The proposal that has undone this one. */
  undoneBy: ids.proposal.nullable(),
})
export type AuditEntry = z.infer<typeof AuditEntry>

/**
 * The status of a proposal after its call ended. An interrupted write may still be running: `late_result` reports its
 * end and, if its process fails before that, a person decides.
 */
export const statusAfterCall: Readonly<Record<CallStatus, ProposalStatus>> = {
  ok: "applied",
  error: "failed",
  denied: "failed",
  timed_out: "failed",
  rejected: "rejected",
  expired: "expired",
  superseded: "superseded",
  cancelled: "superseded",
  interrupted: "in_doubt",
  in_doubt: "in_doubt",
}

const SETTLED: ReadonlySet<ProposalStatus> = new Set([
  "applied",
  "failed",
  "rejected",
  "expired",
  "superseded",
  "abandoned",
])

/** Returns true if the status is final. */
export function isSettled(status: ProposalStatus | undefined): boolean {
  return status !== undefined && SETTLED.has(status)
}

const Uses = z.number().int().min(1).max(100)

/** The default number of uses of a grant. */
export const DEFAULT_GRANT_USES = 10

/** The start of a command line, and ` *`. */
export const Prefix = z.string().max(1000)

/**
 * Approves a proposal. `always` also approves later calls of the same tool in the same conversation; for a tool that
 * runs commands, only the same command line or, with `prefix`, those that start with it.
 */
export const Approval = z.strictObject({
  always: z
    .union([
      z.literal(true),
      z.strictObject({ uses: Uses, prefix: Prefix.optional() }),
      z.strictObject({ prefix: Prefix }),
    ])
    .optional(),
})

/** An approval in advance: one tool, one conversation, a number of uses; for commands, only these. */
export const Grant = z.object({
  tool: z.string(),
  /** The highest risk that the grant covers, taken from the approved proposal. */
  action: ActionClass,
  /** For a command: the only command line that the grant covers. */
  commandLine: z.string().optional(),
  /**
   * For a command: the grant covers command lines that start with this prefix, which ends in ` *`, and contain no
   * shell syntax.
   */
  prefix: z.string().optional(),
  uses: Uses,
  left: z.number().int().positive(),
  grantedAt: z.string(),
  /** The id of the user who granted it. */
  by: z.string(),
})
export type Grant = z.infer<typeof Grant>

/** The user's grants, which are approvals in advance. */
export const GrantList = z.object({ items: z.array(Grant) })

/** How a stated prefix ends: `npm test *` covers `npm test` and each command line that starts with `npm test `. */
const ANY_REST = " *"

/**
 * Which characters may follow a prefix, and which it may contain. This is an allowlist, because a shell gives a meaning
 * to everything else, such as `;`, `&`, `|`, `<`, `>`, `$`, quotes, parentheses, backticks and line ends, and could run
 * another command.
 */
const PLAIN = /^[\p{L}\p{N} _.,:@%+=/-]*$/u

/** The extent of a grant for a command: exactly one command line, or those that start with a stated prefix. */
interface CommandCover {
  readonly commandLine?: string | undefined
  /** As the person wrote it, ending in ` *`. */
  readonly prefix?: string | undefined
}

export const isPrefix = (words: string): boolean => words.endsWith(ANY_REST)

/** Why a prefix cannot be granted for a command, as a sentence; undefined if it can. */
export function whyNoPrefix(prefix: string, commandLine: string | undefined): string | undefined {
  if (commandLine === undefined) return "A prefix is for a command, and this change runs none."
  const start = prefix.slice(0, -ANY_REST.length)
  if (!isPrefix(prefix) || start.trim() === "" || start !== start.trim())
    return 'Write the start of the command and " *", such as: npm test *'
  if (!PLAIN.test(start)) return "A prefix is plain words: no quotes, and none of ; & | < > $ ( ) `"
  if (!coversCommand({ prefix }, commandLine))
    return `"${prefix}" does not cover this command. It covers commands that start with "${start}" and contain no shell syntax after it.`
  return undefined
}

/** Whether a grant covers a command line. One without a command line and a prefix covers no command at all. */
export function coversCommand({ commandLine, prefix }: CommandCover, asked: string): boolean {
  if (prefix === undefined) return commandLine === asked
  const start = prefix.slice(0, -ANY_REST.length)
  if (!isPrefix(prefix) || start === "" || !PLAIN.test(start)) return false
  return asked === start || (asked.startsWith(`${start} `) && PLAIN.test(asked))
}
