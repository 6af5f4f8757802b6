import { isAbsolute, join, resolve, sep } from "node:path"
import type { Log } from "../../../agent/ports.ts"
import type { SqliteTarget } from "../../../protocol/databases/connections.ts"
import { failure } from "../../../protocol/errors.ts"
import type { UserId } from "../../../protocol/ids.ts"
import type { DatabaseKind, DatabaseUse } from "../database/kind.ts"
import { everySqliteWall, queryLimits, type SqliteLayers } from "../database/walls.ts"
import { SqliteChangeChildren } from "./change-children.ts"
import { sqliteChanges } from "./changes.ts"
import { SqliteChildren } from "./children.ts"
import type { SqliteJob, SqliteOutcome } from "./job.ts"
import { problemOfStatement } from "./statement.ts"

export interface SqliteKindOptions {
  /** Files lie in its folders `<user>` and `shared`. */
  readonly root: string
  readonly limits?: typeof queryLimits
  /** All of them, but in a test. */
  readonly layers?: SqliteLayers
  readonly log?: Log | undefined
}

/** SQLite files, read in processes of their own. */
export function sqliteKind({
  root,
  limits = queryLimits,
  layers = everySqliteWall,
  log,
}: SqliteKindOptions): DatabaseKind<SqliteTarget> {
  const children = new SqliteChildren(log)

  async function run(
    { target, user, signal }: DatabaseUse<SqliteTarget>,
    work: SqliteJob["work"],
  ): Promise<SqliteOutcome> {
    const folders = [join(root, user), join(root, "shared")]
    const path = pathOf(root, user, target)
    const outcome = await children.run(user, { path, folders, work, limits, layers }, signal)
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

  // Only what is the person's own: a file of everybody is not one person's to change.
  const changing = new SqliteChangeChildren(log)
  const changes = sqliteChanges(changing, ({ target, user }) => ({
    path: pathOf(root, user, target),
    folders: [join(root, user)],
    limits,
  }))

  async function check(target: SqliteTarget, user: UserId): Promise<void> {
    if (target.writable && !pathOf(root, user, target).startsWith(join(root, user) + sep))
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
      if (layers.statement) await guard(sql)
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

/** `shop.db` is in one's own folder, `shared/shop.db` in everybody's; a whole path is taken as it is, and judged as all are. */
function pathOf(root: string, user: UserId, { path }: SqliteTarget): string {
  if (isAbsolute(path)) return resolve(path)
  const [first] = path.split(/[/\\]/)
  return first === "shared" || first === user ? resolve(root, path) : resolve(root + sep + user, path)
}
