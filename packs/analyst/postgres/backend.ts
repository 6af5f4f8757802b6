import { setTimeout as pause } from "node:timers/promises"
import { type LinkOptions, type OpenClient, openLink } from "./link.ts"

/** The backend process of a connection, and its transaction: a process id alone may be reused. */
export interface Backend {
  readonly process: string
  readonly began: string
}

/** The columns that identify the backend of a transaction. */
export const BACKEND = "pg_backend_pid()::text, extract(epoch FROM transaction_timestamp())::text"

/** How long a backend that ignores its cancel is watched, and how often it is checked. */
const MAX_MS = 120_000
const LOOK_MS = 500

/**
 * Returns when a stopped backend has ended its transaction. A second connection terminates it as well: the cancel
 * request may be lost, and a backend that waits for its client to read ignores cancel requests. While a single step
 * processes a gigabyte it ignores both, and only the operator can end it.
 */
export async function awaitBackendEnd(
  link: LinkOptions,
  backend: Backend,
  closing: AbortSignal,
  mostMs = MAX_MS,
): Promise<void> {
  let client: OpenClient | undefined
  const leave = () => (client?.connection as unknown as { stream: { destroy(): void } } | undefined)?.stream.destroy()
  // Aborts also while waiting for an answer that may never arrive, because this occupies a slot of the queue.
  const signal = AbortSignal.any([closing, AbortSignal.timeout(mostMs)])
  signal.addEventListener("abort", leave, { once: true })
  try {
    client = await openLink(link)
    for (; !signal.aborted; await pause(LOOK_MS, null, { signal })) {
      const { rowCount } = await client.query(tellToGo(backend))
      if (rowCount === 0) return
    }
  } catch {
    // The server is unreachable or this process is closing, so nothing more can be done.
  } finally {
    leave()
    signal.removeEventListener("abort", leave)
  }
}

const tellToGo = ({ process, began }: Backend) => ({
  text: `SELECT pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity
    WHERE pid = $1::int AND extract(epoch FROM xact_start)::text = $2`,
  values: [process, began],
})
