import { AppError, failure } from "../protocol/errors.ts"
import { scrubSecrets } from "./scrub-secrets.ts"
import { retryAfter } from "./retry-after.ts"
import { type Said, whatWasSaid } from "./what-was-said.ts"

/** Whose errors these are, and what must never be in them. */
export interface ErrorSource {
  readonly provider: string
  readonly secrets: readonly string[]
  readonly now?: () => number
}

/** What the loop and the retries go by; in `details` of every error made here. */
export interface Retriability {
  readonly retriable: boolean
  readonly retryAfterMs?: number
}

type ProviderCode = "auth" | "rate_limited" | "overloaded" | "context_overflow" | "refused" | "provider_error"

const MAX_PROBLEM = 300
/** Our own limits cut text; a message need not be read in full to be recognised. */
const MAX_READ = 20_000

/**
 * Whatever an adapter throws or streams as an error, as one of our codes. The cause is left behind on purpose: it holds
 * the whole request and the provider's words, which may quote a key.
 */
export function toProviderError(error: unknown, source: ErrorSource): AppError {
  if (error instanceof AppError) return error
  const said = whatWasSaid(error)
  const code = toCode(said)
  return build(code, said.message, source, {
    retriable: isRetriable(code, said),
    ...retryAfter(said.headers, source.now?.() ?? Date.now()),
  })
}

/** A reply that was cut, or that contradicts itself. Asking again may well help. */
export function brokenReply(problem: string, source: ErrorSource): AppError {
  return build("provider_error", problem, source, { retriable: true })
}

function build(code: ProviderCode, problem: string, source: ErrorSource, retriability: Retriability): AppError {
  const { provider, secrets } = source
  const clean = scrubSecrets(problem.slice(0, MAX_READ), secrets).replaceAll(/\s+/g, " ").trim()
  const details = { provider, problem: shorten(clean) || "it gave no reason", ...retriability }
  return failure<ProviderCode>(code, details)
}

function toCode({ status, code, text }: Said): ProviderCode {
  const limited = status === 429 || /rate_limit|insufficient_quota/.test(code)
  // "Too many tokens per minute" also speaks of tokens, so a rate limit is ruled out first.
  if (!limited && (status === 413 || OVERFLOW.test(code) || OVERFLOW.test(text))) return "context_overflow"
  if (REFUSAL.test(code) || (status === 403 && REFUSAL.test(text))) return "refused"
  if (status === 401 || status === 403 || /authentication|permission|invalid_api_key/.test(code)) return "auth"
  if (limited) return "rate_limited"
  if (status === 503 || status === 529 || /overloaded/.test(code)) return "overloaded"
  return "provider_error"
}

function isRetriable(code: ProviderCode, { status, code: theirs, retriable }: Said): boolean {
  if (code === "overloaded") return true
  // The month's money is spent: waiting a second changes nothing.
  if (code === "rate_limited") return !theirs.includes("insufficient_quota")
  if (code !== "provider_error") return false
  return status === undefined ? retriable : status >= 500 || status === 408 || status === 409
}

/** How providers say that the conversation is too long: OpenAI and vLLM, Anthropic, llama.cpp, LM Studio, Ollama. */
const OVERFLOW = new RegExp(
  [
    "context_length_exceeded",
    "exceed_context_size",
    "request_too_large",
    "maximum context length",
    "prompt is too long",
    "exceed context limit",
    "exceeds? the (available |model's )?context (size|length|window)",
    "context (size|length|window) (has been |is |was )?exceeded",
    "exceed context window",
    "context the overflows",
    "greater than the context length",
    "n_keep.{0,40}n_ctx",
    "input length exceeds",
  ].join("|"),
  "i",
)

const REFUSAL = /content_filter|content_policy|moderation/

function shorten(text: string): string {
  return text.length > MAX_PROBLEM ? `${text.slice(0, MAX_PROBLEM - 1).toWellFormed()}…` : text
}
