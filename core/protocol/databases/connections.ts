import { z } from "zod"
import { TimeZone } from "../../shared/time/zone.ts"
import type { ConnectionId, ConversationId, ResultId, UserId } from "../ids.ts"
import { ids } from "../schema.ts"

/** Users' databases: what a client sends to connect one, and what it gets back. A password is never returned. */

const Name = z.string().trim().min(1).max(200)
const Word = z.string().min(1).max(200)

/** A name or an address. Nothing that a driver could take for a file, a socket or a setting. */
const Host = z
  .string()
  .trim()
  .max(255)
  .regex(/^[A-Za-z0-9:](?:[A-Za-z0-9._:-]*[A-Za-z0-9:])?$/, {
    message: "must be a host name or an address such as db.example.org",
  })
const Port = z.number().int().min(1).max(65_535)

/** Whether the way there is encrypted: `true` also checks whose certificate it is, `no-verify` does not. `false` sends the password in the clear. */
const Ssl = z.union([z.boolean(), z.literal("no-verify")])

/** True if changes may be proposed. Each needs approval. Without it a database is read-only. */
const Writable = z.boolean()

export const PostgresTarget = z.strictObject({
  kind: z.literal("postgres"),
  host: Host,
  port: Port.default(5432),
  database: Word,
  user: Word,
  password: z.string().max(1000).default(""),
  ssl: Ssl.default(false),
  writable: Writable.optional(),
})
export type PostgresTarget = z.infer<typeof PostgresTarget>

export const SqliteTarget = z.strictObject({
  kind: z.literal("sqlite"),
  path: z.string().trim().min(1).max(1000),
  writable: Writable.optional(),
})
export type SqliteTarget = z.infer<typeof SqliteTarget>

/** The address of a database, and the credentials. */
export type Target = PostgresTarget | SqliteTarget

/** True if the host is this machine, so that a password is not sent over a network. */
export const isThisMachine = (host: string): boolean => /^(.+\.)?localhost$|^127(\.\d{1,3}){3}$|^\[?::1\]?$/i.test(host)

/** By default, connections to other machines are encrypted and their certificates are checked. */
export const usualSsl = (host: string): boolean => !isThisMachine(host)

const NewPostgres = PostgresTarget.extend({ name: Name, ssl: Ssl.optional() }).transform(({ ssl, ...target }) => ({
  ...target,
  ssl: ssl ?? usualSsl(target.host),
}))

export const NewConnection = z.discriminatedUnion("kind", [NewPostgres, SqliteTarget.extend({ name: Name })])
export type NewConnection = z.infer<typeof NewConnection>

export const ConnectionPatch = z
  .strictObject({
    name: Name.optional(),
    host: Host.optional(),
    port: Port.optional(),
    database: Word.optional(),
    user: Word.optional(),
    password: z.string().max(1000).optional(),
    ssl: Ssl.optional(),
    path: SqliteTarget.shape.path.optional(),
    writable: Writable.optional(),
  })
  .refine((patch) => Object.keys(patch).length > 0, { message: "nothing to change" })
export type ConnectionPatch = z.infer<typeof ConnectionPatch>

/** A connection as its owner sees it. */
export const ConnectionView = z.object({
  id: ids.connection,
  name: z.string(),
  kind: z.enum(["postgres", "sqlite"]),
  /** For PostgreSQL. */
  host: z.string().optional(),
  port: z.number().int().optional(),
  database: z.string().optional(),
  user: z.string().optional(),
  ssl: Ssl.optional(),
  /** For SQLite. */
  path: z.string().optional(),
  writable: Writable,
  /** False if its stored password cannot be decrypted, because the master key has changed. Save it again then. */
  configured: z.boolean(),
  createdAt: z.string(),
  updatedAt: z.string(),
})
export type ConnectionView = z.infer<typeof ConnectionView>

/** A stored connection with its decrypted secret; without `target` if it cannot be decrypted. */
export interface StoredConnection {
  readonly id: ConnectionId
  readonly name: string
  readonly kind: Target["kind"]
  readonly target: Target | undefined
  /** Another one after every change of the target. */
  readonly version: string
  readonly createdAt: string
  readonly updatedAt: string
}

export const ConnectionTest = z.object({
  ok: z.boolean(),
  /** The problem as a sentence. */
  code: z.string().nullable(),
  problem: z.string().nullable(),
  /** Risks of a working connection: privileges of its role that no query needs. */
  warnings: z.array(z.string()),
  ms: z.number().int(),
})
export type ConnectionTest = z.infer<typeof ConnectionTest>

/** Characters that a statement may have. */
export const MAX_SQL = 65_536

export const SqlQuery = z.strictObject({
  sql: z.string().min(1).max(MAX_SQL),
  /** The time zone of PostgreSQL's dates; default: the database's. */
  timeZone: TimeZone.optional(),
})

export const Column = z.object({
  name: z.string(),
  /** The type as the database names it; null if it does not. */
  type: z.string().nullable(),
})
export type Column = z.infer<typeof Column>

/**
 * The rows of a query. A number is exact. Numbers that JavaScript cannot represent exactly are texts, as are dates, as
 * the database prints them; bytes are `{bytes, base64}`, JSON is JSON.
 */
export const QueryAnswer = z.object({
  columns: z.array(Column),
  rows: z.array(z.array(z.unknown())),
  /** There was more than is shown. */
  truncated: z.boolean(),
  /** Malformed values in the columns that were read, to be reported with the result. Absent if there are none. */
  warnings: z.array(z.string()).optional(),
  /** The time zone that the database used for dates and times; absent if it has none of its own. */
  timeZone: z.string().optional(),
})
export type QueryAnswer = z.infer<typeof QueryAnswer>

export const SchemaQuery = z.object({
  /** Describes the matching tables in full if not all fit. */
  question: z.string().max(2000).optional(),
  /** Reads the schema again instead of using the cache. */
  refresh: z.enum(["true", "false"]).optional(),
})
export type SchemaQuery = z.infer<typeof SchemaQuery>

export const SchemaAnswer = z.object({
  /** Tables, columns, keys and a few rows, for a model to read. */
  markdown: z.string(),
  /** How many tables and views there are, and how many are shown in full. */
  tables: z.number().int(),
  shown: z.number().int(),
  readAt: z.string(),
})
export type SchemaAnswer = z.infer<typeof SchemaAnswer>

/** The whole result of a query. A table pages through it, a chart or a file is made from it. */
export const StoredResult = z.object({
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
})
export type StoredResult = z.infer<typeof StoredResult>

/** The answer to a query of one's own. */
export const StoredAnswer = QueryAnswer.extend({ resultId: ids.result })
export type StoredAnswer = z.infer<typeof StoredAnswer>

/** A result that was not used for so long expires. */
export const RESULT_DAYS = 7

export interface NewResult {
  readonly connectionId: ConnectionId
  /** The conversation with the query; null if a user ran it. */
  readonly conversationId: ConversationId | null
  readonly sql: string
  readonly answer: QueryAnswer
}

/** Stores whole results: the newest of each user, up to limits of number and size. */
export interface QueryResults {
  keep(user: UserId, result: NewResult): Promise<StoredResult>
  /** Undefined if it has expired, does not exist, or is another user's. */
  find(user: UserId, id: ResultId): Promise<StoredResult | undefined>
  /** The connection that an expired result came through. */
  findExpired(user: UserId, id: ResultId): Promise<ConnectionId | undefined>
}

/** A conversation's record of its last result: enough to refer to it, and the id of the whole. */
export const SqlResultState = z.object({
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
})
export type SqlResultState = z.infer<typeof SqlResultState>
