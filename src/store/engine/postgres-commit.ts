import type { ClientBase } from "pg"
import { EVENT_COLUMNS } from "./event-rows.ts"
import { AUDIT_COLUMNS, type Commit, type Committed, USAGE_COLUMNS } from "./operations.ts"

/**
 * A commit as ONE statement: the lease row is locked, checked and changed, and everything else hangs on it. Tried and
 * found wanting: a check before the insert, and an insert with the check in its WHERE but without the lock; both let the
 * row of a zombie through during a takeover.
 *
 * Only the parts that have rows are in it: a part without any costs PostgreSQL as much as one row.
 *
 * Undefined when the lease, the fence or the place does not fit any more.
 */
export async function commit(client: ClientBase, operation: Commit): Promise<Committed | undefined> {
  const { lease, key, fence, seen, after } = operation
  // What is born has no past: whoever says otherwise means another conversation.
  if (lease === "create" && (key !== 0 || fence !== 0 || seen !== 0 || after !== 0)) return undefined
  const { rows } = await client.query<Committed>(toCommitQuery(operation))
  return rows[0]
}

/** The same text for the same parts, so that it stays prepared under its name. */
export function toCommitQuery(operation: Commit): { name: string; text: string; values: unknown[] } {
  const values: unknown[] = []
  const value: ToPlaceholder = (given, type) => `$${values.push(given)}::${type}`
  const lease = operation.lease === "hold" && operation.head ? "change" : operation.lease
  const held = `WITH lease AS (${leases[lease](operation, value)})`
  const parts = partsOf(operation).filter(({ rows }) => rows.length > 0)
  const written = parts.map(({ name, types, rows, insert }) => {
    const arrays = types.map((type, column) =>
      value(
        rows.map((row) => row[column]),
        `${type}[]`,
      ),
    )
    return `${name} AS (${insert(arrays.join(", "))})`
  })
  return {
    name: [lease, ...parts.map(({ name }) => name)].join("-"),
    text: `${[held, ...written].join(",\n    ")}\n    SELECT key, fence, arrivals, released FROM lease`,
    values,
  }
}

type ToPlaceholder = (given: unknown, type: string) => string
type LeaseSql = (operation: Commit, value: ToPlaceholder) => string

const leases: Readonly<Record<Commit["lease"] | "change", LeaseSql>> = {
  create(operation, value) {
    const { head, born, release, node, now } = operation
    const at = value(now, "bigint")
    return `INSERT INTO conversation
      (id, person, agent, model, provider, mode, title, status, device, connection, owner, fence, created_at, updated_at)
    SELECT ${value(born?.id, "text")}, ${value(born?.person, "bigint")}, ${value(head?.agent, "text")},
      ${value(head?.model, "text")}, ${value(head?.provider, "text")}, ${value(head?.mode, "text")},
      ${value(head?.title, "text")}, ${value(head?.status, "text")}, ${value(head?.device, "text")},
      ${value(head?.connection, "text")}, CASE WHEN ${value(release, "boolean")} THEN NULL ELSE ${value(node, "text")} END, 1, ${at}, ${at}
    ON CONFLICT (id) DO NOTHING RETURNING key, fence, arrivals, owner IS NULL AS released`
  },
  claim(operation, value) {
    const [key, node, seen] = [
      value(operation.key, "bigint"),
      value(operation.node, "text"),
      value(operation.seen, "bigint"),
    ]
    const rests = restsSql(operation, seen, value)
    // A claim is held against the journal also where it adds nothing: what it says about the conversation would be old.
    return `UPDATE conversation SET fence = fence + 1, ${headSql(operation, { rests, seen }, value)},
      owner = CASE WHEN ${rests} THEN NULL ELSE ${node} END
    WHERE key = ${key} AND fence = ${value(operation.fence, "bigint")}
      AND (${value(operation.withInbox, "boolean")} OR arrivals = ${seen}) AND ${followsSql(operation, key, value)}
      AND (owner IS NULL OR owner = ${node} OR NOT EXISTS (SELECT 1 FROM node WHERE node.id = owner))
    RETURNING key, fence, arrivals, owner IS NULL AS released`
  },
  change(operation, value) {
    const seen = value(operation.seen, "bigint")
    const rests = restsSql(operation, seen, value)
    return `UPDATE conversation SET ${headSql(operation, { rests, seen }, value)},
      owner = CASE WHEN ${rests} THEN NULL ELSE owner END
    WHERE ${isWriterSql(operation, value)}
    RETURNING key, fence, arrivals, owner IS NULL AS released`
  },
  // Most appends leave the row as it is and only hold it still.
  hold: (operation, value) => `SELECT key, fence, arrivals, false AS released FROM conversation
    WHERE ${isWriterSql(operation, value)} FOR SHARE`,
}

