import { codeOf, type ErrorCode, failure, statusOf } from "../core/protocol/errors.ts"

/**
 * The error of every call and stream. Compare its code with `hasCode`. The code of a newer server may be unknown to
 * this build, so its type is any string.
 */
export class ClientError extends Error {
  readonly code: ErrorCode | (string & {})
  /** The HTTP status. If there was no response, the status that a gateway would return. */
  readonly status: number
  /** Further fields of the problem response, such as the `proposal` of a conflict. */
  readonly details: Readonly<Record<string, unknown>>
  /** How long the server asks clients to wait before the next attempt. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, { code, status, details = {}, retryAfterMs, cause }: ClientErrorFields) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = "ClientError"
    this.code = code
    this.status = status
    this.details = details
    this.retryAfterMs = retryAfterMs
  }
}

interface ClientErrorFields {
  readonly code: string
  readonly status: number
  readonly details?: Record<string, unknown>
  readonly retryAfterMs?: number | undefined
  readonly cause?: unknown
}

/** The error for a missing or interrupted response. The server may have processed the request. */
export function unreachable(route: string, cause: unknown): ClientError {
  const problem = cause instanceof Error ? reasonOf(cause) : String(cause)
  const { code, status, message } = failure("unreachable", { route, problem })
  return new ClientError(message, { code, status, cause })
}

/**
 * The error for a response that the route does not define, for example from a proxy, another program or another
 * version.
 */
export function unexpected(
  route: string,
  problem: string,
  answer: { status?: number; cause?: unknown } = {},
): ClientError {
  const { code, status, message } = failure("unexpected_answer", { route, problem })
  return new ClientError(message, { code, status: answer.status ?? status, cause: answer.cause })
}

/** The error for a rejection that arrived as a frame. It equals the one over HTTP, with the status of its code. */
export function refused(code: string, message: string): ClientError {
  const known = codeOf({ code })
  return new ClientError(message, { code, status: known ? statusOf(known) : 400 })
}

/** Returns the cause of a failed `fetch`, whose own message is only "fetch failed". */
function reasonOf(error: Error): string {
  const { cause } = error
  return cause instanceof Error && cause.message ? cause.message : error.message
}

/** Converts an error response: problem JSON from the server, or an unexpected response. */
export async function toClientError(route: string, response: Response, now: number): Promise<ClientError> {
  const { status } = response
  const retryAfterMs = toDelay(response.headers.get("retry-after"), now)
  const body = await readProblem(response)
  if (!body) {
    // A gateway's error page: the server behind it is temporarily unavailable.
    const kind = status >= 502 && status <= 504 ? "unreachable" : "unexpected_answer"
    const { code, message } = failure(kind, { route, problem: `status ${status} without a problem` })
    return new ClientError(message, { code, status, retryAfterMs })
  }
  const { type: _type, title: _title, status: _status, detail, code, ...details } = body
  return new ClientError(typeof detail === "string" ? detail : code, { code, status, details, retryAfterMs })
}

async function readProblem(response: Response): Promise<(Record<string, unknown> & { code: string }) | undefined> {
  try {
    const body: unknown = JSON.parse(await response.text())
    if (typeof body !== "object" || body === null || typeof (body as { code?: unknown }).code !== "string")
      return undefined
    return body as Record<string, unknown> & { code: string }
  } catch {
    return undefined // only the status is known
  }
}

/** Parses `Retry-After`, which is a number of seconds or a date. */
function toDelay(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
