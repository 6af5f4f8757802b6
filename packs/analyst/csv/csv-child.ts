import type { CsvJob } from "./job.ts"
import { runCsvJob } from "./run-job.ts"

/** A process that reads one CSV file. Its parent ends it if it takes too long; it exits when the parent does. */
process.on("disconnect", () => process.exit())
process.on("message", (job: CsvJob) => {
  void runCsvJob(job).then((outcome) => process.send?.(outcome, () => process.exit()))
})
process.send?.("ready")
