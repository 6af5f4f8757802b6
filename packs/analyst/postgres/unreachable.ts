import { setTimeout as pause } from "node:timers/promises"
import { failure, type PostgresTarget } from "../../../core/pack.ts"

/** Failures are reported after this time, however early they are known. */
export const UNREACHABLE_MS = 6000

/**
 * Opens a connection and reports every failure alike: refused, filtered, silent, or not PostgreSQL, after the same time
 * and with the same message. Otherwise a user could scan the ports of other hosts through this server. An error that
 * PostgreSQL itself sent is reported as it is, because users need it to correct their settings.
 */
export async function openWithSameErrors<T>(
  { host, port }: Pick<PostgresTarget, "host" | "port">,
  over: AbortSignal,
  open: () => Promise<T>,
): Promise<T> {
  const timeIsUp = pause(UNREACHABLE_MS, undefined, { signal: over })
  timeIsUp.catch(() => {}) // not awaited if the connection opens or the caller is gone
  try {
    return await open()
  } catch (error) {
    if (isAnswer(error)) throw error
    await timeIsUp
    const problem = `nothing that is PostgreSQL has answered at ${host}, port ${port}, within ${UNREACHABLE_MS / 1000} s: the host, the port, a firewall or the encryption may be why`
    throw failure("connection_failed", { problem })
  }
}

/**
 * Responses that only PostgreSQL sends: its errors, that it has no encryption, a certificate, or its authentication
 * requests.
 */
function isAnswer(error: unknown): boolean {
  const { severity, code, message = "" } = error as { severity?: unknown; code?: unknown; message?: string }
  if (severity !== undefined || /^SASL|does not support SSL/.test(message)) return true
  return typeof code === "string" && /^(CERT_|ERR_TLS_CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/.test(code)
}
