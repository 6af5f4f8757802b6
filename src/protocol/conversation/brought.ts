import { z } from "zod"
import { lazily } from "../lazily.ts"

/** One thing that a client sent along with words, such as a profile or documents, as the model is shown it. */
export const Brought = lazily(() => z.object({ name: z.string(), text: z.string() }))
export type Brought = z.infer<typeof Brought>

/** What was said before, as the client remembers it: for a conversation that does not know it by itself. */
export const CLIENT_HISTORY = "conversation_history"
