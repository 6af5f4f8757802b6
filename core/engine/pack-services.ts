import type { z } from "zod"
import type { Scope } from "../protocol/account/sign-in.ts"
import type { CallId, UserId } from "../protocol/ids.ts"
import type { Method } from "../protocol/routes/route.ts"

/** A route that a pack adds below `/api/packs/<pack>`, with its schemas and its handler. */
export interface PackRoute<
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
> {
  readonly method: Method
  /** The path below `/api/packs/<pack>`, with `{name}` for parameters. */
  readonly path: `/${string}`
  /** The scope that the caller's token needs. Routes of packs always need authentication. */
  readonly needs: Exclude<Scope, "self-approve">
  /** One sentence for the API reference. */
  readonly says: string
  readonly query?: Query
  readonly body?: Body
  /**
   * The schema of the response body, which is validated before it is sent with status 200. Null: status 204 without a
   * body.
   */
  readonly answer: Answer | null
  handle(
    request: PackRequest<z.output<Query>, z.output<Body>>,
  ): Promise<z.input<Answer> | null> | z.input<Answer> | null
}

/** An authenticated and validated request. */
export interface PackRequest<Query = unknown, Body = unknown> {
  /** The user who sent the request. Identity comes from the credential only, never from the request's content. */
  readonly caller: { readonly id: UserId; readonly name: string }
  readonly params: Readonly<Record<string, string>>
  readonly query: Query
  readonly body: Body
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
}

/** A route with the name of its pack. */
export interface NamedPackRoute extends PackRoute {
  readonly pack: string
  /** The name of the route in the API reference. */
  readonly name: string
}

/**
 * Returns the route, and infers the handler's types from its schemas.
 *
 * @example
 * const hello = defineRoute({
 *   method: "POST",
 *   path: "/hello",
 *   says: "Greets",
 *   needs: "chat",
 *   body: z.object({ name: z.string() }),
 *   answer: z.object({ text: z.string() }),
 *   handle: async ({ body }) => ({ text: `Hello, ${body.name}.` }),
 * })
 * console.log(hello.method) // POST
 */
export const defineRoute = <Query extends z.ZodType, Body extends z.ZodType, Answer extends z.ZodType>(
  route: PackRoute<Query, Body, Answer>,
): PackRoute => route as unknown as PackRoute

/** A table of a pack. It needs a column `id TEXT NOT NULL`, unique for each user, because exports use it. */
export type PackTable = PersonalPackTable | SharedPackTable

/** A table of a pack whose rows each belong to a user. They are exported and deleted with the user's data. */
export interface PersonalPackTable {
  /** `pack_<pack>_…` */
  readonly name: string
  /** The column, `TEXT NOT NULL`, with the user id of each row. It is used to export and delete a user's rows. */
  readonly person: string
  /** The columns to export: all except secrets. */
  readonly exported: readonly string[]
}

/** A table of a pack whose rows belong to no user, so they are neither exported nor deleted with one. */
export interface SharedPackTable {
  readonly name: string
  /** Why the table's rows belong to no user. */
  readonly shared: string
}

/** A migration of a pack's tables. Each runs once, so add new ones and never change existing ones. */
export interface PackMigration {
  readonly name: string
  /** SQL, one statement each, that works on both engines, or one list for each engine. */
  readonly statements: readonly string[] | Readonly<Record<"sqlite" | "postgres", readonly string[]>>
}

/** A value that a pack stores in or reads from its tables. */
export type PackValue = string | number | null

/** One SQL statement of a pack that writes. Several can run in one transaction. */
export interface PackStatement {
  /** INSERT, UPDATE or DELETE on a table of the pack, with `?` for values. */
  readonly sql: string
  readonly values?: readonly PackValue[]
  /** If this statement changes no row, the whole transaction is rolled back. */
  readonly mustChange?: boolean
}

/** The tables of one pack, on SQLite or PostgreSQL. */
export interface PackTables {
  /** Returns the rows of a SELECT, with `?` for values. */
  query<Row>(sql: string, values?: readonly PackValue[]): Promise<Row[]>
  /**
   * Runs all statements in one transaction. Returns false, without changes, if a statement with `mustChange` changes no
   * row.
   */
  change(statements: readonly PackStatement[]): Promise<boolean>
  /**
   * Runs the statements of a tool's write at most once for each call id, and stores the result in the same transaction.
   * Returns the result of the first time, or undefined if nothing was done. A tool that writes only through this method
   * can use `afterCrash: "run-again"`.
   */
  applyOnce<Came>(
    call: { readonly callId: CallId; readonly user: UserId },
    statements: readonly PackStatement[],
    came: Came,
  ): Promise<Came | undefined>
}

/** An HTTP request of a tool, to an address that a user or a model can influence. */
export interface WebRequest {
  readonly url: string
  readonly method?: "GET" | "POST"
  /** Sent to this host only. Redirects to another host are sent without them. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly seconds?: number
  readonly mostBytes?: number
}

/** The response to an HTTP request that a tool made with `Web`. The body is text, cut at the request's limit. */
export interface WebAnswer {
  /** The final address, after redirects. */
  readonly url: string
  readonly status: number
  readonly type: string
  readonly text: string
  /** True if the body was truncated. */
  readonly cut: boolean
  /** The server's Retry-After: as a duration, and as a time. */
  readonly retryAfterMs?: number
  readonly retryAt?: string
}

/**
 * HTTP requests for tools, to public addresses only. The address is checked when connecting, and again after each
 * redirect.
 */
export interface Web {
  /** Throws `host_not_allowed`, or `web_unreachable` with the reason. Responses of any status are returned. */
  fetch(request: WebRequest, signal: AbortSignal): Promise<WebAnswer>
}
