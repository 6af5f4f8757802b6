import type { Context } from "hono"
import type { ConversationView } from "../../core/protocol/conversation/conversation.ts"
import { failure } from "../../core/protocol/errors.ts"
import { type ConversationId, isId, type MessageId } from "../../core/protocol/ids.ts"
import {
  conversationForKey,
  conversationOfKey,
  conversationOf,
  messageOfName,
  toBeginning,
  userOf,
  type Env,
  type ServerPorts,
} from "../../core/adapter.ts"

/** The conversation that a frontend's thread is. */
export interface AgUiThread {
  readonly id: ConversationId
  /** Undefined where nothing was said in it yet. */
  readonly found: ConversationView | undefined
  /** The id that a message of the frontend has here. The same one is always the same: it is said once. */
  idOf(message: string): Promise<MessageId>
  hasSaid(message: string): Promise<boolean>
  /** Begins it where it is not there. */
  begin(): Promise<ConversationView>
}

/**
 * By its own id, which has to be the caller's, or by any text of the frontend's, which means another conversation for
 * every person.
 */
export async function findThread(c: Context<Env>, ports: ServerPorts, name: string): Promise<AgUiThread> {
  const user = userOf(c)
  const agent = c.req.param("agent") ?? ""
  if (!ports.agents.all.some((each) => each.name === agent)) throw failure("not_found")
  const key = `ag-ui ${name}`
  const id = isId("conv", name) ? name : conversationOfKey(user, key)
  const found = isId("conv", name) ? await conversationOf(ports, user, name) : await ports.conversations.find(user, id)
  if (found && found.agent !== agent)
    throw failure("bad_request", { problem: `threadId: this conversation is with ${found.agent}; begin another one.` })
  const hasSaid = async (message: MessageId) => (await ports.conversations.placeOf(id, message)) !== undefined
  const idOf = async (message: string) =>
    isId("msg", message) && (await hasSaid(message)) ? message : messageOfName(id, message)
  const beginAs = async (as: ConversationId) =>
    ports.runtime.begin({ ...(await toBeginning(c.get("caller"), ports, { agent })), id: as })
  return {
    ...{ id, found, idOf },
    hasSaid: async (message) => found !== undefined && (await hasSaid(await idOf(message))),
    begin: async () => found ?? conversationForKey(ports, { user, key, begin: beginAs }),
  }
}
