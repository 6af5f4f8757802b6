import { type AppError, failure } from "../../protocol/errors.ts"
import type { McpServer } from "../definition/server.ts"
import { problemOf } from "../connection/problem-of.ts"
import { isSignInError } from "../connection/request-auth.ts"

/** The words that OAuth has for a refusal; another one is not repeated. */
const REASONS = new Set([
  ...["access_denied", "invalid_request", "unauthorized_client", "unsupported_response_type", "invalid_scope"],
  ...["server_error", "temporarily_unavailable", "invalid_target", "interaction_required", "login_required"],
])

/** Why a sign-in failed, in a sentence that repeats no token and no code. */
export function toSignInFailure(error: unknown, server: McpServer, secrets: readonly string[] = []): AppError {
  if (isSignInError(error)) return error
  const problem = knownProblem(error) ?? problemOf(error, { secrets: [...server.secrets, ...secrets] })
  return failure("mcp_sign_in_failed", { name: server.name, problem })
}

/** Those of the library that repeat what somebody has put into an address, or a whole answer with what may be in it. */
function knownProblem(error: unknown): string | undefined {
  const { name, message } = error as Error
  if (name === "IssuerMismatchError") return "the answer is not from where you were sent to"
  return name === "OAuthError" && message.includes("Raw body") ? "it answered in a way that nobody can read" : undefined
}

/** What a server that gives out tokens has answered a person with instead of a code. */
export function refusalOf(word: string, { name }: McpServer): AppError {
  const reason = REASONS.has(word) ? word : "for a reason of its own"
  return failure("mcp_sign_in_failed", { name, problem: `it has not let you in (${reason})` })
}
