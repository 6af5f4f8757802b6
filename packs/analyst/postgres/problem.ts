import { type AppError, failure, own, type PostgresTarget } from "../../../core/pack.ts"
import type { QueryLimits } from "../database/sql-guards.ts"
import { TooMuch } from "./messages.ts"

const CANCELLED = "57014"

/** Converts an error of PostgreSQL or of the connection. Neither contains the password. */
export function problemOfPostgres(error: unknown, limits: QueryLimits): AppError {
  const { message, code, severity, detail, hint } = error as Record<string, string | undefined>
  if (error instanceof TooMuch) return failure("result_too_large", { most: `${limits.bytes} bytes` })
  if (code === CANCELLED && /statement timeout/.test(message ?? ""))
    return failure("query_timeout", { seconds: limits.seconds })
  const parts = [message, detail, hint].filter((part) => part !== undefined && part !== "")
  const problem = (parts.join(" ") || (code ?? "no reason was given")).slice(0, 2000).toWellFormed()
  return severity === undefined ? failure("connection_failed", { problem }) : failure("query_failed", { problem })
}

/** SQLSTATEs of refused logins. */
const REFUSALS: Readonly<Record<string, string>> = {
  "28P01": "the user name or the password is wrong",
  "28000": "the server does not let this user in from here, or not in this way",
  "3D000": "there is no database of this name",
  "42501": "this user may not use this database",
  "53300": "the server has no connection left",
  "57P03": "the server is starting or stopping",
}

/**
 * Returns the reason of a failed connection. A server may repeat the password that it received. A placeholder in its
 * place would reveal the password to a reader who compares, so the server's message is used only if the password cannot
 * be in it.
 */
export function reasonOfRefusal(error: unknown, { password }: PostgresTarget): string {
  const { message, code, severity } = error as Record<string, string | undefined>
  const text = (message || code || "it does not answer").slice(0, 500).replace(/\.$/, "").toWellFormed()
  if (severity === undefined) return text
  const refusal = own(REFUSALS, code ?? "")
  if (refusal) return refusal
  return password === "" || !text.includes(password) ? text : "the server refuses, in words that are not repeated here"
}
