import type { Commit, DecisionCondition, HeadRow } from "../operations.ts"
import type { Scalar } from "./wire-messages.ts"

/**
 * `change` holds the lease and changes the conversation's row; `hold` only locks it. `decide` and `decide-expired`
 *   claim the lease together with the one decision of a proposal: both, or neither.
 */
export type LeaseKind = Commit["lease"] | "change" | "decide" | "decide-expired"

export function leaseKindOf({ lease, head, deciding }: Commit): LeaseKind {
  if (deciding) return deciding.from === "expired" ? "decide-expired" : "decide"
  return lease === "hold" && head ? "change" : lease
}

/** A value of a commit that the lease checks or writes. */
export interface LeaseColumn {
  readonly name: string
  readonly type: string
  of(operation: Commit): Scalar
}

export interface LeaseContext {
  /** The SQL of a value by its name. */
  input(name: string): string
  /** The table of values of a group; undefined for a single commit, whose values are parameters. */
  readonly group: string | undefined
  /** The commit consumes inbox rows. */
  readonly consumes: boolean
  /** The commit appends events. */
  readonly appends: boolean
}

const column = (name: string, type: string, of: LeaseColumn["of"]): LeaseColumn => ({ name, type, of })

const HEAD_NAMES = [
  "agent",
  "model",
  "provider",
  "mode",
  "title",
  "status",
  "device",
  "connection",
  "settings",
] as const
const headColumns = HEAD_NAMES.map((name: keyof HeadRow) => column(name, "text", ({ head }) => head?.[name]))
const now = column("now", "bigint", (operation) => operation.now)
const held = [
  column("key", "bigint", ({ key }) => key),
  column("node", "text", ({ node }) => node),
  column("fence", "bigint", ({ fence }) => fence),
  column("seen", "bigint", ({ seen }) => seen),
  column("after", "bigint", ({ after }) => after),
]
const changed = [...held, now, column("release", "boolean", ({ release }) => release), ...headColumns]

const claimed = [...changed, column("with_inbox", "boolean", ({ withInbox }) => withInbox)]
const decided = [
  ...claimed,
  column("proposal", "text", ({ deciding }) => deciding?.proposal),
  column("from", "text", ({ deciding }) => deciding?.from),
  column("to", "text", ({ deciding }) => deciding?.to),
  column("by", "text", ({ deciding }) => deciding?.by),
]

export const leaseColumns: Readonly<Record<LeaseKind, readonly LeaseColumn[]>> = {
  create: [
    column("id", "text", ({ born }) => born?.id),
    column("person", "bigint", ({ born }) => born?.person),
    column("owner", "text", ({ release, node }) => (release ? null : node)),
    now,
    ...headColumns,
  ],
  hold: held,
  change: changed,
  claim: claimed,
  decide: decided,
  "decide-expired": decided,
}

/**
 * The conversations that match, as `lease`. A group skips rows that other transactions have locked, so that one waiting
 * conversation does not delay the others.
 */
export const leaseSql: Readonly<Record<LeaseKind, (context: LeaseContext) => string>> = {
  create({ input, group }) {
    const heads = HEAD_NAMES.map((name) => input(name)).join(", ")
    // In one order, so that two nodes that create the same conversations cannot deadlock.
    const from = group === undefined ? "" : ` FROM ${group} ORDER BY input.id`
    return `lease AS (INSERT INTO conversation (id, person, owner, fence, created_at, updated_at, ${HEAD_NAMES.join(", ")})
      SELECT ${input("id")}, ${input("person")}, ${input("owner")}, 1, ${input("now")}, ${input("now")}, ${heads}${from}
      ON CONFLICT (id) DO NOTHING RETURNING id, key, fence, arrivals, owner IS NULL AS released)`
  },
  // Most appends only lock the row.
  hold(context) {
    const { group } = context
    const [from, skip] = group === undefined ? ["conversation", ""] : [`${group}, conversation`, " SKIP LOCKED"]
    return `lease AS (SELECT ${LEASE_COLUMNS}, false AS released FROM ${from}
      WHERE ${isWriterSql(context)} FOR SHARE OF conversation${skip})`
  },
  change: (context) => updateSql(context, { fits: isWriterSql(context), owner: "conversation.owner", fence: "" }),
  claim: (context) => updateSql(context, { fits: isClaimableSql(context), ...claimSql(context) }),
  decide: (context) => decideSql(context, isDecidableSql("pending", context.input)),
  "decide-expired": (context) => decideSql(context, isDecidableSql("expired", context.input)),
}

