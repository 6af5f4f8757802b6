import { z } from "zod"
import { lazily } from "../../protocol/lazily.ts"

const Name = lazily(() => z.string().trim().min(1).max(200))

/** What `ask_agent` takes. */
export const AskInput = lazily(() =>
  z.strictObject({
    message: z.string().describe("What to say, in plain words"),
    agent: Name.optional().describe("Who is asked (list_agents); the assistant unless said"),
    conversation: Name.optional().describe("Goes on with this one (conv_…) in place of beginning another"),
    model: Name.optional().describe("Who answers in a new conversation; the person's usual model unless said"),
    connection: Name.optional().describe("The database (conn_…) that a new conversation works on"),
    key: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe("Any text of your own: sent again with the same key and words within a day, it is not done twice"),
  }),
)
export type AskInput = z.infer<typeof AskInput>
