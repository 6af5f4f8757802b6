import type { CsvJob } from "./job.ts"
import { runCsvJob } from "./run-job.ts"

/** A process that reads one CSV file. Whoever started it ends it when it takes too long; alone it does not go on. */
process.on("disconnect", () => process.exit())
process.on("message", (job: CsvJob) => {
  void runCsvJob(job).then((outcome) => process.send?.(outcome, () => process.exit()))
})
process.send?.("ready")
