import type { Clock } from "../../shared/time/clock.ts"
import type { Log } from "../../shared/log.ts"
import type { Page } from "../../protocol/answers.ts"
import type { SessionId, TokenId, UserId } from "../../protocol/ids.ts"
import type { PageQuery } from "../../protocol/requests.ts"
import type { Credential, Scope, SessionView, Ticket, TokenView } from "../../protocol/account/sign-in.ts"
import type { JwtClaims, JwtReader } from "./jwt.ts"
import type { RateLimits, UnreadResponses } from "./rate-limits.ts"
import type { IncomingMessage, ServerResponse } from "node:http"

/** The services for authentication and revocation. */
export interface AuthPorts {
  readonly clock: Clock
  readonly log: Log
  readonly people: People
  readonly sessions: Sessions
  readonly credentials: Credentials
  readonly streams: Streams
  readonly jwt?: JwtReader
  readonly address: ServerAddress
  /** Returns the name of the user who sends a request, if the app that embeds Pawl has its own sign-in. */
  readonly appUser?: AppUser | undefined
  /** Most requests of one person in a minute. Default: 0, unlimited. */
  readonly requestsPerMinute?: number
  /** The limits that are counted together with other nodes, if there are several. */
  readonly limits?: RateLimits
  /** The unread answers of each person. Default: the usual limit. */
  readonly unread?: UnreadResponses
  /** Runs are exported as spans: store the caller's trace so that the spans can link to it. */
  readonly storesTraces?: boolean
}

/** Finds the user of a request by the app's own session. Without a name, the request needs a token of Pawl. */
export type AppUser = (request: Request) => string | null | undefined | Promise<string | null | undefined>

/** Who is calling, and what the credential allows. Identity comes from the credential only. */
export interface Caller {
  readonly person: { readonly id: UserId; readonly name: string }
  readonly scopes: ReadonlySet<Scope>
  readonly credential: Credential
  /** The `traceparent` of this request, if traces are exported. */
  readonly trace?: string | undefined
}

export interface People {
  byToken(token: string, now: number): Promise<Caller | undefined>
  ensure(name: string, now: number): Promise<Caller["person"]>
  ofIssuer(who: Pick<JwtClaims, "issuer" | "subject" | "signedInAt">, now: number): Promise<Caller["person"]>
  createToken(
    person: { readonly id: UserId },
    granted: readonly Scope[],
    now: number,
    made?: { readonly name?: string | null; readonly mintedBy?: TokenId | null; readonly expiresAt?: number | null },
  ): Promise<{ id: TokenId; token: string }>
  listTokens(user: UserId, page: PageQuery, now: number): Promise<Page<TokenView>>
  /** Throws `not_found` if the token is another person's, expired or revoked. */
  revokeToken(person: { readonly id: UserId }, id: TokenId, now: number): Promise<void>
}

export interface Sessions {
  /** Creates the secret of a sign-in link, which works once. */
  createLink(
    person: { readonly id: UserId },
    granted: readonly Scope[],
    now: number,
    issuer?: string | null,
  ): Promise<string>
  /** Undefined if the link is unknown, used or expired. Of two concurrent uses one succeeds. */
  signIn(link: string, browser: string | null, now: number): Promise<{ secret: string; pageSecret: string } | undefined>
  /**
   * `renewed`: the session lasts longer now, so the cookie must be sent again. `half`: the cookie is valid, but the page
   * secret does not belong to it.
   */
  bySecrets(
    secrets: { readonly secret: string; readonly pageSecret?: string | undefined },
    now: number,
  ): Promise<{ known: Caller; renewed: boolean } | "half" | undefined>
  list(user: UserId, page: PageQuery, now: number): Promise<Page<SessionView>>
  /** Throws `not_found` if the session is another person's or over. */
  revoke(user: UserId, id: SessionId, now: number): Promise<void>
  /** Revokes the sessions that this issuer signed in and that have more than these scopes. Returns their ids. */
  revokeBeyond(
    user: UserId,
    vouched: { readonly issuer: string; readonly scopes: readonly Scope[] },
    now: number,
  ): Promise<readonly SessionId[]>
  end(secret: string): Promise<void>
}

export interface Credentials {
  /**
   * Which of these credentials are no longer valid: `revoked` by the person, or `over` because they expired or signed
   * out.
   */
  lapsed(ids: readonly string[], now: number): Promise<ReadonlyMap<string, "revoked" | "over">>
  createTicket(caller: Caller, now: number): Promise<Ticket>
  /** Works once. Undefined also if the credential that created it is no longer valid. */
  redeemTicket(ticket: string, now: number): Promise<Caller | undefined>
}

/** The open streams and sockets. Each registers itself here and is closed when its credential is no longer valid. */
export interface Streams {
  /** Throws `too_many_streams` if the person has too many open, `server_full` if all people together have. */
  admit(caller: Caller): void
  /** Calls `close` at most once. The returned function removes the stream from the list. */
  register(caller: Caller, close: () => void): () => void
  /** Closes the streams of this credential and cancels its runs in this process. */
  revoked(credential: string): Promise<void>
  /** The same if the credential ended by itself: its streams close, its runs continue. */
  ended(credential: string): void
}

/** The addresses that the server answers on, and the other sites whose pages may change something. */
export interface ServerAddress {
  /** The address that it listens on. */
  readonly host: string
  readonly publicUrl?: string
  readonly allowedOrigins?: readonly string[]
  /** Addresses and networks of proxies whose `X-Forwarded-*` headers are trusted. */
  readonly trustedProxies?: readonly string[]
}

/** The variables of each request's context; `caller` only after authentication. */
export interface Env {
  Variables: { caller: Caller; source: RequestSource; requestId: string; route: string | undefined }
  Bindings: Partial<NodeBindings> | undefined
}

/** The bindings that Node's HTTP server passes with a request. */
export interface NodeBindings {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}

/** The trusted facts about a request's origin. */
export interface RequestSource {
  /** The address of the caller, or of the last proxy that is not trusted; undefined without a connection. */
  readonly address: string | undefined
  /** The host and port that the caller requested. */
  readonly host: string
  /** The scheme that the caller used towards a trusted proxy, if the proxy reports it. */
  readonly scheme: "http" | "https" | undefined
}
