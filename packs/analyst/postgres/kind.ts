import { failure, FairQueue, type Log, type PostgresTarget } from "../../../core/pack.ts"
import type { DatabaseKind, DatabaseUse } from "../database/kind.ts"
import { allPostgresGuards, type PostgresGuards, type QueryLimits, queryLimits } from "../database/sql-guards.ts"
import { PostgresGuard } from "./guard.ts"
import { postgresChanges } from "./changes.ts"
import { addressesOf, type HostRules } from "./hosts.ts"
import { roleWarnings } from "./role-warnings.ts"
import { introspectPostgres } from "./introspect.ts"
import { readDirectly, readRows } from "./rows.ts"
import { type PostgresSession, type SessionOptions, withSession } from "./session.ts"

export interface PostgresKindOptions {
  readonly hosts: HostRules
  /** True if people may connect as superusers of their databases. */
  readonly superuserConnections: boolean
  readonly limits?: QueryLimits
  /** Default: all. Tests disable single ones. */
  readonly guards?: PostgresGuards
  readonly log?: Log | undefined
}

/** PostgreSQL. Each query has its own connection. */
export function postgresKind(options: PostgresKindOptions): DatabaseKind<PostgresTarget> {
  const { hosts, guards = allPostgresGuards, limits = queryLimits, superuserConnections } = options
  const closing = new AbortController()
  const session: SessionOptions = { hosts, guards, limits, superuserConnections, closing: closing.signal }
  const guarding = new PostgresGuard(options.log)
  const queue = new FairQueue({
    atOnce: 20,
    perPerson: 4,
    waiting: 20,
    tooMany: (most: number) => failure("too_many", { what: "queries of yours", most }),
  })

  async function guard(sql: string): Promise<{ readonly direct: boolean }> {
    const { problem, direct = false } = await guarding.checkQuery(sql)
    if (problem !== undefined) throw failure("query_refused", { problem })
    return { direct }
  }

  const inside = <T>(place: DatabaseUse<PostgresTarget>, work: (session: PostgresSession) => Promise<T>) =>
    queue.run(place.user, place.signal, (keep) => withSession(place, { ...session, keep }, work))
  const changes = postgresChanges(guarding, session)

  return {
    check: async ({ host }) => void (await addressesOf(host, hosts)),
    guard: async (sql) => void (await guard(sql)),
    probe: (place) => inside(place, roleWarnings),
    async query(place, sql) {
      const { direct } = guards.grammar ? await guard(sql) : { direct: false }
      return inside(place, (session_) => (direct ? readDirectly : readRows)(session_, sql, session))
    },
    introspect: (place) => inside(place, (session_) => introspectPostgres(session_, limits.seconds)),
    rehearse: (place, sql) => queue.run(place.user, place.signal, (keep) => changes.rehearse(place, sql, keep)),
    // Not queued behind the user's other queries: an approved change, or the question about its outcome, does not wait.
    apply: changes.apply,
    outcome: changes.outcome,
    close() {
      closing.abort()
      return guarding.close()
    },
  }
}
