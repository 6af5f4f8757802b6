import type { ErrorFacts } from "./error-facts.ts"

export type ProviderCode =
  | "auth"
  | "rate_limited"
  | "quota_spent"
  | "overloaded"
  | "context_overflow"
  | "refused"
  | "provider_error"

/** Maps a provider's error to our code. Statuses and codes are not enough, because providers differ. */
export function codeFor({ status, code, text }: ErrorFacts): ProviderCode {
  // First: it is reported as 400, 401, 403 or 429, and waiting does not help.
  if (status === 402 || QUOTA_CODE.test(code) || (isOurs(status) && isSpent(text))) return "quota_spent"
  const limited = status === 429 || /rate_limit/.test(code)
  // Rate limits mention tokens, too ("too many tokens per minute"), so they are excluded first.
  if (!limited && (status === 413 || OVERFLOW.test(code) || OVERFLOW.test(text))) return "context_overflow"
  if (REFUSAL.test(code) || (status === 403 && REFUSAL.test(text))) return "refused"
  if (status === 401 || status === 403 || AUTH_CODE.test(code) || (status === 400 && AUTH.test(text))) return "auth"
  if (limited) return "rate_limited"
  if (status === 503 || status === 529 || /overloaded/.test(code)) return "overloaded"
  return "provider_error"
}

/** A client error; errors inside a stream have no status. */
const isOurs = (status: number | undefined) => status === undefined || (status >= 400 && status < 500)

const oneOf = (...phrases: readonly string[]) => new RegExp(phrases.join("|"), "i")

/** OpenAI and Perplexity, Anthropic, Moonshot, Alibaba. */
const QUOTA_CODE = oneOf(
  ...["insufficient_quota", "billing_error", "billing_hard_limit_reached", "billing_not_active"],
  ...["exceeded_current_quota", "insufficient_balance", "insufficient_credits", "arrearage"],
)

const QUOTA = oneOf(
  "credit balance is too low", // Anthropic
  "reached your specified api usage limits", // Anthropic
  "insufficient (balance|credits?|funds)", // DeepSeek, OpenRouter, Moonshot
  "requires more credits", // OpenRouter
  "key limit exceeded", // OpenRouter
  "used all available credits", // xAI
  "(credit|spend(ing)?) limit (exceeded|reached)", // Together, Groq, xAI
  "reached (its|your) (monthly )?spending limit", // xAI, Groq
)

/** OpenAI's message. Google uses it for rate limits, too, followed by when to retry. */
const CURRENT_QUOTA = /exceeded your current quota/i
const COMES_BACK = /retry in|per ?minute|per ?day/i

const isSpent = (text: string): boolean => QUOTA.test(text) || (CURRENT_QUOTA.test(text) && !COMES_BACK.test(text))

const AUTH_CODE = /authentication|permission|invalid_api_key/

/** xAI and Google report an invalid key as 400. */
const AUTH = oneOf("(incorrect|invalid) api key", "api key not valid", "api key (is )?(not found|expired|invalid)")

const OVERFLOW = oneOf(
  "context_length_exceeded", // OpenAI, Groq, Cerebras
  "string_above_max_length", // OpenAI, one text alone
  "exceed_context_size", // llama.cpp
  "request_too_large", // Anthropic
  "maximum context length", // OpenAI, vLLM, SGLang, OpenRouter, Mistral
  "prompt is too long", // Anthropic, Fireworks
  "exceed context limit", // Anthropic
  "exceeds? the (available |model's )?context (size|length|window)", // llama.cpp, OpenAI
  "context (size|length|window) (has been |is |was )?exceeded", // llama.cpp
  "exceed context window",
  "context window exceeds", // MiniMax
  "context the overflows", // LM Studio
  "greater than the context length", // LM Studio
  "n_keep.{0,40}n_ctx", // LM Studio
  "input length exceeds", // Ollama
  "exceeded max context length", // Ollama
  "length of all messages is too long", // Perplexity
  "maximum prompt length is", // xAI
  "longer than the (maximum model length|model's context length)", // vLLM, SGLang
  "must be less than max_seq_len", // SiliconFlow
  "inputs?`? tokens \\+ `?max_new_tokens`? must be", // Together, text-generation-inference
  "input token count.{0,40}exceeds the maximum", // Google
  "input is too long for requested model", // Bedrock
  "too many tokens: (total|size)", // Cohere
  "exceeded model token limit", // Moonshot
  "prompt exceeds max(imum)? length", // Zhipu
  "range of input length should be", // Alibaba
  "please reduce the length of the (messages|prompt|input)", // Groq, Cerebras
)

const REFUSAL = /content_filter|content_policy|moderation/
