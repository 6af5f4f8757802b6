import { AppError, failure } from "../../../protocol/errors.ts"
import { escapeHidden } from "../../../shared/text/hidden-characters.ts"
import { codeFor, type ProviderCode } from "./error-phrases.ts"
import { scrubSecrets } from "./scrub-secrets.ts"
import { type RetryAfter, retryAfter } from "../../network/retry-after.ts"
import { type ErrorFacts, readErrorFacts } from "./error-facts.ts"

/** The provider of an error, and texts that must not be in it. */
export interface ErrorSource {
  readonly provider: string
  readonly secrets: readonly string[]
  readonly now?: () => number
}

/** Properties for retries, in the `details` of these errors. */
export interface Retriability extends RetryAfter {
  /** Advice, if the error's own sentence has none. */
  readonly todo?: string
  readonly retriable: boolean
  /** The request itself was invalid. */
  readonly refusesRequest?: boolean
}

const MAX_PROBLEM = 300
/** The limit of our own messages; those of providers are shortened before. */
const MAX_READ = 20_000

/**
 * Converts an adapter's error to one of our codes. Drops the cause on purpose: it contains the request and the
 * provider's text, which may quote a key.
 */
export function toProviderError(error: unknown, source: ErrorSource): AppError {
  if (error instanceof AppError) return error
  const facts = readErrorFacts(error)
  const code = codeFor(facts)
  return build(code, facts.message, source, {
    ...(code === "provider_error" ? todoFor(facts) : {}),
    retriable: isRetriable(code, facts),
    ...(code === "provider_error" && (facts.status === 400 || facts.status === 422) ? { refusesRequest: true } : {}),
    ...retryAfter(facts.headers, source.now?.() ?? Date.now(), code === "rate_limited" ? facts.message : ""),
  })
}

/** An incomplete or inconsistent reply. Retrying may help, unless specified otherwise. */
export function brokenReply(problem: string, source: ErrorSource, retriable = true): AppError {
  return build("provider_error", problem, source, { retriable })
}

function build(code: ProviderCode, problem: string, source: ErrorSource, retriability: Retriability): AppError {
  const { provider, secrets } = source
  const plain = scrubSecrets(problem.slice(0, MAX_READ), secrets).replaceAll(/\s+/g, " ").trim()
  // Shown to people, so hidden characters are escaped.
  const clean = shorten(escapeHidden(plain.toWellFormed()))
  const given = code === "provider_error" ? clean || "it gave no reason" : clean
  return failure<ProviderCode>(code, { provider, problem: given, ...retriability })
}

/** Advice that neither the provider's message nor a network error contains. */
function todoFor({ status, code, network, permanent }: ErrorFacts): { readonly todo?: string } {
  if (status === 404 || /model_not_found/.test(code))
    return { todo: "Check the model's name, or choose another model." }
  if (network && !permanent)
    return { todo: "Check that it runs and can be reached from here, or choose another model." }
  return {}
}

function isRetriable(code: ProviderCode, { status, retriable, permanent }: ErrorFacts): boolean {
  if (code === "overloaded" || code === "rate_limited") return true
  if (code !== "provider_error" || permanent) return false
  return status === undefined ? retriable : status >= 500 || TEMPORARY.has(status)
}

/** A timeout, a conflict, and Bedrock's code for a model that failed during its reply. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 409, 424])

function shorten(text: string): string {
  return text.length > MAX_PROBLEM ? `${text.slice(0, MAX_PROBLEM - 1).toWellFormed()}…` : text
}
