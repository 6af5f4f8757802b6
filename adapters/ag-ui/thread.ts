import type { Context } from "hono"
import {
  conversationForKey,
  conversationIdOfKey,
  conversationOf,
  type Env,
  messageIdOfName,
  type ServerPorts,
  toConversationStart,
  userOf,
} from "../../core/adapter.ts"
import { type ConversationId, type ConversationView, failure, isId, type MessageId } from "../../core/protocol/index.ts"

/** The conversation of a frontend's thread. */
export interface AgUiThread {
  readonly id: ConversationId
  /** Undefined before its first message. */
  readonly found: ConversationView | undefined
  /** Our id for the frontend's message. Always the same for the same message, so that it is recorded once. */
  idOf(message: string): Promise<MessageId>
  hasMessage(message: string): Promise<boolean>
  /** Creates it if it does not exist. */
  begin(): Promise<ConversationView>
}

/**
 * Finds a thread by a conversation id, which must be the caller's, or by the frontend's own name, which is separate for each
 * person.
 */
export async function findThread(c: Context<Env>, ports: ServerPorts, name: string): Promise<AgUiThread> {
  const user = userOf(c)
  const agent = c.req.param("agent") ?? ""
  if (!ports.agents.all.some((each) => each.name === agent)) throw failure("not_found")
  const key = `ag-ui ${name}`
  const id = isId("conv", name) ? name : conversationIdOfKey(user, key)
  const found = isId("conv", name) ? await conversationOf(ports, user, name) : await ports.conversations.find(user, id)
  if (found && found.agent !== agent)
    throw failure("bad_request", { problem: `threadId: this conversation is with ${found.agent}; begin another one.` })
  const hasMessage = async (message: MessageId) => (await ports.conversations.placeOf(id, message)) !== undefined
  const idOf = async (message: string) =>
    isId("msg", message) && (await hasMessage(message)) ? message : messageIdOfName(id, message)
  const beginAs = async (as: ConversationId) =>
    ports.runtime.begin({ ...(await toConversationStart(c.get("caller"), ports, { agent })), id: as })
  return {
    ...{ id, found, idOf },
    hasMessage: async (message) => found !== undefined && (await hasMessage(await idOf(message))),
    begin: async () => found ?? conversationForKey(ports, { user, key, begin: beginAs }),
  }
}