const LEASE_COLUMNS = "conversation.key, conversation.fence, conversation.arrivals"

const followsSql = ({ input }: LeaseContext) =>
  `(SELECT coalesce(max(position), 0) FROM event WHERE event.conversation = ${input("key")}) = ${input("after")}`

function isWriterSql(context: LeaseContext): string {
  const { input, consumes, appends } = context
  return [
    `conversation.key = ${input("key")} AND conversation.owner = ${input("node")} AND conversation.fence = ${input("fence")}`,
    // Any change of the inbox raises `arrivals`, so the consumed rows are those that were read.
    ...(consumes ? [`conversation.arrivals = ${input("seen")}`] : []),
    // Without events there is no position to check.
    ...(appends ? [followsSql(context)] : []),
  ].join(" AND ")
}

/** A claim without events also checks the last position: otherwise its row would be out of date. */
function isClaimableSql(context: LeaseContext): string {
  const { input } = context
  return `conversation.key = ${input("key")} AND conversation.fence = ${input("fence")}
        AND (${input("with_inbox")} OR conversation.arrivals = ${input("seen")}) AND ${followsSql(context)}
        AND (conversation.owner IS NULL OR conversation.owner = ${input("node")}
          OR NOT EXISTS (SELECT 1 FROM node WHERE node.id = conversation.owner))`
}

/**
 * Changes nothing before everything is known to match: it locks the conversation, then decides the proposal, and then
 * claims the conversation. Commits lock in the same order; the reverse order could deadlock.
 */
function decideSql(context: LeaseContext, isDecidable: string): string {
  const { input } = context
  return `held AS (SELECT conversation.key FROM conversation WHERE ${isClaimableSql(context)} FOR NO KEY UPDATE),
    decided AS (UPDATE proposal SET status = ${input("to")}, decided_by = ${input("by")}, decided_at = ${input("now")}
      FROM held WHERE proposal.id = ${input("proposal")} AND proposal.conversation = held.key AND ${isDecidable}
      RETURNING proposal.conversation),
    lease AS (${changeSql(context, claimSql(context))} FROM decided WHERE conversation.key = decided.conversation ${RETURNING})`
}

/** Whether a proposal can be decided. An expired one may still be `pending` after its time. */
export const isDecidableSql = (from: DecisionCondition["from"], input: LeaseContext["input"]): string =>
  from === "expired"
    ? `(proposal.status = 'expired' OR (proposal.status = 'pending' AND proposal.expires_at <= ${input("now")}))`
    : `proposal.status = ${input("from")} AND (proposal.status <> 'pending' OR proposal.expires_at > ${input("now")})`

interface Update {
  /** The owner unless the conversation is released. */
  readonly owner: string
  readonly fence: string
}

const claimSql = ({ input }: LeaseContext): Update => ({
  owner: input("node"),
  fence: "fence = conversation.fence + 1, ",
})

const RETURNING = `RETURNING ${LEASE_COLUMNS}, conversation.owner IS NULL AS released`

function changeSql({ input }: LeaseContext, { owner, fence }: Update): string {
  // PostgreSQL reads a row again after waiting for another transaction, so it never misses an input that came in
  // between.
  const isReleased = `${input("release")} AND conversation.arrivals = ${input("seen")}`
  return `UPDATE conversation SET ${fence}${HEAD_NAMES.map((name) => `${name} = ${input(name)}`).join(", ")},
      updated_at = ${input("now")}, seen = CASE WHEN ${isReleased} THEN ${input("seen")} ELSE conversation.seen END,
      owner = CASE WHEN ${isReleased} THEN NULL ELSE ${owner} END`
}

function updateSql(context: LeaseContext, { fits, ...how }: Update & { readonly fits: string }): string {
  const { group } = context
  const update = changeSql(context, how)
  if (group === undefined) return `lease AS (${update} WHERE ${fits} ${RETURNING})`
  // An UPDATE cannot skip locked rows. Rows that are locked here stay as they were checked until the end of the
  // statement.
  return `free AS (SELECT input.* FROM ${group}, conversation WHERE ${fits} FOR NO KEY UPDATE OF conversation SKIP LOCKED),
    lease AS (${update} FROM free AS input WHERE conversation.key = input.key ${RETURNING})`
}
