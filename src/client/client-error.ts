import { codeOf, type ErrorCode, failure, statusOf } from "../protocol/errors.ts"

/**
 * What every call and stream fails with. Matched with `hasCode`, like all failures; the code of a newer server may be one
 * that this build does not list, which is why it is any text here.
 */
export class ClientError extends Error {
  readonly code: ErrorCode | (string & {})
  /** The HTTP status; for what never got an answer, the one a gateway would give. */
  readonly status: number
  /** What the problem said beyond its sentence, such as the `proposal` of a conflict. */
  readonly details: Readonly<Record<string, unknown>>
  /** How long the server asked to wait before the next try. */
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

/** No answer, or one that broke off. Whether the server has acted on the request is not known. */
export function unreachable(route: string, cause: unknown): ClientError {
  const problem = cause instanceof Error ? reasonOf(cause) : String(cause)
  const { code, status, message } = failure("unreachable", { route, problem })
  return new ClientError(message, { code, status, cause })
}

/** An answer that the table of routes does not have, as from a proxy, another program, or another version. */
export function unexpected(
  route: string,
  problem: string,
  answer: { status?: number; cause?: unknown } = {},
): ClientError {
  const { code, status, message } = failure("unexpected_answer", { route, problem })
  return new ClientError(message, { code, status: answer.status ?? status, cause: answer.cause })
}

/** A refusal that came as a frame: the same as over HTTP, where its status would have come with it. */
export function refused(code: string, message: string): ClientError {
  const known = codeOf({ code })
  return new ClientError(message, { code, status: known ? statusOf(known) : 400 })
}

/** `fetch` says "fetch failed" and hides why one level down. */
function reasonOf(error: Error): string {
  const { cause } = error
  return cause instanceof Error && cause.message ? cause.message : error.message
}

/** A refusal as the server put it: problem JSON where it is ours, otherwise an answer nobody agreed on. */
export async function toClientError(route: string, response: Response, now: number): Promise<ClientError> {
  const { status } = response
  const retryAfterMs = toDelay(response.headers.get("retry-after"), now)
  const body = await readProblem(response)
  if (!body) {
    // A gateway's own page: the server behind it is away, which passes.
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
    return undefined // the status alone has to do
  }
}

/** `Retry-After` is seconds or a date. */
function toDelay(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
