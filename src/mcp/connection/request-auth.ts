import type { AuthProvider } from "@modelcontextprotocol/client"
import { AppError } from "../../protocol/errors.ts"

/** How one person's requests to one server are allowed. */
export interface RequestAuth extends AuthProvider {
  /** Tokens that were sent, which no result may repeat. */
  readonly secrets: readonly string[]
  /** What an error of a request says of the sign-in, noted; otherwise the error itself. */
  judge(error: unknown): Promise<unknown>
}

const CODES = new Set<string>(["mcp_sign_in_needed", "mcp_sign_in_failed", "mcp_sign_in_not_begun", "mcp_scope_needed"])

/**
 * Says what a person can do about their sign-in, and that the server has refused the request before it began anything. One of
 * ours: a server could give an error of its own the same code.
 */
export const isSignInError = (error: unknown): error is AppError => error instanceof AppError && CODES.has(error.code)
