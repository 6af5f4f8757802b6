import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { failure } from "../../protocol/errors.ts"
import type { CsvJob, CsvOutcome } from "./csv-job.ts"

/** Reads a CSV file in a process of its own, which ends with it: a million rows would keep everybody else waiting. */
export async function readInChild(job: CsvJob, signal: AbortSignal): Promise<CsvOutcome> {
  // Beside this file, in the checkout and in a bundle alike, with the same ending.
  const ending = import.meta.url.slice(import.meta.url.lastIndexOf("."))
  const script = fileURLToPath(new URL(`./csv-child${ending}`, import.meta.url))
  const words = ["--max-old-space-size=256", script]
  // Nothing of what this process was told: no key, no address.
  const child = spawn(process.execPath, words, { env: {}, stdio: ["ignore", "ignore", "ignore", "ipc"] })
  const { seconds } = job.limits
  const over = AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000)])
  try {
    const broke = once(child, "exit", { signal: over }).then(() => {
      throw failure("csv_refused", { problem: "reading it broke down; it may be too large" })
    })
    broke.catch(() => {})
    await Promise.race([once(child, "message", { signal: over }), broke])
    child.send(job)
    const [outcome] = await Promise.race([once(child, "message", { signal: over }), broke])
    return outcome as CsvOutcome
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (over.aborted) throw failure("csv_refused", { problem: `it could not be read within ${seconds} s` })
    throw error
  } finally {
    await end(child)
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, "exit")
  child.kill("SIGKILL")
  await gone
}
