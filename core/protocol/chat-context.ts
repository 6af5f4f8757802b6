import { z } from "zod"
import { UncheckedRow, ids, Mode } from "./schema.ts"
import { TimeZone } from "../shared/time/zone.ts"

const Name = z.string().trim().min(1).max(200)

/**
 * The known fields of a chat request's context. All other fields become client context: text for the model, as far as
 * it fits.
 */
const NamedContext = z.object({
  /**
   * The conversation to continue. Default: the last conversation of the socket, or a new one with the other fields.
   */
  conversationId: ids.conversation.nullish(),
  /** `true` starts a new conversation. Other values are ignored, because clients may use this key themselves. */
  newConversation: z.literal(true).nullish().catch(undefined),
  agent: Name.nullish(),
  model: Name.nullish(),
  mode: Mode.nullish(),
  title: Name.nullish(),
  /** The location of a new conversation's workspace tools. Default: on this socket's device. */
  site: z.enum(["server", "device"]).nullish(),
  /** The user's time zone. An invalid zone is ignored, so that the message is not lost. */
  timeZone: TimeZone.nullish().catch(undefined),
})

const named = new Set(Object.keys(NamedContext.shape))

/** The client context of a `chat_request`: fields that the server knows, and any others of the client. */
export const ChatContext = UncheckedRow.transform((given, context) => {
  const { data, error } = NamedContext.safeParse(given)
  for (const { message, path } of error?.issues ?? []) context.addIssue({ code: "custom", message, path: [...path] })
  const brought = Object.entries(given).filter(([name]) => !named.has(name))
  return data ? { ...data, brought } : z.NEVER
})
export type ChatContext = z.infer<typeof ChatContext>
