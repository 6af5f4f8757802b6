import { CATALOGUE } from "./error-catalogue.ts"
import { own } from "../shared/text/json.ts"

/** The stable code of an error, such as `not_found`. */
export type ErrorCode = keyof typeof CATALOGUE
type DetailsOf<Code extends ErrorCode> = Parameters<(typeof CATALOGUE)[Code]["say"]>[0]
type DetailsArguments<Code extends ErrorCode> = undefined extends DetailsOf<Code> ? [] : [details: DetailsOf<Code>]

/**
 * An error with a stable code. Compare `code`, not the class: errors also arrive over HTTP and from other copies of the
 * package.
 */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly details: Record<string, unknown>

  constructor(code: ErrorCode, message: string, details: Record<string, unknown> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = "AppError"
    this.code = code
    this.status = CATALOGUE[code].status
    this.details = details
  }
}

/** Creates the error `code`. The type of its details depends on the code. */
export function failure<Code extends ErrorCode>(code: Code, ...[details]: DetailsArguments<Code>): AppError {
  const say = CATALOGUE[code].say as (details: unknown) => string
  return new AppError(code, say(details), (details ?? {}) as Record<string, unknown>)
}

/**
 * Returns true if an error has this code. Works with thrown, stored and fetched errors.
 *
 * @example
 * await using pawl = await openPawl({ store: ":memory:", models: scripted(says("Hello.")) })
 * const error = await pawl.answer("conv_unknown").catch((thrown: unknown) => thrown)
 * console.log(hasCode(error, "not_found")) // true
 */
export function hasCode(error: unknown, code: ErrorCode): boolean {
  return typeof error === "object" && error !== null && (error as { code?: unknown }).code === code
}

/** Returns the code of an error, if it is a known one. */
export function codeOf(error: unknown): ErrorCode | undefined {
  const code = typeof error === "object" && error !== null ? (error as { code?: unknown }).code : undefined
  return typeof code === "string" && own(CATALOGUE, code) ? (code as ErrorCode) : undefined
}

/** All error codes. */
export const errorCodes = Object.keys(CATALOGUE) as ErrorCode[]

/** Returns the HTTP status for a code. */
export const statusOf = (code: ErrorCode): number => CATALOGUE[code].status

/** An error response as problem JSON (RFC 9457). Errors without a known code become `internal`. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: ErrorCode
}

/**
 * Converts an error to the body of an error response, as problem JSON (RFC 9457). Any error but an `AppError` becomes
 * `internal`, so that no detail is exposed.
 */
export function toProblem(error: unknown): Problem {
  const known = error instanceof AppError ? error : failure("internal")
  return {
    type: `urn:pawl:error:${known.code}`,
    title: known.code.replaceAll("_", " "),
    status: known.status,
    detail: known.message,
    code: known.code,
  }
}
