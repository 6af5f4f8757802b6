import type { NextStep } from "./next-step.ts"
import { record, type Work } from "./record.ts"

/** Ends a run that has done what it was for without a last word of the model. */
export function endRun(work: Work, { because }: Extract<NextStep, { type: "end-run" }>): Promise<void> {
  return record(work, [{ type: "run_ended", status: "completed", reason: because }])
}
