import type { Context } from "hono"
import type { ConversationView } from "../../core/protocol/conversation/conversation.ts"
import { failure } from "../../core/protocol/errors.ts"
import { type ConversationId, isId, type MessageId, type UserId } from "../../core/protocol/ids.ts"
import { isStorable } from "../../core/shared/text/text.ts"
import {
  conversationOfKey,
  messageOfName,
  userOf,
  type Env,
  type ServerPorts,
  type NewestRun,
  newestRun,
} from "../../core/adapter.ts"

const MAX_NAME = 200

/** A chat is one of our conversations by its id, or the one that a person's own name for it stands for. */
export const conversationOfChat = (user: UserId, chat: string): ConversationId =>
  isId("conv", chat) ? chat : conversationOfKey(user, JSON.stringify(["ai-sdk", chat]))

/**
 * The conversation of a chat. Undefined where the person has said nothing under that name yet; an id of ours that is not
 * theirs is `not_found`.
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

/** The same for the name in an address. */
export const findNamedChat = (c: Context<Env>, ports: ServerPorts) => findChat(c, ports, c.req.param("chat") ?? "")

/** The message that a client's name stands for in a conversation: one of ours by its id, or always the same. */
export const messageIdOf = (conversation: ConversationId, name: string): MessageId =>
  isId("msg", name) ? name : messageOfName(conversation, name)

/** The newest run of the chat in a request's address, with its conversation; undefined where nobody has been answered there. */
export async function runOfNamedChat(
  c: Context<Env>,
  ports: ServerPorts,
): Promise<{ readonly found: ConversationView; readonly run: NewestRun } | undefined> {
  const found = await findNamedChat(c, ports)
  const run = found && (await newestRun(ports, found.id))
  return run && { found, run }
}
