import { runSqliteJob } from "./run-job.ts"
import type { SqliteJob } from "./job.ts"

/**
 * A process that reads users' SQLite files, one query at a time. A query cannot be stopped from inside the process, so
 * its parent kills the process, or the orphan guard does if the parent is gone.
 */
const [scratch = ""] = process.argv.slice(2)

process.on("message", (job: SqliteJob) => void process.send?.(runSqliteJob(job, scratch)))
process.on("disconnect", () => process.exit())
process.send?.("ready")
