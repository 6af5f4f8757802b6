import { runSqliteJob } from "./run-job.ts"
import type { SqliteJob } from "./job.ts"

/**
 * A process that reads SQLite files for people, one query at a time. A query cannot be stopped from inside its process,
 * so whoever started this ends it whole; and if that one has died, its orphan guard does.
 */
const [scratch = ""] = process.argv.slice(2)

process.on("message", (job: SqliteJob) => void process.send?.(runSqliteJob(job, scratch)))
process.on("disconnect", () => process.exit())
process.send?.("ready")