function isWriterSql(operation: Commit, value: ToPlaceholder): string {
  const key = value(operation.key, "bigint")
  return [
    `key = ${key} AND owner = ${value(operation.node, "text")} AND fence = ${value(operation.fence, "bigint")}`,
    // What is taken from the inbox must be what was read: whoever changes it counts an arrival.
    ...(operation.taken.length > 0 ? [`arrivals = ${value(operation.seen, "bigint")}`] : []),
    // Without events there is no place to check.
    ...(operation.events.length > 0 ? [followsSql(operation, key, value)] : []),
  ].join(" AND ")
}

const followsSql = ({ after }: Commit, key: string, value: ToPlaceholder) =>
  `(SELECT coalesce(max(position), 0) FROM event WHERE conversation = ${key}) = ${value(after, "bigint")}`

/** A row that waited for another transaction is read anew by this, so an input that came in between is never missed. */
const restsSql = ({ release }: Commit, seen: string, value: ToPlaceholder) =>
  `${value(release, "boolean")} AND arrivals = ${seen}`

function headSql(
  { head, now }: Commit,
  { rests, seen }: { rests: string; seen: string },
  value: ToPlaceholder,
): string {
  const names = ["agent", "model", "provider", "mode", "title", "status", "device", "connection"] as const
  const changed = names.map((name) => `${name} = ${value(head?.[name], "text")}`)
  return `${changed.join(", ")}, updated_at = ${value(now, "bigint")}, seen = CASE WHEN ${rests} THEN ${seen} ELSE seen END`
}

interface Part {
  readonly name: string
  readonly rows: readonly (readonly unknown[])[]
  /** Of its columns. */
  readonly types: readonly string[]
  insert(arrays: string): string
}

const TEXT_8 = new Array<string>(8).fill("text")
const TYPES = {
  events: ["bigint", "text", "bigint", "bigint", "text", "text", "bigint", "text", "text", "text", "text"],
  runs: ["text", "text", "bigint", "bigint", "text", "text", "text", "bigint", "bigint", "bigint", "bigint", "text"],
  proposals: ["text", "text", "bigint", "text", "text", "bigint", "text", "bigint"],
  audits: [...TEXT_8, ...TEXT_8.slice(3), "bigint", "text", "text"],
  usage: [...TEXT_8, "bigint", "bigint", "bigint", "bigint"],
}

const partsOf = ({ events, run, proposals, taken, audits, usage }: Commit): Part[] => [
  {
    ...{ name: "events", rows: events, types: TYPES.events },
    insert: (arrays) => `INSERT INTO event (conversation, ${EVENT_COLUMNS})
      SELECT lease.key, e.* FROM lease, unnest(${arrays}) AS e`,
  },
  {
    ...{ name: "runs", rows: run ? [run] : [], types: TYPES.runs },
    insert: (arrays) => `INSERT INTO run (conversation, id, status, iteration, max_iterations, pause_reason, error_code,
        error_message, input_tokens, output_tokens, started_at, ended_at, model)
      SELECT lease.key, r.* FROM lease, unnest(${arrays}) AS r
      ON CONFLICT (id) DO UPDATE SET status = excluded.status, iteration = excluded.iteration,
        pause_reason = excluded.pause_reason, error_code = excluded.error_code, error_message = excluded.error_message,
        input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens, ended_at = excluded.ended_at,
        model = excluded.model`,
  },
  {
    ...{ name: "proposals", rows: proposals, types: TYPES.proposals },
    insert: (arrays) => `INSERT INTO proposal
        (conversation, id, run_id, position, status, code, expires_at, decided_by, decided_at)
      SELECT lease.key, p.* FROM lease, unnest(${arrays}) AS p
      ON CONFLICT (id) DO UPDATE SET status = excluded.status, code = excluded.code, decided_by = excluded.decided_by,
        decided_at = coalesce(proposal.decided_at, excluded.decided_at)`,
  },
  {
    ...{ name: "taken", rows: taken.map((number) => [number]), types: ["bigint"] },
    insert: (numbers) => `DELETE FROM inbox USING lease WHERE conversation = lease.key AND number = ANY (${numbers})`,
  },
  // Written once, however often their commit is tried.
  {
    ...{ name: "audits", rows: audits, types: TYPES.audits },
    insert: (arrays) => `INSERT INTO audit_entry (${AUDIT_COLUMNS}) SELECT a.* FROM lease, unnest(${arrays}) AS a
      ON CONFLICT (id) DO NOTHING`,
  },
  {
    ...{ name: "usage", rows: usage, types: TYPES.usage },
    insert: (arrays) => `INSERT INTO usage (${USAGE_COLUMNS}) SELECT u.* FROM lease, unnest(${arrays}) AS u
      ON CONFLICT (run, id) DO NOTHING`,
  },
]
