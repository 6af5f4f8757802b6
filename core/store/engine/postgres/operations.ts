import type { ClientBase } from "pg"
import { toQuery } from "../numbered.ts"
import { standsSql } from "./lease.ts"
import type { NamedStatement } from "./wire-messages.ts"
import type { Commit, DecisionCondition, InboxAppend, Refusal, Statement, Statements } from "../operations.ts"

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
  const stands = standsSql(from, (name) => (name === "now" ? "$3" : "$6"))
  const { rowCount } = await client.query({
    name: isExpired ? "decide-expired" : "decide",
    text: `UPDATE proposal SET status = $1, decided_by = $2, decided_at = $3
      WHERE id = $4 AND conversation = (SELECT key FROM conversation WHERE key = $5 FOR UPDATE) AND ${stands}`,
    values: [to, by, now, proposal, key, ...(isExpired ? [] : [from])],
  })
  return rowCount === 1
}

/** Waits until nobody else changes the conversation: the statement behind it sees all that was done by then. */
export const toHoldStill = (key: number): NamedStatement => ({
  name: "hold-still",
  text: "SELECT 1 FROM conversation WHERE key = $1::bigint FOR UPDATE",
  values: [key],
})

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
