import type { Commit, DecisionCondition, HeadRow } from "../operations.ts"
import type { Scalar } from "./wire-messages.ts"

/**
 * `change` holds the lease and changes the conversation's row; `hold` only holds it still. `decide` and `decide-expired`
 * claim it together with the one decision that a proposal has: both, or neither.
 */
export type LeaseKind = Commit["lease"] | "change" | "decide" | "decide-expired"

export function leaseKindOf({ lease, head, deciding }: Commit): LeaseKind {
  if (deciding) return deciding.from === "expired" ? "decide-expired" : "decide"
  return lease === "hold" && head ? "change" : lease
}

/** A value that the lease is given with each commit. */
export interface LeaseColumn {
  readonly name: string
  readonly type: string
  of(operation: Commit): Scalar
}

export interface LeaseQuestion {
  /** The SQL of a value by its name. */
  given(name: string): string
  /** Where the values of each conversation stand, as `given`; undefined for a single one, whose values are parameters. */
  readonly group: string | undefined
  /** Takes from the inbox. */
  readonly takes: boolean
  /** Adds to the journal. */
  readonly adds: boolean
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
 * The conversations of which everything fits, as `lease`; the others are not in it. A group leaves out those whose rows
 * somebody else holds: one conversation that has to wait does not keep the others waiting.
 */
export const leaseSql: Readonly<Record<LeaseKind, (question: LeaseQuestion) => string>> = {
  create({ given, group }) {
    const heads = HEAD_NAMES.map((name) => given(name)).join(", ")
    // In one order: two nodes that begin the same conversations would wait for each other.
    const from = group === undefined ? "" : ` FROM ${group} ORDER BY given.id`
    return `lease AS (INSERT INTO conversation (id, person, owner, fence, created_at, updated_at, ${HEAD_NAMES.join(", ")})
      SELECT ${given("id")}, ${given("person")}, ${given("owner")}, 1, ${given("now")}, ${given("now")}, ${heads}${from}
      ON CONFLICT (id) DO NOTHING RETURNING id, key, fence, arrivals, owner IS NULL AS released)`
  },
  // Most appends leave the row as it is and only hold it still.
  hold(question) {
    const { group } = question
    const [from, skip] = group === undefined ? ["conversation", ""] : [`${group}, conversation`, " SKIP LOCKED"]
    return `lease AS (SELECT ${GIVES}, false AS released FROM ${from}
      WHERE ${isWriterSql(question)} FOR SHARE OF conversation${skip})`
  },
  change: (question) => updateSql(question, { fits: isWriterSql(question), owner: "conversation.owner", fence: "" }),
  claim: (question) => updateSql(question, { fits: isClaimableSql(question), ...claimSql(question) }),
  decide: (question) => decideSql(question, standsSql("pending", question.given)),
  "decide-expired": (question) => decideSql(question, standsSql("expired", question.given)),
}

const GIVES = "conversation.key, conversation.fence, conversation.arrivals"

const followsSql = ({ given }: LeaseQuestion) =>
  `(SELECT coalesce(max(position), 0) FROM event WHERE event.conversation = ${given("key")}) = ${given("after")}`

function isWriterSql(question: LeaseQuestion): string {
  const { given, takes, adds } = question
  return [
    `conversation.key = ${given("key")} AND conversation.owner = ${given("node")} AND conversation.fence = ${given("fence")}`,
    // What is taken from the inbox must be what was read: whoever changes it counts an arrival.
    ...(takes ? [`conversation.arrivals = ${given("seen")}`] : []),
    // Without events there is no place to check.
    ...(adds ? [followsSql(question)] : []),
  ].join(" AND ")
}

/** A claim is held against the journal also where it adds nothing: what it says about the conversation would be old. */
function isClaimableSql(question: LeaseQuestion): string {
  const { given } = question
  return `conversation.key = ${given("key")} AND conversation.fence = ${given("fence")}
        AND (${given("with_inbox")} OR conversation.arrivals = ${given("seen")}) AND ${followsSql(question)}
        AND (conversation.owner IS NULL OR conversation.owner = ${given("node")}
          OR NOT EXISTS (SELECT 1 FROM node WHERE node.id = conversation.owner))`
}

/**
 * Nothing is changed before all of it is known to fit: the conversation is locked as it was checked, then the proposal is
 * decided, and only with that the conversation is claimed. In this order, as commits lock them: the other way round two
 * would wait for each other.
 */
function decideSql(question: LeaseQuestion, stands: string): string {
  const { given } = question
  return `held AS (SELECT conversation.key FROM conversation WHERE ${isClaimableSql(question)} FOR NO KEY UPDATE),
    decided AS (UPDATE proposal SET status = ${given("to")}, decided_by = ${given("by")}, decided_at = ${given("now")}
      FROM held WHERE proposal.id = ${given("proposal")} AND proposal.conversation = held.key AND ${stands}
      RETURNING proposal.conversation),
    lease AS (${changeSql(question, claimSql(question))} FROM decided WHERE conversation.key = decided.conversation ${GIVEN_BACK})`
}

/** Whether a proposal can be decided: an expired one is also one that is still `pending` after its time. */
export const standsSql = (from: DecisionCondition["from"], given: LeaseQuestion["given"]): string =>
  from === "expired"
    ? `(proposal.status = 'expired' OR (proposal.status = 'pending' AND proposal.expires_at <= ${given("now")}))`
    : `proposal.status = ${given("from")} AND (proposal.status <> 'pending' OR proposal.expires_at > ${given("now")})`

interface Update {
  /** Who owns the conversation if it does not rest. */
  readonly owner: string
  readonly fence: string
}

const claimSql = ({ given }: LeaseQuestion): Update => ({
  owner: given("node"),
  fence: "fence = conversation.fence + 1, ",
})

const GIVEN_BACK = `RETURNING ${GIVES}, conversation.owner IS NULL AS released`

function changeSql({ given }: LeaseQuestion, { owner, fence }: Update): string {
  // A row that waited for another transaction is read anew by this, so an input that came in between is never missed.
  const rests = `${given("release")} AND conversation.arrivals = ${given("seen")}`
  return `UPDATE conversation SET ${fence}${HEAD_NAMES.map((name) => `${name} = ${given(name)}`).join(", ")},
      updated_at = ${given("now")}, seen = CASE WHEN ${rests} THEN ${given("seen")} ELSE conversation.seen END,
      owner = CASE WHEN ${rests} THEN NULL ELSE ${owner} END`
}

function updateSql(question: LeaseQuestion, { fits, ...how }: Update & { readonly fits: string }): string {
  const { group } = question
  const update = changeSql(question, how)
  if (group === undefined) return `lease AS (${update} WHERE ${fits} ${GIVEN_BACK})`
  // An UPDATE cannot leave out what is locked. What is locked here stays as it was checked until the end of the statement.
  return `free AS (SELECT given.* FROM ${group}, conversation WHERE ${fits} FOR NO KEY UPDATE OF conversation SKIP LOCKED),
    lease AS (${update} FROM free AS given WHERE conversation.key = given.key ${GIVEN_BACK})`
}
