import pg from "pg"
import type { Engine } from "../../../core/store/engine/engine.ts"
import { toQuery } from "../../../core/store/engine/numbered.ts"
import type { Statement } from "../../../core/store/engine/operations.ts"

type Sent = Pick<Statement, "sql" | "values">

/** Tables that grow as long as a server is used: no request and no periodic task scans all of one. */
const LARGE = [
  "conversation",
  "event",
  "run",
  "proposal",
  "audit_entry",
  "usage",
  "usage_day",
  "message_key",
  "kept_fold",
]
/** Indexes of a few rows in any table: conversations at work, proposals that wait or are in doubt. */
const OF_FEW = ["conversation_open", "proposal_at_hand", "proposal_doubtful"]

/** Every distinct statement that is sent to this engine from now on. */
export function recordStatements(engine: Engine): Sent[] {
  const sent = new Map<string, Sent>()
  const { query, change } = engine
  Object.assign(engine, {
    query(sql: string, values: readonly unknown[]) {
      sent.set(sql, { sql, values })
      return query.call(engine, sql, values)
    },
    change(operation: { readonly type: string; readonly statements?: readonly Sent[] }) {
      for (const { sql, values } of operation.statements ?? []) sent.set(sql, { sql, values })
      return change.call(engine, operation as never)
    },
  })
  return { [Symbol.iterator]: () => sent.values() } as unknown as Sent[]
}

/** The statements that scan all of a large table, each with what it scans. */
export async function readingAll(engine: Engine, url: string, sent: Iterable<Sent>): Promise<string[]> {
  const each = [...sent]
  return engine.name === "sqlite" ? scansOfSqlite(engine, each) : scansOfPostgres(url, each)
}

async function scansOfSqlite(engine: Engine, sent: readonly Sent[]): Promise<string[]> {
  const found: string[] = []
  for (const { sql, values } of sent) {
    const steps = await engine.query<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, values)
    for (const { detail } of steps) {
      const [, name, index] = /^SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?/.exec(detail) ?? []
      if (name && LARGE.includes(tableOf(sql, name)) && !(index && OF_FEW.includes(index)))
        found.push(`${detail}: ${sql}`)
    }
  }
  return found
}

/** Resolves a name in a statement: to a table, or from an alias to its table. */
const tableOf = (sql: string, name: string): string =>
  LARGE.find((table) => new RegExp(`\\b${table}(?: AS)? ${name}\\b`).test(sql)) ?? name

interface PlanNode {
  readonly "Node Type": string
  readonly "Relation Name"?: string
  readonly Plans?: readonly PlanNode[]
}

/**
 * PostgreSQL scans small tables because that is cheaper, so sequential scans are switched off: a scan that remains has
 * no index to use.
 */
async function scansOfPostgres(url: string, sent: readonly Sent[]): Promise<string[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    await client.query("SET enable_seqscan = off")
    const found: string[] = []
    for (const { sql, values } of sent) {
      const asked = toQuery(`EXPLAIN (FORMAT JSON) ${sql}`, values)
      const { rows } = await client.query<{ "QUERY PLAN": { Plan: PlanNode }[] }>(asked)
      for (const node of nodesOf(rows[0]?.["QUERY PLAN"][0]?.Plan)) {
        const table = node["Relation Name"] ?? ""
        if (node["Node Type"] === "Seq Scan" && LARGE.includes(table.replace(/_\d+$/, "")))
          found.push(`${table}: ${sql}`)
      }
    }
    return found
  } finally {
    await client.end()
  }
}

function nodesOf(node: PlanNode | undefined): PlanNode[] {
  return node ? [node, ...(node.Plans ?? []).flatMap(nodesOf)] : []
}
