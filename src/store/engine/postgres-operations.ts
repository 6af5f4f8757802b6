import type { ClientBase } from "pg"
import { EVENT_COLUMNS, type EventRow } from "./event-rows.ts"
import { toQuery } from "./numbered.ts"
import {
  AUDIT_COLUMNS,
  type InboxAppend,
  type AuditRow,
  type Commit,
  type Committed,
  type DecisionCondition,
  type ProposalRow,
  type Refusal,
  type RunValues,
  type Statement,
  type Statements,
  USAGE_COLUMNS,
  type UsageRow,
} from "./operations.ts"

/**
 * A commit as ONE statement: the lease row is locked, checked and changed, and everything else hangs on it. Tried and
 * found wanting: a check before the insert, and an insert with the check in its WHERE but without the lock; both let the
 * row of a zombie through during a takeover.
 */
function commitSql(lease: string): string {
  return `WITH lease AS (${lease}),
    events AS (INSERT INTO event (conversation, ${EVENT_COLUMNS})
      SELECT lease.key, e.* FROM lease, unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::text[],
        $7::bigint[], $8::text[], $9::text[], $10::text[], $11::text[]) AS e),
    runs AS (INSERT INTO run (conversation, id, status, iteration, max_iterations, pause_reason, error_code, error_message,
        input_tokens, output_tokens, started_at, ended_at, model)
      SELECT lease.key, r.* FROM lease, unnest($12::text[], $13::text[], $14::bigint[], $15::bigint[], $16::text[],
        $17::text[], $18::text[], $19::bigint[], $20::bigint[], $21::bigint[], $22::bigint[], $23::text[]) AS r
      ON CONFLICT (id) DO UPDATE SET status = excluded.status, iteration = excluded.iteration,
        pause_reason = excluded.pause_reason, error_code = excluded.error_code, error_message = excluded.error_message,
        input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens, ended_at = excluded.ended_at,
        model = excluded.model),
    proposals AS (INSERT INTO proposal (conversation, id, run_id, position, status, code, expires_at, decided_by, decided_at)
      SELECT lease.key, p.* FROM lease, unnest($24::text[], $25::text[], $26::bigint[], $27::text[], $28::text[],
        $29::bigint[], $30::text[], $31::bigint[]) AS p
      ON CONFLICT (id) DO UPDATE SET status = excluded.status, code = excluded.code, decided_by = excluded.decided_by,
        decided_at = coalesce(proposal.decided_at, excluded.decided_at)),
    taken AS (DELETE FROM inbox USING lease WHERE conversation = lease.key AND number = ANY ($32::bigint[]))
    ${ANSWER}`
}

const ANSWER = "SELECT key, fence, arrivals, released FROM lease"

// What is taken from the inbox must be what was read: whoever changes it counts an arrival.
const READ = "(cardinality($32::bigint[]) = 0 OR arrivals = $37::bigint)"
const FOLLOWS = "(SELECT coalesce(max(position), 0) FROM event WHERE conversation = $33::bigint) = $34::bigint"
// A row that waited for another transaction is read anew by these, so an input that came in between is never missed.
const RESTS = "$45::boolean AND arrivals = $37::bigint"
const HEAD = `agent = $39::text, model = $40::text, provider = $41::text, mode = $42::text, title = $43::text,
  status = $44::text, device = $46::text, connection = $47::text, updated_at = $38::bigint,
  seen = CASE WHEN ${RESTS} THEN $37::bigint ELSE seen END`

