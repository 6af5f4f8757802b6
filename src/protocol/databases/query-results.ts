import { z } from "zod"
import { Column, QueryAnswer } from "./connections.ts"
import type { ConnectionId, ConversationId, ResultId, UserId } from "../ids.ts"
import { ids } from "../schema.ts"
import { lazily } from "../lazily.ts"

/** What a query brought, kept as a whole: a table shows more of it, a chart is drawn from it, a file is made of it. */
export const StoredResult = lazily(() =>
  z.object({
    id: ids.result,
    connectionId: ids.connection,
    sql: z.string(),
    columns: z.array(Column),
    rows: z.array(z.array(z.unknown())),
    truncated: z.boolean(),
    warnings: z.array(z.string()).optional(),
    /** SHA-256 of the columns and all rows: the same for the same result. */
    hash: z.string(),
    createdAt: z.string(),
  }),
)
export type StoredResult = z.infer<typeof StoredResult>

/** The answer to a query of one's own. */
export const KeptAnswer = lazily(() => QueryAnswer.extend({ resultId: ids.result }))
export type KeptAnswer = z.infer<typeof KeptAnswer>

export interface NewResult {
  readonly connectionId: ConnectionId
  /** The conversation that asked; null where a person did. */
  readonly conversationId: ConversationId | null
  readonly sql: string
  readonly answer: QueryAnswer
}

/** Where whole results are kept: the newest of a person, as many and as much as is allowed. */
export interface QueryResults {
  keep(user: UserId, result: NewResult): Promise<StoredResult>
  /** Undefined for one that is gone, never was, or is somebody else's. */
  find(user: UserId, id: ResultId): Promise<StoredResult | undefined>
}

/** What a conversation knows of its last result: enough to go on from, and where the whole is. */
export const SqlResultState = lazily(() =>
  z.object({
    resultId: ids.result,
    connectionId: ids.connection,
    sql: z.string(),
    columns: z.array(Column),
    rowCount: z.number().int(),
    truncated: z.boolean(),
    warnings: z.array(z.string()).optional(),
    hash: z.string(),
    /** The first of them. */
    rows: z.array(z.array(z.unknown())),
  }),
)
export type SqlResultState = z.infer<typeof SqlResultState>
