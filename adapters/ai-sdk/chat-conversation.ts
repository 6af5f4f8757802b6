import type { Context } from "hono"
import {
  conversationIdOfKey,
  type Env,
  isStorable,
  messageIdOfName,
  type NewestRun,
  newestRun,
  type ServerPorts,
  userOf,
} from "../../core/adapter.ts"
import {
  type ConversationId,
  type ConversationView,
  failure,
  isId,
  type MessageId,
  type UserId,
} from "../../core/protocol/index.ts"

const MAX_NAME = 200

/** A chat is a conversation's id, or a person's own name for one. */
export const conversationOfChat = (user: UserId, chat: string): ConversationId =>
  isId("conv", chat) ? chat : conversationIdOfKey(user, JSON.stringify(["ai-sdk", chat]))

/**
 * The conversation of a chat. Undefined before the first message under that name. Throws `not_found` for an id that is not
 * the person's.
 */
export async function findChat(
  c: Context<Env>,
  { conversations }: ServerPorts,
  chat: string,
): Promise<ConversationView | undefined> {
  if (chat === "" || chat.length > MAX_NAME || !isStorable(chat)) throw failure("not_found")
  const found = await conversations.find(userOf(c), conversationOfChat(userOf(c), chat))
  if (!found && isId("conv", chat)) throw failure("not_found")
  return found
}

/** The chat in the address. */
export const findNamedChat = (c: Context<Env>, ports: ServerPorts) => findChat(c, ports, c.req.param("chat") ?? "")

/** Our id for the client's message: an id of ours, or derived from its name. */
export const messageIdOf = (conversation: ConversationId, name: string): MessageId =>
  isId("msg", name) ? name : messageIdOfName(conversation, name)

/** The newest run of the chat in the address; undefined if there is none. */
export async function runOfNamedChat(
  c: Context<Env>,
  ports: ServerPorts,
): Promise<{ readonly found: ConversationView; readonly run: NewestRun } | undefined> {
  const found = await findNamedChat(c, ports)
  const run = found && (await newestRun(ports, found.id))
  return run && { found, run }
}