const sql = {
  create: commitSql(`INSERT INTO conversation
      (id, person, agent, model, provider, mode, title, status, device, connection, owner, fence, created_at, updated_at)
    SELECT $48::text, $49::bigint, $39::text, $40::text, $41::text, $42::text, $43::text, $44::text, $46::text,
      $47::text, CASE WHEN $45::boolean THEN NULL ELSE $35::text END, 1, $38::bigint, $38::bigint
    WHERE $33::bigint = 0 AND $34::bigint = 0 AND $36::bigint = 0 AND $37::bigint = 0
    ON CONFLICT (id) DO NOTHING RETURNING key, fence, arrivals, owner IS NULL AS released`),
  claim:
    commitSql(`UPDATE conversation SET fence = fence + 1, ${HEAD}, owner = CASE WHEN ${RESTS} THEN NULL ELSE $35::text END
    WHERE key = $33::bigint AND fence = $36::bigint AND ($48::boolean OR arrivals = $37::bigint) AND ${FOLLOWS}
      AND (owner IS NULL OR owner = $35::text
        OR NOT EXISTS (SELECT 1 FROM node WHERE node.id = owner))
    RETURNING key, fence, arrivals, owner IS NULL AS released`),
  change: commitSql(`UPDATE conversation SET ${HEAD}, owner = CASE WHEN ${RESTS} THEN NULL ELSE owner END
    WHERE key = $33::bigint AND owner = $35::text AND fence = $36::bigint AND ${READ} AND ${FOLLOWS}
    RETURNING key, fence, arrivals, owner IS NULL AS released`),
  // Most appends leave the row as it is and only hold it still.
  hold: commitSql(`SELECT key, fence, arrivals, false AS released FROM conversation
    WHERE key = $33::bigint AND owner = $35::text AND fence = $36::bigint AND ${READ} AND ${FOLLOWS} FOR SHARE`),
}

/** Undefined when the lease, the fence or the place does not fit any more. */
export async function commit(client: ClientBase, operation: Commit): Promise<Committed | undefined> {
  const { lease, head, born, release, now, seen } = operation
  const rows = [
    ...columns<EventRow>(operation.events, 11),
    ...columns<RunValues>(operation.run ? [operation.run] : [], 12),
    ...columns<ProposalRow>(operation.proposals, 8),
    operation.taken,
  ]
  // A claim is held against the journal also where it adds nothing: what it says about the conversation would be old.
  const follows = operation.events.length > 0 || lease === "claim"
  const held = [...rows, operation.key, follows ? operation.after : 0, operation.node, operation.fence, seen]
  const more = { audits: operation.audits, usage: operation.usage }
  if (!head) return run(client, { name: "hold", values: held, follows, ...more })
  const { agent, model, provider, mode, title, status, device, connection } = head
  const changed = [...held, now, agent, model, provider, mode, title, status, release, device, connection]
  if (lease === "create")
    return run(client, { name: "create", values: [...changed, born?.id, born?.person], follows, ...more })
  if (lease === "claim")
    return run(client, { name: "claim", values: [...changed, operation.withInbox], follows, ...more })
  return run(client, { name: "change", values: changed, follows, ...more })
}

interface Query {
  readonly name: keyof typeof sql
  readonly values: unknown[]
  readonly follows: boolean
  readonly audits: readonly AuditRow[]
  readonly usage: readonly UsageRow[]
}

async function run(client: ClientBase, query: Query): Promise<Committed | undefined> {
  const { name, values, follows, audits, usage } = query
  // Without events there is no place to check, only a parameter to use up.
  const text = follows ? sql[name] : sql[name].replace(FOLLOWS, "$34::bigint = 0")
  const plain = { name: follows ? name : `${name}-without-events`, text, values }
  const audited = withRows(plain, AUDITS, audits)
  const result = await client.query<Committed>(withRows(audited, USAGE, usage))
  return result.rows[0]
}

interface Rows {
  readonly table: string
  readonly columns: string
  readonly types: readonly string[]
  /** What makes a row the same row: it is written once, however often its commit is tried. */
  readonly key: string
}

const of = (type: string, count: number) => new Array<string>(count).fill(type)
const AUDITS: Rows = {
  table: "audit_entry",
  columns: AUDIT_COLUMNS,
  types: [...of("text", 13), "bigint", ...of("text", 2)],
  key: "id",
}
const USAGE: Rows = {
  table: "usage",
  columns: USAGE_COLUMNS,
  types: [...of("text", 8), ...of("bigint", 4)],
  key: "run, id",
}

interface Named {
  readonly name: string
  readonly text: string
  readonly values: unknown[]
}

