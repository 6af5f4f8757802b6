import { z } from "zod"
import { TimeZone } from "../../shared/time/zone.ts"
import type { ConnectionId, ConversationId, ResultId, UserId } from "../ids.ts"
import { ids } from "../schema.ts"

/** Databases of people: what they send to reach one, and what they get from it. A password goes in and never comes out. */

const Name = z.string().trim().min(1).max(200)
const Word = z.string().min(1).max(200)

/** A name or an address, and nothing that a driver could take for a file, a socket or a setting. */
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

/** Whether changes may be proposed, each of which somebody has to agree to. Without it a database is only ever read. */
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

/** Where a database is and how one gets in. */
export type Target = PostgresTarget | SqliteTarget

/** Whether a host is the machine that asks: there a password does not travel. */
export const isThisMachine = (host: string): boolean => /^(.+\.)?localhost$|^127(\.\d{1,3}){3}$|^\[?::1\]?$/i.test(host)

/** Where nothing is said, everything that leaves the machine is encrypted, and it is checked to whom it goes. */
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
  /** Of PostgreSQL. */
  host: z.string().optional(),
  port: z.number().int().optional(),
  database: z.string().optional(),
  user: z.string().optional(),
  ssl: Ssl.optional(),
  /** Of SQLite. */
  path: z.string().optional(),
  writable: Writable,
  /** What it needs is stored and can be opened. Where it is false, the master key has changed: save it again. */
  configured: z.boolean(),
  createdAt: z.string(),
  updatedAt: z.string(),
})
export type ConnectionView = z.infer<typeof ConnectionView>

/** A connection as it is stored, with its secret opened; without `target` where it could not be. */
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
  /** What is wrong, and in words. */
  code: z.string().nullable(),
  problem: z.string().nullable(),
  /** What is dangerous about a connection that works: powers of its role that no question needs. */
  warnings: z.array(z.string()),
  ms: z.number().int(),
})
export type ConnectionTest = z.infer<typeof ConnectionTest>

/** Characters that a statement may have. */
export const MAX_SQL = 65_536

export const SqlQuery = z.strictObject({
  sql: z.string().min(1).max(MAX_SQL),
  /** In which PostgreSQL counts days; without it, in that of the database. */
  timeZone: TimeZone.optional(),
})

export const Column = z.object({
  name: z.string(),
  /** As the database calls it; null where it says nothing. */
  type: z.string().nullable(),
})
export type Column = z.infer<typeof Column>

/**
 * What a query brought. A number is exact; what a JavaScript number cannot hold exactly is a text, as are dates, as the
 * database prints them; bytes are `{bytes, base64}`, JSON is JSON.
 */
export const QueryAnswer = z.object({
  columns: z.array(Column),
  rows: z.array(z.array(z.unknown())),
  /** There was more than is shown. */
  truncated: z.boolean(),
  /** What is odd in the columns that were read: whoever tells of the result says so. Not there where nothing is. */
  warnings: z.array(z.string()).optional(),
  /** The time zone in which the database counted days and wrote times; not there where it has none of its own. */
  timeZone: z.string().optional(),
})
export type QueryAnswer = z.infer<typeof QueryAnswer>

export const SchemaQuery = z.object({
  /** Shows the tables that fit it in full, where not all fit. */
  question: z.string().max(2000).optional(),
  /** Asks the database again in place of showing what it said before. */
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

/** What a query brought, kept as a whole: a table shows more of it, a chart is drawn from it, a file is made of it. */
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
export const KeptAnswer = QueryAnswer.extend({ resultId: ids.result })
export type KeptAnswer = z.infer<typeof KeptAnswer>

/** A result that was not used for so long expires. */
export const RESULT_DAYS = 7

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
  /** Undefined for one that has expired, never was, or is somebody else's. */
  find(user: UserId, id: ResultId): Promise<StoredResult | undefined>
  /** The connection that an expired result came through. */
  findExpired(user: UserId, id: ResultId): Promise<ConnectionId | undefined>
}

/** What a conversation knows of its last result: enough to go on from, and where the whole is. */
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
