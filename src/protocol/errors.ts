import { CATALOGUE } from "./error-catalogue.ts"
import { own } from "./own.ts"

export type ErrorCode = keyof typeof CATALOGUE
type DetailsOf<Code extends ErrorCode> = Parameters<(typeof CATALOGUE)[Code]["say"]>[0]
type DetailsArguments<Code extends ErrorCode> = undefined extends DetailsOf<Code> ? [] : [details: DetailsOf<Code>]

/** What every failure that crosses a room or a wire is. Match on `code`, never on the class. */
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

/** Builds the failure `code`; what it must be told is typed per code. */
export function failure<Code extends ErrorCode>(code: Code, ...[details]: DetailsArguments<Code>): AppError {
  const say = CATALOGUE[code].say as (details: unknown) => string
  return new AppError(code, say(details), (details ?? {}) as Record<string, unknown>)
}

/** Works on a thrown, a replayed and a fetched error alike. */
export function hasCode(error: unknown, code: ErrorCode): boolean {
  return typeof error === "object" && error !== null && (error as { code?: unknown }).code === code
}

/** The code of an error where it is one of ours. */
export function codeOf(error: unknown): ErrorCode | undefined {
  const code = typeof error === "object" && error !== null ? (error as { code?: unknown }).code : undefined
  return typeof code === "string" && own(CATALOGUE, code) ? (code as ErrorCode) : undefined
}

export const errorCodes = Object.keys(CATALOGUE) as ErrorCode[]

/** The HTTP status a code is answered with. */
export const statusOf = (code: ErrorCode): number => CATALOGUE[code].status

/** Problem JSON after RFC 9457: what an HTTP caller gets. Anything that is not ours becomes `internal`. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: ErrorCode
}

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
