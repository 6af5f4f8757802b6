import { z } from "zod"
import type { ConnectionId } from "../ids.ts"
import { ids } from "../schema.ts"
import { lazily } from "../lazily.ts"

/** Databases of people: what they send to reach one, and what they get from it. A password goes in and never comes out. */

const Name = lazily(() => z.string().trim().min(1).max(200))
const Word = lazily(() => z.string().min(1).max(200))

/** A name or an address, and nothing that a driver could take for a file, a socket or a setting. */
const Host = lazily(() =>
  z
    .string()
    .trim()
    .max(255)
    .regex(/^[A-Za-z0-9:](?:[A-Za-z0-9._:-]*[A-Za-z0-9:])?$/, {
      message: "must be a host name or an address such as db.example.org",
    }),
)
const Port = lazily(() => z.number().int().min(1).max(65_535))

/** Whether the way there is encrypted: `true` also checks whose certificate it is, `no-verify` does not. `false` sends the password in the clear. */
const Ssl = lazily(() => z.union([z.boolean(), z.literal("no-verify")]))

/** Whether changes may be proposed, each of which somebody has to agree to. Without it a database is only ever read. */
const Writable = lazily(() => z.boolean())

export const PostgresTarget = lazily(() =>
  z.strictObject({
    kind: z.literal("postgres"),
    host: Host,
    port: Port.default(5432),
    database: Word,
    user: Word,
    password: z.string().max(1000).default(""),
    ssl: Ssl.default(false),
    writable: Writable.optional(),
  }),
)
export type PostgresTarget = z.infer<typeof PostgresTarget>

export const SqliteTarget = lazily(() =>
  z.strictObject({
    kind: z.literal("sqlite"),
    path: z.string().trim().min(1).max(1000),
    writable: Writable.optional(),
  }),
)
export type SqliteTarget = z.infer<typeof SqliteTarget>

/** Where a database is and how one gets in. */
export type Target = PostgresTarget | SqliteTarget

/** Whether a host is the machine that asks: there a password does not travel. */
export const isThisMachine = (host: string): boolean => /^(.+\.)?localhost$|^127(\.\d{1,3}){3}$|^\[?::1\]?$/i.test(host)

/** Where nothing is said, everything that leaves the machine is encrypted, and it is checked to whom it goes. */
export const usualSsl = (host: string): boolean => !isThisMachine(host)

const NewPostgres = lazily(() =>
  PostgresTarget.extend({ name: Name, ssl: Ssl.optional() }).transform(({ ssl, ...target }) => ({
    ...target,
    ssl: ssl ?? usualSsl(target.host),
  })),
)

export const NewConnection = lazily(() =>
  z.discriminatedUnion("kind", [NewPostgres, SqliteTarget.extend({ name: Name })]),
)
export type NewConnection = z.infer<typeof NewConnection>

export const ConnectionPatch = lazily(() =>
  z
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
    .refine((patch) => Object.keys(patch).length > 0, { message: "nothing to change" }),
)
export type ConnectionPatch = z.infer<typeof ConnectionPatch>

/** A connection as its owner sees it. */
export const ConnectionView = lazily(() =>
  z.object({
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
  }),
)
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

export const ConnectionTest = lazily(() =>
  z.object({
    ok: z.boolean(),
    /** What is wrong, and in words. */
    code: z.string().nullable(),
    problem: z.string().nullable(),
    /** What is dangerous about a connection that works: powers of its role that no question needs. */
    warnings: z.array(z.string()),
    ms: z.number().int(),
  }),
)
export type ConnectionTest = z.infer<typeof ConnectionTest>

/** Characters that a statement may have. */
export const MAX_SQL = 65_536

export const SqlQuery = lazily(() => z.strictObject({ sql: z.string().min(1).max(MAX_SQL) }))

export const Column = lazily(() =>
  z.object({
    name: z.string(),
    /** As the database calls it; null where it says nothing. */
    type: z.string().nullable(),
  }),
)
export type Column = z.infer<typeof Column>

/**
 * What a query brought. A number is exact; what a JavaScript number cannot hold exactly is a text, as are dates, as the
 * database prints them; bytes are `{bytes, base64}`, JSON is JSON.
 */
export const QueryAnswer = lazily(() =>
  z.object({
    columns: z.array(Column),
    rows: z.array(z.array(z.unknown())),
    /** There was more than is shown. */
    truncated: z.boolean(),
    /** What is odd in the columns that were read: whoever tells of the result says so. Not there where nothing is. */
    warnings: z.array(z.string()).optional(),
  }),
)
export type QueryAnswer = z.infer<typeof QueryAnswer>

export const SchemaQuery = lazily(() =>
  z.object({
    /** Shows the tables that fit it in full, where not all fit. */
    question: z.string().max(2000).optional(),
    /** Asks the database again in place of showing what it said before. */
    refresh: z.enum(["true", "false"]).optional(),
  }),
)
export type SchemaQuery = z.infer<typeof SchemaQuery>

export const SchemaAnswer = lazily(() =>
  z.object({
    /** Tables, columns, keys and a few rows, for a model to read. */
    markdown: z.string(),
    /** How many tables and views there are, and how many are shown in full. */
    tables: z.number().int(),
    shown: z.number().int(),
    readAt: z.string(),
  }),
)
export type SchemaAnswer = z.infer<typeof SchemaAnswer>
