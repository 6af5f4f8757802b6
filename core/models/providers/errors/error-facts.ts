import { explainCertificateError } from "../../network/certificate-errors.ts"
import { tryReadJson } from "../../../shared/text/read-json.ts"

/** Only part of a message is searched, because many patterns are tried while other requests wait. */
const MAX_READ = 20_000
const MAX_CODE = 1000

/** The facts of an adapter's or server's error. */
export interface ErrorFacts {
  readonly status: number | undefined
  /** The provider's own code and type, in lower case. */
  readonly code: string
  /** The message for people. */
  readonly message: string
  /** All text that may contain a known phrase. */
  readonly text: string
  readonly headers: Readonly<Record<string, string>>
  /** Whether the adapter considers it retriable. */
  readonly retriable: boolean
  /** There was no answer, or the connection was lost. */
  readonly network: boolean
  /** Never retried, even if the adapter reports the error as retriable. */
  readonly permanent: boolean
}

/**
 * Reads errors of the AI SDK and of servers with similar formats. By shape and not by class, so that the SDK need not
 * be loaded and its versions need not match.
 */
export function readErrorFacts(error: unknown): ErrorFacts {
  if (typeof error === "string") return plain(error)
  if (typeof error !== "object" || error === null) return plain("")
  const thrown = error as Record<string, unknown>
  // If a body does not match the adapter's schema, its text is only in the raw value: `{"error": "…"}` of LM Studio.
  const body = fromBody(thrown.responseBody) ?? fromBody(thrown.data) ?? fromBody(thrown.value) ?? {}
  const network = networkError(error)
  const quotes = QUOTING.has(textOf(thrown.name))
  const own = (quotes ? "it sent something that is not in its protocol" : textOf(thrown.message)).slice(0, MAX_READ)
  const said = network ? `the connection failed: ${network.message || network.code}` : body.message || own
  const message = said.slice(0, MAX_READ)
  return {
    status: statusOf(thrown.statusCode) ?? statusOf(body.code) ?? statusOf(thrown.code),
    code: [body.code, body.type, thrown.code, thrown.type].map(toCode).join(" "),
    message,
    text: `${message} ${own}`,
    headers: (thrown.responseHeaders ?? {}) as Record<string, string>,
    network: network !== undefined,
    permanent: network?.permanent === true,
    retriable: thrown.isRetryable === true || network !== undefined || quotes || thrown.name === BROKEN,
  }
}

/** Errors about an invalid chunk, whose messages quote part of the reply. */
const QUOTING: ReadonlySet<string> = new Set(["AI_TypeValidationError", "AI_JSONParseError"])

/** The adapters' error for an incomplete or inconsistent reply. */
const BROKEN = "AI_InvalidResponseDataError"

interface Body {
  readonly message?: string
  readonly code?: unknown
  readonly type?: unknown
}

/** `{error: {message, code, type}}`, `{error: "…"}`, `{message}` or `{detail}`, as JSON text or parsed. */
function fromBody(value: unknown): Body | undefined {
  const body = typeof value === "string" ? tryReadJson(value) : value
  if (typeof body !== "object" || body === null) return undefined
  const { error, message, detail, code, type } = body as Record<string, unknown>
  if (typeof error === "object" && error !== null) {
    const inner = error as Record<string, unknown>
    return { message: textOf(inner.message) || textOf(message), code: inner.code, type: inner.type }
  }
  const words = textOf(error) || textOf(message) || textOf(detail)
  return words ? { message: words, code, type } : undefined
}

interface NetworkError {
  readonly message: string
  readonly code?: unknown
  readonly permanent?: boolean
}

/** Finds the cause of a failed `fetch` or an interrupted stream, which have no status. */
function networkError(error: unknown): NetworkError | undefined {
  let found: NetworkError | undefined
  let cause: unknown = error
  for (let depth = 0; depth < 5 && cause instanceof Error; depth++, cause = cause.cause) {
    const { message, code } = cause as Error & { code?: unknown }
    const explanation = explainCertificateError(textOf(code), message)
    if (explanation) return { message: explanation, code, permanent: true }
    const failed = cause instanceof TypeError && /fetch failed|terminated/.test(message)
    if (failed || NETWORK_CODE.test(textOf(code))) found = { message, code }
  }
  return found
}

const NETWORK_CODE = /^(ERR_PROXY|ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_|UND_ERR_)/

const plain = (message: string): ErrorFacts => ({
  status: undefined,
  code: "",
  message,
  text: message,
  headers: {},
  retriable: false,
  network: false,
  permanent: false,
})

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "number" ? String(value) : ""

const toCode = (value: unknown): string => textOf(value).slice(0, MAX_CODE).toLowerCase()

/** An HTTP error status; other numbers are the provider's own codes. */
function statusOf(value: unknown): number | undefined {
  const number = Number(value)
  return number >= 400 && number < 600 ? number : undefined
}
