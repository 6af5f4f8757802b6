import { type AppError, type ErrorCode, failure as typedFailure } from "../protocol/errors.ts"

/** An error with a code of ours, for a route of a pack: `throw failure("not_found")` answers as the server's own routes do. */
export function failure(code: ErrorCode, details: Readonly<Record<string, unknown>> = {}): AppError {
  return (typedFailure as (code: ErrorCode, details: Readonly<Record<string, unknown>>) => AppError)(code, details)
}
