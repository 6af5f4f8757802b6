import {
  type Child,
  ChildDied,
  ChildProgram,
  failure,
  type Log,
  type OtherProgram,
  siblingScript,
} from "../../../core/pack.ts"
import type { CsvJob, CsvOutcome } from "./job.ts"

/**
 * Reads a CSV file in a separate process that ends afterwards, because a million rows would block all other requests.
 */
export async function readInChild(
  job: CsvJob,
  signal: AbortSignal,
  { log, other }: { readonly log?: Log | undefined; readonly other?: OtherProgram },
): Promise<CsvOutcome> {
  const own = other ?? { script: siblingScript(import.meta.url, "csv-child") }
  const program = new ChildProgram({ ...own, flags: ["--max-old-space-size=256"], megabytes: 437, log })
  const { seconds } = job.limits
  const over = AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000)])
  let child: Child | undefined
  try {
    const made = job.to === null ? [] : [job.to]
    child = await program.start({ files: { reads: [job.file, ...made], writes: made }, signal: over })
    child.send(job)
    return (await child.hear(over)) as CsvOutcome
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (over.aborted) throw failure("csv_refused", { problem: `it could not be read within ${seconds} s` })
    if (!(error instanceof ChildDied)) throw error
    throw failure("csv_refused", { problem: "reading it broke down; it may be too large" })
  } finally {
    await child?.end()
  }
}
