import { setTimeout as pause } from "node:timers/promises"
import { failure } from "../../../core/protocol/errors.ts"
import type { PostgresTarget } from "../../../core/protocol/databases/connections.ts"

/** After so long everybody who has not reached PostgreSQL is told so, however soon it was clear. */
export const UNREACHABLE_MS = 6000

/**
 * Opens a connection, and tells every failure alike: refused, filtered, silent, something else than PostgreSQL, after the
 * same time and in the same words. Otherwise anybody could have this server find out which ports of others are open.
 * What PostgreSQL itself has answered is told as it is: that is what somebody needs who mends their settings.
 */
export async function openAlike<T>(
  { host, port }: Pick<PostgresTarget, "host" | "port">,
  over: AbortSignal,
  open: () => Promise<T>,
): Promise<T> {
  const timeIsUp = pause(UNREACHABLE_MS, undefined, { signal: over })
  timeIsUp.catch(() => {}) // nobody waits for it where the connection opens, or whoever asked is gone
  try {
    return await open()
  } catch (error) {
    if (isAnswer(error)) throw error
    await timeIsUp
    const problem = `nothing that is PostgreSQL has answered at ${host}, port ${port}, within ${UNREACHABLE_MS / 1000} s: the host, the port, a firewall or the encryption may be why`
    throw failure("connection_failed", { problem })
  }
}

/** What only PostgreSQL says: an error of its own, that it has no encryption, a certificate, its ways to ask for a password. */
function isAnswer(error: unknown): boolean {
  const { severity, code, message = "" } = error as { severity?: unknown; code?: unknown; message?: string }
  if (severity !== undefined || /^SASL|does not support SSL/.test(message)) return true
  return typeof code === "string" && /^(CERT_|ERR_TLS_CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/.test(code)
}
