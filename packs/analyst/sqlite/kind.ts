import { failure, type Log, type SqliteTarget, type UserId } from "../../../core/pack.ts"
import type { DatabaseKind, DatabaseUse } from "../database/kind.ts"
import { allSqliteGuards, queryLimits, type SqliteGuards } from "../database/sql-guards.ts"
import { SqliteChangeChildren } from "./change-children.ts"
import { sqliteChanges } from "./changes.ts"
import { SqliteChildren } from "./children.ts"
import type { SqliteJob, SqliteOutcome } from "./job.ts"
import { FilePlaces, type SharedFileStorage } from "./places.ts"
import { problemOfStatement } from "./statement.ts"

export interface SqliteKindOptions {
  /** The folder with the folders `<user>` and `shared` of files. */
  readonly root: string
  /** Set if several machines share the store. */
  readonly shared?: SharedFileStorage | undefined
  readonly limits?: typeof queryLimits
  /** Default: all. Tests disable single ones. */
  readonly guards?: SqliteGuards
  /** The most bytes of all databases of a user's uploads. */
  readonly mostUploaded?: number
  readonly log?: Log | undefined
}

/** SQLite files, which are read and changed in separate processes. */
export function sqliteKind({
  root,
  shared,
  limits = queryLimits,
  guards = allSqliteGuards,
  mostUploaded,
  log,
}: SqliteKindOptions): DatabaseKind<SqliteTarget> {
  const children = new SqliteChildren(log)
  const places = new FilePlaces(root, shared, mostUploaded)

  async function run(place: DatabaseUse<SqliteTarget>, work: SqliteJob["work"]): Promise<SqliteOutcome> {
    const { target, user, signal } = place
    const outcome = await children.run(user, { ...(await places.reading(place)), work, limits, guards }, signal)
    switch (outcome.type) {
      case "no_file":
        throw failure("file_not_allowed", { path: target.path })
      case "too_large":
        throw failure("result_too_large", { most: `${limits.bytes} bytes` })
      case "refused":
        throw failure("query_refused", { problem: outcome.problem })
      case "failed":
        throw failure("query_failed", { problem: outcome.problem })
      default:
        return outcome
    }
  }

  const changing = new SqliteChangeChildren(log)
  const changes = sqliteChanges(changing, { places, storedFiles: shared?.uploads.files, limits })

  async function check(target: SqliteTarget, user: UserId): Promise<void> {
    if (target.writable && !places.isOwn(target, user))
      throw failure("bad_request", { problem: "writable: only a file in your own folder can be changed." })
    await probe({ target, user, signal: new AbortController().signal })
  }

  async function guard(sql: string): Promise<void> {
    const problem = problemOfStatement(sql)
    if (problem !== undefined) throw failure("query_refused", { problem })
  }

  const probe = async (place: DatabaseUse<SqliteTarget>): Promise<readonly string[]> => {
    await run(place, { type: "probe" })
    return []
  }

  return {
    ...changes,
    check,
    guard,
    probe,
    async query(place, sql) {
      if (guards.statement) await guard(sql)
      const outcome = await run(place, { type: "query", sql })
      if (outcome.type !== "answer") throw failure("internal")
      return outcome.answer
    },
    async introspect(place) {
      const outcome = await run(place, { type: "introspect" })
      if (outcome.type !== "schema") throw failure("internal")
      return outcome.schema
    },
    close: async () => void (await Promise.all([children.close(), changing.close()])),
  }
}