/** The same commit with rows for one more table, behind all other values. Few commits have any: the others are spared them. */
function withRows<Row extends readonly unknown[]>(query: Named, into: Rows, rows: readonly Row[]): Named {
  if (rows.length === 0) return query
  const { table, columns: names, types, key } = into
  const arrays = types.map((type, index) => `$${query.values.length + index + 1}::${type}[]`).join(", ")
  const insert = `INSERT INTO ${table} (${names}) SELECT rows.* FROM lease, unnest(${arrays}) AS rows
      ON CONFLICT (${key}) DO NOTHING`
  return {
    name: `${query.name}-${table}`,
    text: query.text.replace(ANSWER, () => `, more_${table} AS (${insert}) ${ANSWER}`),
    values: [...query.values, ...columns<Row>(rows, types.length)],
  }
}

/** Why a commit found no lease to hang on. */
export async function whyRefused(client: ClientBase, operation: Commit): Promise<Refusal> {
  const { lease, key, fence, node, taken } = operation
  const { rows } = await client.query<{ fence: number; owner: string | null; alive: boolean }>(
    `SELECT fence, owner, EXISTS (SELECT 1 FROM node WHERE node.id = owner) AS alive
     FROM conversation WHERE key = $1`,
    [key],
  )
  const row = rows[0]
  if (lease === "hold") return taken.length > 0 && row?.fence === fence && row.owner === node ? "unread" : "lost"
  return row && row.fence === fence && row.owner !== null && row.owner !== node && row.alive ? "busy" : "moved"
}

export async function appendToInbox(
  client: ClientBase,
  { key, id, body, now }: InboxAppend,
): Promise<number | undefined> {
  const { rows } = await client.query<{ number: number }>({
    name: "arrive",
    text: `WITH arrival AS (UPDATE conversation SET arrivals = arrivals + 1 WHERE key = $1 RETURNING arrivals)
      INSERT INTO inbox (conversation, number, id, body, created_at) SELECT $1, arrivals, $2, $3, $4 FROM arrival RETURNING number`,
    values: [key, id, body, now],
  })
  return rows[0]?.number
}

/**
 * Whether this caller's decision is the one that counts. The conversation is locked before the proposal, as commits do:
 * the other way round the two wait for each other.
 */
export async function decide(
  client: ClientBase,
  key: number,
  { proposal, from, to, by }: DecisionCondition,
  now: number,
): Promise<boolean> {
  const isExpired = from === "expired"
  const stands = isExpired
    ? "(status = 'expired' OR (status = 'pending' AND expires_at <= $3))"
    : "status = $6 AND (status <> 'pending' OR expires_at > $3)"
  const { rowCount } = await client.query({
    name: isExpired ? "decide-expired" : "decide",
    text: `UPDATE proposal SET status = $1, decided_by = $2, decided_at = $3
      WHERE id = $4 AND conversation = (SELECT key FROM conversation WHERE key = $5 FOR UPDATE) AND ${stands}`,
    values: [to, by, now, proposal, key, ...(isExpired ? [] : [from])],
  })
  return rowCount === 1
}

/** Waits until nobody else changes the conversation: the next statement sees all that was done by then. */
export async function holdStill(client: ClientBase, key: number): Promise<void> {
  await client.query({
    name: "hold-still",
    text: "SELECT 1 FROM conversation WHERE key = $1 FOR UPDATE",
    values: [key],
  })
}

/** Undefined when a statement that had to change something did not. */
export async function runStatements(
  client: ClientBase,
  { statements }: Statements,
): Promise<Record<string, unknown>[][] | undefined> {
  const all: Record<string, unknown>[][] = []
  for (const { sql: text, values, mustChange } of joined(statements)) {
    const result = await client.query(toQuery(text, values))
    if (mustChange && !result.rowCount) return undefined
    all.push(result.rows as Record<string, unknown>[])
  }
  return all
}

/** Definitions stand next to each other by the dozen, and nobody reads their answers: one way to the server for all. */
function joined(statements: readonly Statement[]): Statement[] {
  const together: Statement[] = []
  for (const statement of statements) {
    const last = together.at(-1)
    if (last && isDefinition(last) && isDefinition(statement)) {
      together[together.length - 1] = { ...last, sql: `${last.sql};\n${statement.sql}` }
    } else together.push(statement)
  }
  return together
}

const isDefinition = ({ sql: text, values }: Statement) => values.length === 0 && /^(CREATE|ALTER|DROP) /.test(text)

function columns<Row extends readonly unknown[]>(rows: readonly Row[], width: number): unknown[][] {
  return Array.from({ length: width }, (_, column) => rows.map((row) => row[column]))
}
