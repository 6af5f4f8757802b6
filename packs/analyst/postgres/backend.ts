import { setTimeout as pause } from "node:timers/promises"
import { type LinkOptions, type OpenClient, openLink } from "./link.ts"

/** The server's process behind a connection, and the transaction in it: the number alone may be another's by now. */
export interface Backend {
  readonly process: string
  readonly began: string
}

/** What to ask for inside a transaction to know its backend again. */
export const BACKEND = "pg_backend_pid()::text, extract(epoch FROM transaction_timestamp())::text"

/** How long a backend that does not react to its cancel is watched, and how often we look. */
const MAX_MS = 120_000
const LOOK_MS = 500

/**
 * Returns when a backend that was told to stop has ended its transaction. It is told to go by a second connection as well:
 * the request to cancel may be lost on its way, and one that waits for a client to read hears of no cancel. In the middle of one
 * step over a gigabyte it hears of neither, and nobody but its operator can end it before.
 */
export async function seeGone(
  link: LinkOptions,
  backend: Backend,
  closing: AbortSignal,
  mostMs = MAX_MS,
): Promise<void> {
  let client: OpenClient | undefined
  const leave = () => (client?.connection as unknown as { stream: { destroy(): void } } | undefined)?.stream.destroy()
  // Also while an answer is waited for, which may never come: somebody waits for the place that this one takes.
  const signal = AbortSignal.any([closing, AbortSignal.timeout(mostMs)])
  signal.addEventListener("abort", leave, { once: true })
  try {
    client = await openLink(link)
    for (; !signal.aborted; await pause(LOOK_MS, null, { signal })) {
      const { rowCount } = await client.query(tellToGo(backend))
      if (rowCount === 0) return
    }
  } catch {
    // It cannot be reached any more, or nobody wants to know: there is nothing left to be done from here.
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
