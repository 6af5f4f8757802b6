import type { Context } from "hono"
import type { ConversationView } from "../../../protocol/conversation/conversation.ts"
import type { Env } from "../../door/request-env.ts"
import { type NewestRun, newestRun } from "../../stream/newest-run.ts"
import { findNamedChat } from "./chat-conversation.ts"
import type { AiSdkPorts } from "./ports.ts"

/** The newest run of the chat in a request's address, with its conversation; undefined where nobody has been answered there. */
export async function runOfNamedChat(
  c: Context<Env>,
  ports: AiSdkPorts,
): Promise<{ readonly found: ConversationView; readonly run: NewestRun } | undefined> {
  const found = await findNamedChat(c, ports)
  const run = found && (await newestRun(ports, found.id))
  return run && { found, run }
}
