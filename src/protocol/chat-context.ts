import { z } from "zod"
import { GivenRow } from "./given-row.ts"
import { lazily } from "./lazily.ts"
import { ids, Mode } from "./schema.ts"
import { TimeZone } from "./time/zone.ts"

const Name = lazily(() => z.string().trim().min(1).max(200))

/** What a run may be told beside its words. What is not named here is `brought`: words for the model, as far as there is room. */
const NamedContext = lazily(() =>
  z.object({
    /** Without one the socket goes on with its last conversation, or one begins, with what the others say. */
    conversationId: ids.conversation.nullish(),
    /** One begins, whatever was spoken of before. What is no `true` is passed over: it may be a key of the client's own. */
    newConversation: z.literal(true).nullish().catch(undefined),
    agent: Name.nullish(),
    model: Name.nullish(),
    mode: Mode.nullish(),
    title: Name.nullish(),
    /** A new conversation's workspace is this socket's device, unless it says `server`. */
    site: z.enum(["server", "device"]).nullish(),
    /** Where the person is. What is no zone is passed over: it was, for years, and the words are worth more. */
    timeZone: TimeZone.nullish().catch(undefined),
  }),
)

/** Each key is looked at once, and only here by its name: there may be very many, called anything. */
export const ChatContext = lazily(() => {
  const named = new Set(Object.keys(NamedContext.shape))
  return GivenRow.transform((given, context) => {
    const { data, error } = NamedContext.safeParse(given)
    for (const { message, path } of error?.issues ?? []) context.addIssue({ code: "custom", message, path: [...path] })
    const brought = Object.entries(given).filter(([name]) => !named.has(name))
    return data ? { ...data, brought } : z.NEVER
  })
})
export type ChatContext = z.infer<typeof ChatContext>
