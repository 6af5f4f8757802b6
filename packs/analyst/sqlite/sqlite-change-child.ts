import { runSqliteChange } from "./run-change.ts"
import type { SqliteChangeJob, SqliteChangeOutcome, SqliteWord } from "./change-job.ts"

/** A process that changes SQLite files, one change at a time. It exits with its parent, which decides about changes. */
process.on("disconnect", () => process.exit())

const next = <T>() => new Promise<T>((resolve) => process.once("message", (message) => resolve(message as T)))
const say = (outcome: SqliteChangeOutcome | "ready") => void process.send?.(outcome)

// Subscribes before it reports that it is ready, because the job may arrive immediately.
let job = next<SqliteChangeJob>()
say("ready")
for (;;) {
  const outcome = await runSqliteChange(await job, say, () => next<SqliteWord>())
  job = next()
  say(outcome)
}
