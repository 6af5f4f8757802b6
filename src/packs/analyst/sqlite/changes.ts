import type { SqliteTarget } from "../../../protocol/databases/connections.ts"
import { failure, hasCode } from "../../../protocol/errors.ts"
import type { ChangeAttempt, DatabaseChange, DatabaseKind, DatabaseUse } from "../database/kind.ts"
import { FairQueue } from "../../../agent/concurrency/fair-queue.ts"
import type { SqliteChangeChildren } from "./change-children.ts"
import type { SqliteChangeJob, SqliteChangeOutcome, SqliteMark } from "./change-job.ts"
import { CHANGES, problemOfStatement } from "./statement.ts"

type Changes = Pick<DatabaseKind<SqliteTarget>, "rehearse" | "apply" | "outcome">
type Changed = Extract<SqliteChangeOutcome, { type: "changed" }>
type Where = Pick<SqliteChangeJob, "path" | "folders" | "limits">

/** How often a file that another process has locked is tried again, two seconds each. */
const LOOKS = 4

/** Rehearsals at the same time, one of each person: nobody has to agree to one, so that anybody could ask for many. */
const REHEARSALS = { atOnce: 2, perPerson: 1, waiting: 20 }

/** Changes of SQLite files, each in a process of its own that waits with the change done but undecided. */
export function sqliteChanges(
  children: SqliteChangeChildren,
  whereOf: (place: DatabaseUse<SqliteTarget>) => Where,
): Changes {
  const queue = new FairQueue(REHEARSALS)

  /** `decide` is told what was done and says what is to become of it; from a `commit` on, only the file knows. */
  async function change(
    place: DatabaseUse<SqliteTarget>,
    sql: string,
    decide: (changed: Changed) => Promise<"commit" | "rollback">,
  ): Promise<DatabaseChange> {
    const problem = problemOfStatement(sql, CHANGES)
    if (problem !== undefined) throw failure("change_refused", { problem })
    const { limits, folders } = whereOf(place)
    const timeUp = AbortSignal.timeout(limits.seconds * 1000)
    const over = AbortSignal.any([place.signal, timeUp])
    try {
      return await children.run(folders, over, async (child) => {
        child.send({ ...whereOf(place), work: { type: "change", sql } })
        const changed = check(await child.hear(over), place)
        if (changed.type !== "changed") throw failure("internal")
        child.send(await decide(changed))
        check(await child.hear(over), place)
        return changed.change
      })
    } catch (error) {
      if (place.signal.aborted) throw place.signal.reason
      throw timeUp.aborted ? failure("query_timeout", { seconds: limits.seconds }) : error
    }
  }

  async function apply(place: DatabaseUse<SqliteTarget>, sql: string, attempt: ChangeAttempt): Promise<DatabaseChange> {
    let sent: Changed | undefined
    try {
      return await change(place, sql, async (changed) => {
        if (changed.change.revision !== attempt.expected) {
          const { table } = changed.change
          throw failure("row_stale", { noun: "table", id: table, columns: "the rows that it would change" })
        }
        await attempt.record(JSON.stringify(changed.mark), changed.change)
        sent = changed
        return "commit"
      })
    } catch (error) {
      // What SQLite itself says about a COMMIT is certain, as is all that comes before one.
      if (!sent || hasCode(error, "query_failed")) throw error
      const asked = { ...place, signal: AbortSignal.timeout(20_000) }
      const told = await outcome(asked, JSON.stringify(sent.mark)).catch(() => "unknown")
      if (told === "applied") return sent.change
      if (told === "not-applied") throw error
      throw failure("outcome_unknown", { problem: "The change was cut off while it was written to the file." })
    }
  }

  async function outcome(place: DatabaseUse<SqliteTarget>, mark: string): ReturnType<Changes["outcome"]> {
    const work = { type: "look", mark: JSON.parse(mark) as SqliteMark } as const
    for (let look = 0; look < LOOKS; look++) {
      const seen = await children.run(whereOf(place).folders, place.signal, (child) => {
        child.send({ ...whereOf(place), work })
        return child.hear(place.signal)
      })
      if (seen.type === "seen") return seen.told
      if (seen.type !== "failed" || !/locked|busy/.test(seen.problem)) return "unknown"
    }
    return "unknown"
  }

  const rehearse = (place: DatabaseUse<SqliteTarget>, sql: string) =>
    queue.run(place.user, place.signal, () => change(place, sql, async () => "rollback"))

  return { rehearse, apply, outcome }
}

function check(outcome: SqliteChangeOutcome, { target }: DatabaseUse<SqliteTarget>): SqliteChangeOutcome {
  switch (outcome.type) {
    case "no_file":
      throw failure("file_not_allowed", { path: target.path })
    case "refused":
      throw failure("change_refused", { problem: outcome.problem })
    case "failed":
      throw failure("query_failed", { problem: outcome.problem })
    default:
      return outcome
  }
}
