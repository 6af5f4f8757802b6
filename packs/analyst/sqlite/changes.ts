import { failure, FairQueue, hasCode, type StoredFiles, KeyedLock, type SqliteTarget } from "../../../core/pack.ts"
import type { ChangeAttempt, DatabaseChange, DatabaseKind, DatabaseUse } from "../database/kind.ts"
import type { QueryLimits } from "../database/sql-guards.ts"
import type { SqliteChangeChildren } from "./change-children.ts"
import type { SqliteChangeJob, SqliteChangeOutcome, SqliteMark, StoreMark } from "./change-job.ts"
import type { ChangePlace, FilePlaces } from "./places.ts"
import { CHANGES, problemOfStatement } from "./statement.ts"

type Changes = Pick<DatabaseKind<SqliteTarget>, "rehearse" | "apply" | "outcome">
type Changed = Extract<SqliteChangeOutcome, { type: "changed" }>

/** How often a locked file is tried again, two seconds each. */
const LOOKS = 4
/** How often a change is repeated because another one has replaced the stored file in the meantime. */
const TRIES = 10

/** Limits for simultaneous rehearsals, one for each user: they need no approval, so a user could request many. */
const REHEARSALS = {
  atOnce: 2,
  perPerson: 1,
  waiting: 20,
  tooMany: (most: number) => failure("too_many", { what: "queries of yours", most }),
}

interface SqliteFiles {
  readonly places: FilePlaces
  /** The stored files whose copies are changed. */
  readonly storedFiles?: StoredFiles | undefined
  readonly limits: QueryLimits
}

/** Changes of SQLite files. Each has a process that applies the change and waits for the decision to commit. */
export function sqliteChanges(children: SqliteChangeChildren, { places, storedFiles, limits }: SqliteFiles): Changes {
  const queue = new FairQueue(REHEARSALS)
  const inLine = new KeyedLock()

  /**
   * `decide` receives what was changed and returns whether to commit. From a `commit` on, only the file knows the
   * outcome.
   */
  async function change(
    place: DatabaseUse<SqliteTarget>,
    { path, folders, copyOf, mostBytes }: ChangePlace,
    sql: string,
    decide: (changed: Changed) => Promise<"commit" | "rollback">,
  ): Promise<DatabaseChange> {
    const problem = problemOfStatement(sql, CHANGES)
    if (problem !== undefined) throw failure("change_refused", { problem })
    const timeUp = AbortSignal.timeout(limits.seconds * 1000)
    const over = AbortSignal.any([place.signal, timeUp])
    // The path of a copy differs each time and on each machine.
    const name = copyOf && `${place.user}/${copyOf.path}`
    try {
      return await children.run(folders, over, async (child) => {
        child.send({ path, name, folders, limits, mostBytes, work: { type: "change", sql } })
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

  function apply(place: DatabaseUse<SqliteTarget>, sql: string, attempt: ChangeAttempt): Promise<DatabaseChange> {
    const work = async () => {
      for (let tries = 0; tries < TRIES; tries++) {
        const make = (where: ChangePlace) =>
          where.copyOf ? applyToCopy(place, where, sql, attempt) : applyInPlace(place, where, sql, attempt)
        const done = await places.changing(place, make, true)
        if (done !== "moved") return done
      }
      throw failure("query_failed", { problem: "others kept changing the file; nothing was done" })
    }
    // On this machine copies are changed one at a time. A change on another machine is detected at the end and causes a
    // retry.
    return storedFiles ? inLine.run(`${place.user} ${place.target.path}`, work) : work()
  }

  async function applyInPlace(
    place: DatabaseUse<SqliteTarget>,
    where: ChangePlace,
    sql: string,
    attempt: ChangeAttempt,
  ): Promise<DatabaseChange> {
    let sent: Changed | undefined
    try {
      return await change(place, where, sql, async (changed) => {
        demandShown(changed.change, attempt)
        await attempt.record(JSON.stringify(changed.mark), changed.change)
        sent = changed
        return "commit"
      })
    } catch (error) {
      // SQLite's own error about a COMMIT is certain, as are all errors before it.
      if (!sent || hasCode(error, "query_failed")) throw error
      const asked = { ...place, signal: AbortSignal.timeout(20_000) }
      const result = await outcome(asked, JSON.stringify(sent.mark)).catch(() => "unknown")
      if (result === "applied") return sent.change
      if (result === "not-applied") throw error
      throw failure("outcome_unknown", { problem: "The change was cut off while it was written to the file." })
    }
  }

  /**
   * Replaces the stored bytes and records the attempt in one transaction of the store. After a crash before it nothing
   * is applied; after it everything is, and recorded.
   */
  async function applyToCopy(
    place: DatabaseUse<SqliteTarget>,
    where: ChangePlace,
    sql: string,
    attempt: ChangeAttempt,
  ): Promise<DatabaseChange | "moved"> {
    const { user } = place
    if (!storedFiles || !where.copyOf) throw failure("internal")
    const { path, stored } = where.copyOf
    const made = await change(place, where, sql, async (changed) => {
      demandShown(changed.change, attempt)
      return "commit"
    })
    const to = await storedFiles.put(user, where.path)
    const mark: StoreMark = { replacedBy: to.id }
    const replaces = { user, path, from: stored.id, to }
    try {
      place.signal.throwIfAborted()
      const moved = await attempt.record(JSON.stringify(mark), made, replaces)
      if (!moved) await storedFiles.adopt(user, to, where.path)
      else await storedFiles.drop(to)
      return moved ?? made
    } catch (error) {
      await storedFiles.drop(to) // has no effect if only the answer was lost: the file uses them then
      throw error
    }
  }

  async function outcome(place: DatabaseUse<SqliteTarget>, mark: string): ReturnType<Changes["outcome"]> {
    const known = JSON.parse(mark) as SqliteMark | StoreMark
    if ("replacedBy" in known) return "applied"
    return places.changing(place, ({ path, folders }) =>
      look({ path, folders, limits, work: { type: "look", mark: known } }, place.signal),
    )
  }

  async function look(job: SqliteChangeJob, signal: AbortSignal): ReturnType<Changes["outcome"]> {
    for (let looks = 0; looks < LOOKS; looks++) {
      const seen = await children.run(job.folders, signal, (child) => {
        child.send(job)
        return child.hear(signal)
      })
      if (seen.type === "seen") return seen.told
      if (seen.type !== "failed" || !/locked|busy/.test(seen.problem)) return "unknown"
    }
    return "unknown"
  }

  const rehearse = (place: DatabaseUse<SqliteTarget>, sql: string) =>
    queue.run(place.user, place.signal, () =>
      places.changing(place, (where) => change(place, where, sql, async () => "rollback")),
    )

  return { rehearse, apply, outcome }
}

function demandShown({ revision, table }: DatabaseChange, { expected }: ChangeAttempt): void {
  if (revision === expected) return
  throw failure("row_stale", { noun: "table", id: table, columns: "the rows that it would change" })
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
