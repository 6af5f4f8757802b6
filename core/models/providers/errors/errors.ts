import { AppError, failure } from "../../../protocol/errors.ts"
import { escapeHidden } from "../../../shared/text/hidden-characters.ts"
import { codeFor, type ProviderCode } from "./error-phrases.ts"
import { scrubSecrets } from "./scrub-secrets.ts"
import { type RetryAfter, retryAfter } from "../../network/retry-after.ts"
import { type ErrorFacts, readErrorFacts } from "./error-facts.ts"

/** Whose errors these are, and what must never be in them. */
export interface ErrorSource {
  readonly provider: string
  readonly secrets: readonly string[]
  readonly now?: () => number
}

/** What the loop and the retries go by; in `details` of every error made here. */
export interface Retriability extends RetryAfter {
  /** What a person can do about it, where its own sentence does not say. */
  readonly todo?: string
  readonly retriable: boolean
  /** It was the request that was wrong, not its sender, its length or the moment. */
  readonly refusesRequest?: boolean
}

const MAX_PROBLEM = 300
/** Of what we say ourselves of a reply; what a provider says is shorter by then. */
const MAX_READ = 20_000

/**
 * Whatever an adapter throws or streams as an error, as one of our codes. The cause is left behind on purpose: it holds
 * the whole request and the provider's words, which may quote a key.
 */
export function toProviderError(error: unknown, source: ErrorSource): AppError {
  if (error instanceof AppError) return error
  const said = readErrorFacts(error)
  const code = codeFor(said)
  return build(code, said.message, source, {
    ...(code === "provider_error" ? todoFor(said) : {}),
    retriable: isRetriable(code, said),
    ...(code === "provider_error" && (said.status === 400 || said.status === 422) ? { refusesRequest: true } : {}),
    ...retryAfter(said.headers, source.now?.() ?? Date.now(), code === "rate_limited" ? said.message : ""),
  })
}

/** A reply that was cut, or that contradicts itself. Asking again may well help, unless this says otherwise. */
export function brokenReply(problem: string, source: ErrorSource, retriable = true): AppError {
  return build("provider_error", problem, source, { retriable })
}

function build(code: ProviderCode, problem: string, source: ErrorSource, retriability: Retriability): AppError {
  const { provider, secrets } = source
  const plain = scrubSecrets(problem.slice(0, MAX_READ), secrets).replaceAll(/\s+/g, " ").trim()
  // Shown to people beside our own sentence, so nothing in it may hide.
  const clean = shorten(escapeHidden(plain.toWellFormed()))
  const given = code === "provider_error" ? clean || "it gave no reason" : clean
  return failure<ProviderCode>(code, { provider, problem: given, ...retriability })
}

/** What helps is not in the sentence of a provider that does not know the model, nor in that of a socket. */
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
  return status === undefined ? retriable : status >= 500 || PASSING.has(status)
}

/** A timeout, a conflict, and what Bedrock calls a model that failed while it answered. */
const PASSING: ReadonlySet<number> = new Set([408, 409, 424])

function shorten(text: string): string {
  return text.length > MAX_PROBLEM ? `${text.slice(0, MAX_PROBLEM - 1).toWellFormed()}…` : text
}
