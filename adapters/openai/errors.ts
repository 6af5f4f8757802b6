import { CATALOGUE, type OpenAiError, own } from "../../core/adapter.ts"
import { type ErrorCode, type Problem, statusOf } from "../../core/protocol/index.ts"

/** A problem in OpenAI's format, with our code. */
export function toOpenAiError({ status, detail, code }: Pick<Problem, "status" | "detail" | "code">): OpenAiError {
  // Our error texts begin with the name of the field.
  const [, param = null] = (code === "bad_request" && /^([a-z][\w.]{0,100}): /.exec(detail)) || []
  return { error: { message: detail, type: typeOf(status), param, code } }
}

/** The same for a failed run, whose error may be of a newer version. */
export function toRunError({ code, message }: { readonly code: string; readonly message: string }): OpenAiError {
  const status = own(CATALOGUE, code) ? statusOf(code as ErrorCode) : 500
  return { error: { message, type: typeOf(status), param: null, code } }
}

function typeOf(status: number): string {
  if (status === 401) return "authentication_error"
  if (status === 403) return "permission_error"
  if (status === 429) return "rate_limit_error"
  return status >= 500 ? "server_error" : "invalid_request_error"
}
