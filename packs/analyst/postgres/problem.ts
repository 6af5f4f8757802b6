import { type AppError, failure } from "../../../core/protocol/errors.ts"
import { own } from "../../../core/shared/text/json.ts"
import type { PostgresTarget } from "../../../core/protocol/databases/connections.ts"
import type { QueryLimits } from "../database/walls.ts"
import { TooMuch } from "./messages.ts"

const CANCELLED = "57014"

/** What PostgreSQL said to a statement, or what became of the line, in their own words: no password is part of either. */
export function problemOfPostgres(error: unknown, limits: QueryLimits): AppError {
  const { message, code, severity, detail, hint } = error as Record<string, string | undefined>
  if (error instanceof TooMuch) return failure("result_too_large", { most: `${limits.bytes} bytes` })
  if (code === CANCELLED && /statement timeout/.test(message ?? ""))
    return failure("query_timeout", { seconds: limits.seconds })
  const parts = [message, detail, hint].filter((part) => part !== undefined && part !== "")
  const problem = (parts.join(" ") || (code ?? "no reason was given")).slice(0, 2000).toWellFormed()
  return severity === undefined ? failure("connection_failed", { problem }) : failure("query_failed", { problem })
}

/** How a server refuses to let somebody in, by SQLSTATE. */
const REFUSALS: Readonly<Record<string, string>> = {
  "28P01": "the user name or the password is wrong",
  "28000": "the server does not let this user in from here, or not in this way",
  "3D000": "there is no database of this name",
  "42501": "this user may not use this database",
  "53300": "the server has no connection left",
  "57P03": "the server is starting or stopping",
}

/**
 * Why a connection was not made. A server may put the password that it was sent into what it says. Replacing it there
 * would tell it to whoever reads what is missing, so the server's words are told only where it cannot stand in them.
 */
export function reasonOfRefusal(error: unknown, { password }: PostgresTarget): string {
  const { message, code, severity } = error as Record<string, string | undefined>
  const text = (message || code || "it does not answer").slice(0, 500).replace(/\.$/, "").toWellFormed()
  if (severity === undefined) return text
  const refusal = own(REFUSALS, code ?? "")
  if (refusal) return refusal
  return password === "" || !text.includes(password) ? text : "the server refuses, in words that are not repeated here"
}
