import { setTimeout as pause } from "node:timers/promises"
import { failure, type Keep, type PostgresTarget } from "../../../core/pack.ts"
import type { ChangeAttempt, DatabaseChange, DatabaseKind, DatabaseUse } from "../database/kind.ts"
import { changeGuards } from "../database/sql-guards.ts"
import { changeRows } from "./change-rows.ts"
import type { PostgresGuard } from "./guard.ts"
import type { PostgresPlan } from "./plan.ts"
import { type PostgresSession, type SessionOptions, withSession } from "./session.ts"

type Kind = DatabaseKind<PostgresTarget>

interface Changes extends Pick<Kind, "apply" | "outcome"> {
  rehearse(place: DatabaseUse<PostgresTarget>, sql: string, keep: Keep): Promise<DatabaseChange>
}

/** How long to wait for a transaction that is still in progress. */
const PATIENCE_MS = 8000
const LOOK_MS = 250

/**
 * Changes of a PostgreSQL database. Each is one statement in one transaction, whose id shows the outcome if it is in
 * doubt.
 */
export function postgresChanges(guarding: PostgresGuard, options: SessionOptions): Changes {
  const writing: SessionOptions = { ...options, guards: changeGuards }

  async function planOf(sql: string): Promise<PostgresPlan> {
    const plan = await guarding.checkChange(sql)
    if (typeof plan === "string") throw failure("change_refused", { problem: plan })
    return plan
  }

  async function rehearse(place: DatabaseUse<PostgresTarget>, sql: string, keep: Keep): Promise<DatabaseChange> {
    const plan = await planOf(sql)
    // The session is always rolled back.
    return withSession(place, { ...writing, keep }, (session) => changeRows(session, plan, place.target))
  }

  async function apply(
    place: DatabaseUse<PostgresTarget>,
    sql: string,
    attempt: ChangeAttempt,
  ): Promise<DatabaseChange> {
    const plan = await planOf(sql)
    let sent: { readonly mark: string; readonly change: DatabaseChange } | undefined
    try {
      return await withSession(place, writing, async (session) => {
        const change = await changeRows(session, plan, place.target).catch((error: unknown) => {
          throw (error as { code?: unknown }).code === OVERTAKEN ? stale(plan) : error
        })
        if (change.revision !== attempt.expected) throw stale(plan)
        const mark = await markOf(session)
        await attempt.record(mark, change)
        session.over.throwIfAborted()
        // From here on only the server knows the outcome. The mark allows a later check.
        sent = { mark, change }
        const { command } = await session.ask("COMMIT")
        if (command !== "COMMIT") throw failure("query_failed", { problem: "the transaction was rolled back" })
        return change
      })
    } catch (error) {
      // Errors before the COMMIT are certain. An error of the COMMIT is not: a backend that is terminated while it
      // writes its COMMIT reports an error although it has committed.
      if (!sent) throw error
      const result = await outcome({ ...place, signal: AbortSignal.timeout(PATIENCE_MS * 2) }, sent.mark).catch(
        () => "unknown",
      )
      if (result === "applied") return sent.change
      if (result === "not-applied") throw error
      throw failure("outcome_unknown", {
        problem: "The commit was sent to the database, which then became unreachable.",
      })
    }
  }

  function outcome(place: DatabaseUse<PostgresTarget>, mark: string): ReturnType<Changes["outcome"]> {
    const { xid, cluster, timeline = null } = JSON.parse(mark) as Mark
    return withSession(place, options, async (session) => {
      // Another server has its own transaction ids.
      if ((await clusterOf(session)) !== cluster) return "unknown"
      // A promoted replica continues the transaction ids and may lack this transaction.
      if ((await timelineOf(session)) !== timeline) return "unknown"
      for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await pause(LOOK_MS)) {
        const { rows } = await session.ask(`SELECT txid_status(${BigInt(xid)})`)
        if (rows[0]?.[0] === "committed") return "applied"
        if (rows[0]?.[0] === "aborted") return "not-applied"
        if (rows[0]?.[0] !== "in progress") return "unknown" // too old: the server no longer knows it
      }
      return "unknown"
    })
  }

  return { rehearse, apply, outcome }
}

/** SQLSTATE of a serialization failure: another transaction changed the same rows. */
const OVERTAKEN = "40001"

const stale = ({ table }: PostgresPlan) =>
  failure("row_stale", { noun: "table", id: table, columns: "the rows that it would change" })

interface Mark {
  readonly xid: string
  readonly cluster: string | null
  readonly timeline: string | null
}

async function markOf(session: PostgresSession): Promise<string> {
  const { rows } = await session.ask("SELECT txid_current()::text")
  const [cluster, timeline] = [await clusterOf(session), await timelineOf(session)]
  return JSON.stringify({ xid: rows[0]?.[0] ?? "", cluster, timeline } satisfies Mark)
}

/** The unique id of a database cluster. */
async function clusterOf({ ask }: PostgresSession): Promise<string | null> {
  const { rows } = await ask("SELECT system_identifier::text FROM pg_control_system()")
  return rows[0]?.[0] ?? null
}

/** The timeline, which changes when a replica is promoted; null if this user may not read it. */
async function timelineOf({ ask }: PostgresSession): Promise<string | null> {
  const may = await ask("SELECT has_function_privilege('pg_catalog.pg_control_checkpoint()', 'EXECUTE')")
  if (may.rows[0]?.[0] !== "t") return null
  const { rows } = await ask("SELECT timeline_id::text FROM pg_control_checkpoint()")
  return rows[0]?.[0] ?? null
}
