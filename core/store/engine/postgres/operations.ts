import type { ClientBase } from "pg"
import { toQuery } from "../numbered.ts"
import { isDecidableSql } from "./lease.ts"
import type { NamedStatement } from "./wire-messages.ts"
import type { Commit, DecisionCondition, InboxAppend, Refusal, Statement, Statements } from "../operations.ts"

/** Why a commit found no matching lease. */
export async function refusalOf(client: ClientBase, operation: Commit): Promise<Refusal> {
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
 * Whether this decision was the first. Locks the conversation before the proposal, as commits do; the reverse order
 * could deadlock.
 */
export async function decide(
  client: ClientBase,
  key: number,
  { proposal, from, to, by }: DecisionCondition,
  now: number,
): Promise<boolean> {
  const isExpired = from === "expired"
  const isDecidable = isDecidableSql(from, (name) => (name === "now" ? "$3" : "$6"))
  const { rowCount } = await client.query({
    name: isExpired ? "decide-expired" : "decide",
    text: `UPDATE proposal SET status = $1, decided_by = $2, decided_at = $3
      WHERE id = $4 AND conversation = (SELECT key FROM conversation WHERE key = $5 FOR UPDATE) AND ${isDecidable}`,
    values: [to, by, now, proposal, key, ...(isExpired ? [] : [from])],
  })
  return rowCount === 1
}

/** Waits until no other transaction changes the conversation, so that the next statement sees its result. */
export const lockConversation = (key: number): NamedStatement => ({
  name: "hold-still",
  text: "SELECT 1 FROM conversation WHERE key = $1::bigint FOR UPDATE",
  values: [key],
})

/** Undefined if a statement with `mustChange` changed nothing. */
export async function runStatements(
  client: ClientBase,
  { statements }: Statements,
): Promise<Record<string, unknown>[][] | undefined> {
  const all: Record<string, unknown>[][] = []
  for (const { sql: text, values, mustChange } of joinDefinitions(statements)) {
    const result = await client.query(toQuery(text, values))
    if (mustChange && !result.rowCount) return undefined
    all.push(result.rows as Record<string, unknown>[])
  }
  return all
}

/** Sends consecutive definitions together, because their results are not read. */
function joinDefinitions(statements: readonly Statement[]): Statement[] {
  const runGroup: Statement[] = []
  for (const statement of statements) {
    const last = runGroup.at(-1)
    if (last && isDefinition(last) && isDefinition(statement)) {
      runGroup[runGroup.length - 1] = { ...last, sql: `${last.sql};\n${statement.sql}` }
    } else runGroup.push(statement)
  }
  return runGroup
}

const isDefinition = ({ sql: text, values }: Statement) => values.length === 0 && /^(CREATE|ALTER|DROP) /.test(text)
