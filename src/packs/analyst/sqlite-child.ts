import { Worker } from "node:worker_threads"
import { runSqliteJob } from "./run-sqlite-job.ts"
import type { SqliteJob } from "./sqlite-job.ts"

/**
 * A process that reads SQLite files for people, one query at a time. A query cannot be stopped from inside its process,
 * so whoever started this ends it whole; and if that one has died, the watcher does, which has a thread of its own.
 */
const [scratch = "", parent = ""] = process.argv.slice(2)

const watcher = `setInterval(() => process.ppid === ${Number(parent)} || process.kill(process.pid, "SIGKILL"), 1000)`
new Worker(watcher, { eval: true, env: {} }).unref()

process.on("message", (job: SqliteJob) => void process.send?.(runSqliteJob(job, scratch)))
process.on("disconnect", () => process.exit())
process.send?.("ready")
