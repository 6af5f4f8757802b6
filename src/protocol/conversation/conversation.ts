import { z } from "zod"
import { ids, Mode } from "../schema.ts"
import { ReplySettings } from "./reply-settings.ts"
import { lazily } from "../lazily.ts"

export const ConversationStatus = lazily(() => z.enum(["active", "running", "awaiting_confirmation", "failed"]))
export type ConversationStatus = z.infer<typeof ConversationStatus>

/** A conversation as the API shows it. */
export const ConversationView = lazily(() =>
  z.object({
    id: ids.conversation,
    title: z.string().nullable(),
    agent: z.string(),
    provider: z.string().nullable(),
    /** Which model answers; null only where there is no default and one has to be chosen first. */
    model: z.string().nullable(),
    /** False: nobody chose it, and it is another when the default is. */
    modelChosen: z.boolean().optional(),
    mode: Mode,
    status: ConversationStatus,
    site: z.enum(["server", "device"]),
    deviceId: z.string().nullable(),
    connectionId: z.string().nullable(),
    /** How its model is to reply, as far as that was set here; the agent and the server may say more. */
    settings: ReplySettings.optional(),
    position: z.number().int(),
    createdAt: z.string(),
    updatedAt: z.string(),
  }),
)
export type ConversationView = z.infer<typeof ConversationView>
