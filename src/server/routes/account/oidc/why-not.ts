import { type AppError, failure } from "../../../../protocol/errors.ts"

/** The words that OAuth and OpenID Connect have for a refusal; another one is not repeated. */
const REASONS = new Set([
  ...["access_denied", "invalid_request", "unauthorized_client", "unsupported_response_type", "invalid_scope"],
  ...["server_error", "temporarily_unavailable", "interaction_required", "login_required", "consent_required"],
  ...["account_selection_required", "registration_not_supported"],
])

/** Did not answer, or not as an issuer does. That says nothing about who signs in. */
const NO_ANSWER = new Set([
  ...["OAUTH_TIMEOUT", "OAUTH_ABORT", "OAUTH_RESPONSE_IS_NOT_CONFORM", "OAUTH_RESPONSE_IS_NOT_JSON"],
  ...["OAUTH_PARSE_ERROR", "OAUTH_WWW_AUTHENTICATE_CHALLENGE", "OAUTH_MISSING_SERVER_METADATA"],
])

/** What a person is told where a sign-in failed. What exactly was wrong stands in the log: it helps who runs the server. */
export function whyNot(error: unknown, label: string): AppError {
  const { code, error: word, name } = error as { code?: unknown; error?: unknown; name?: unknown }
  if (code === "OAUTH_AUTHORIZATION_RESPONSE_ERROR") {
    const reason = typeof word === "string" && REASONS.has(word) ? word : "for a reason of its own"
    return failure("sign_in_refused", { label, reason })
  }
  if (code === "OAUTH_JWT_TIMESTAMP_CHECK_FAILED") return failure("sign_in_clocks", { label })
  // The token endpoint has refused the code (used, old, of another client) or us (a wrong secret).
  if (code === "OAUTH_RESPONSE_BODY_ERROR")
    return word === "invalid_grant"
      ? failure("sign_in_untrusted", { label })
      : failure("sign_in_unavailable", { label })
  // `fetch` itself has failed.
  if (NO_ANSWER.has(String(code)) || (name === "TypeError" && code === undefined))
    return failure("sign_in_unavailable", { label })
  return failure("sign_in_untrusted", { label })
}
