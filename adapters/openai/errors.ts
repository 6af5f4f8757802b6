import { type ErrorCode, type Problem, statusOf } from "../../core/protocol/errors.ts"
import { CATALOGUE } from "../../core/protocol/error-catalogue.ts"
import type { OpenAiError } from "../../core/protocol/dialects/openai.ts"
import { own } from "../../core/shared/text/json.ts"

/** A problem in OpenAI's shape. The code stays ours: whoever matches it finds it in the same table as everybody. */
export function toOpenAiError({ status, detail, code }: Pick<Problem, "status" | "detail" | "code">): OpenAiError {
  // What is wrong with a field begins with its name, as every refusal of a body does.
  const [, param = null] = (code === "bad_request" && /^([a-z][\w.]{0,100}): /.exec(detail)) || []
  return { error: { message: detail, type: typeOf(status), param, code } }
}

/** The same for a run that has failed, whose error may be of a newer Pawl. */
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
