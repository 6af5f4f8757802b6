import { type AppError, failure } from "../../protocol/errors.ts"
import type { PostgresTarget } from "../../protocol/connections.ts"
import type { QueryLimits } from "./database-kind.ts"
import { TooMuch } from "./postgres-messages.ts"

const CANCELLED = "57014"

/** What PostgreSQL or the way to it had to say, in its own words but for a password in them. */
export function problemOfPostgres(error: unknown, { password }: PostgresTarget, limits: QueryLimits): AppError {
  const { message, code, severity, detail, hint } = error as Record<string, string | undefined>
  if (error instanceof TooMuch) return failure("result_too_large", { most: `${limits.bytes} bytes` })
  if (code === CANCELLED && /statement timeout/.test(message ?? ""))
    return failure("query_timeout", { seconds: limits.seconds })
  const parts = [message, detail, hint].filter((part) => part !== undefined && part !== "")
  const text = (parts.join(" ") || (code ?? "no reason was given")).slice(0, 2000).toWellFormed()
  const problem = password === "" ? text : text.replaceAll(password, "…")
  return severity === undefined ? failure("connection_failed", { problem }) : failure("query_failed", { problem })
}
