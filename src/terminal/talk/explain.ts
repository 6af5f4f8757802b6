import { ClientError } from "../../client/client-error.ts"

/** An error in words for a person: what happened and what to do. The server's own sentences say both. */
export function explain(error: unknown): string {
  if (!(error instanceof ClientError)) return error instanceof Error ? error.message : String(error)
  switch (error.code) {
    case "unreachable":
      return "The server cannot be reached. Check that it runs, then try again."
    case "unexpected_answer":
      return "The server answered in a way this terminal does not understand; it may be of another version."
    case "not_found":
      return "This is gone, or it is not yours."
    case "no_model_selected":
      return "No model is chosen yet. /model lists them, /model NAME chooses one; Ctrl+C takes your words off the line first, and ↑ brings them back."
    case "unauthenticated":
      return "The server does not let this token in. Make a new one: pawl token create."
    default:
      return error.message
  }
}
