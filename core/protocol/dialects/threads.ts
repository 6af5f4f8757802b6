import { z } from "zod"
import { ids } from "../schema.ts"

/**
 * The thread adapter: conversations in an earlier format, for its existing clients. Unknown fields are ignored, because
 * these clients will not change.
 */
const Name = z.string().trim().min(1).max(200)

export const NewThread = z.looseObject({ user_connection_id: Name.nullish(), model: Name.nullish() })
export const ThreadMessage = z.looseObject({ text: z.string(), user_connection_id: Name.nullish() })
export const ThreadConnection = z.looseObject({ user_connection_id: Name })
export const ThreadModelChoice = z.looseObject({ model: Name.optional(), name: Name.optional() })

export const ThreadCreated = z.object({ thread_id: ids.conversation })
export type ThreadCreated = z.infer<typeof ThreadCreated>

export const ThreadAnswer = z.object({
  thread_id: ids.conversation,
  created_at: z.string(),
  messages: z.array(z.object({ sender: z.enum(["user", "assistant"]), text: z.string(), timestamp: z.string() })),
})
export type ThreadAnswer = z.infer<typeof ThreadAnswer>

const Connected = z.object({ user_id: ids.user, connection_id: ids.connection })

export const ThreadConnected = z.object({ thread_id: ids.conversation, connection: Connected })

export const ThreadState = z.object({
  thread_id: ids.conversation,
  model_name: z.string().nullable(),
  /** As Markdown; null without a connection, or if its database does not respond. */
  db_schema: z.string().nullable(),
  connection: Connected.nullable(),
  /** The newest result as JSON text: `{sql, columns, rows, row_count, truncated, result_id, connection_id}`. */
  sql_result: z.string().nullable(),
})
export type ThreadState = z.infer<typeof ThreadState>

export const ThreadModel = z.object({
  thread_id: ids.conversation,
  model: z.string().nullable(),
  models: z.record(z.string(), z.boolean()),
})
export type ThreadModel = z.infer<typeof ThreadModel>

/** The events of a response, as `data:` lines. */
export type ThreadFrame =
  | { readonly type: "chunk"; readonly content: string }
  | { readonly type: "tool_result"; readonly content: unknown }
  | { readonly type: "end"; readonly full_response: string }
  | { readonly type: "error"; readonly error: string }
