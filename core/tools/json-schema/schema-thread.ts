import { parentPort } from "node:worker_threads"
import { compilePatterns } from "./check.ts"
import { type SchemaJob, SchemaJobs } from "./schema-job.ts"

/** Of a schema times a value. They take at most a second or two; patterns that meet the worst text for them are the slowest. */
const STEPS = 5_000_000

const jobs = new SchemaJobs(compilePatterns, STEPS)

parentPort?.on("message", (job: SchemaJob) => parentPort?.postMessage(jobs.do(job)))
