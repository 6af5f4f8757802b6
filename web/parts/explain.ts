import { ClientError } from "../../src/client/index.ts"
import { noticeSignOut } from "../state/identity.ts"
import { toast } from "../state/toasts.ts"
import { escapeHidden } from "./hidden-characters.ts"

/** An error in words for a person: what happened and what to do. The server's own sentences say both. */
export function explain(error: unknown): string {
  if (!(error instanceof ClientError)) return "Something broke on this page. Reload it; nothing is lost."
  switch (error.code) {
    case "unreachable":
      return "The server cannot be reached. Check that it runs and that you are online."
    case "unexpected_answer":
      return "The server answered in a way this page does not understand. Reload the page; it may be older than the server."
    case "not_found":
      return "This is gone, or it is not yours."
    case "unauthenticated":
      return "You are signed out. Open a new sign-in link."
    case "no_model_selected":
      return "No model is chosen yet. Choose one below, then send it again."
    case "forbidden":
      return "Your sign-in does not allow this. Ask whoever runs the server for a link that does."
    default:
      return escapeHidden(error.message)
  }
}

/** Does something and says in passing why it did not work, if so. True where it did. */
export async function attempt(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    noticeSignOut(error)
    toast(explain(error), "bad")
    return false
  }
}
