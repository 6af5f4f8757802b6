import { once } from "node:events"
import type { Log } from "../../../shared/log.ts"
import { besideModule, startThread } from "../../../shared/processes/thread.ts"

/**
 * Sees to it that nothing can be read in the files of a SQLite database that was deleted from it. In a thread: it works on
 * whole files, and fsyncs. `words` also makes the index over words anew: it only marks what is deleted.
 */
export async function scrub(file: string, { words }: { words: boolean }, log?: Log): Promise<void> {
  const script = besideModule(import.meta.url, "scrub-thread")
  const worker = startThread(script, { workerData: { file, words }, log })
  const [code] = (await once(worker, "exit")) as [number] // rejects with what the thread threw
  if (code !== 0) throw new Error(`the thread that scrubs the database ended with ${code}`)
}
