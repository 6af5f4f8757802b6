import { parentPort } from "node:worker_threads"
import { compilePatterns } from "./check.ts"
import { type SchemaJob, SchemaJobs } from "./schema-job.ts"

/** Takes at most a second or two, in the worst case of patterns. */
const STEPS = 5_000_000

const jobs = new SchemaJobs(compilePatterns, STEPS)

parentPort?.on("message", (job: SchemaJob) => parentPort?.postMessage(jobs.do(job)))
