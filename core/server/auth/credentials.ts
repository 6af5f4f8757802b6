import type { Clock } from "../../shared/time/clock.ts"
import type { Log } from "../../shared/log.ts"
import type { Page } from "../../protocol/answers.ts"
import type { SessionId, TokenId, UserId } from "../../protocol/ids.ts"
import type { PageQuery } from "../../protocol/requests.ts"
import type { Credential, Scope, SessionView, Ticket, TokenView } from "../../protocol/account/sign-in.ts"
import type { JwtClaims, JwtReader } from "./jwt.ts"
import type { RateLimits, UnreadAnswers } from "./rate-limits.ts"
import type { IncomingMessage, ServerResponse } from "node:http"

/** What it takes to know who is asking, and to stop listening to them. */
export interface DoorPorts {
  readonly clock: Clock
  readonly log: Log
  readonly people: People
  readonly sessions: Sessions
  readonly credentials: Credentials
  readonly streams: Streams
  /** Reads the JWTs of the configured issuer. */
  readonly jwt?: JwtReader
  readonly address: ServerAddress
  /** Returns the name of the user who sends a request, if the app that embeds Pawl has its own sign-in. */
  readonly appUser?: AppUser | undefined
  /** What one person may ask in a minute; without it, or with 0, as much as they like. */
  readonly requestsPerMinute?: number
  /** Where other nodes serve the same people, what is asked of them all is counted together. */
  readonly limits?: RateLimits
  /** What people have left unread of their answers; without it, in as much as is usual. */
  readonly unread?: UnreadAnswers
  /** Runs are told as spans: the trace of who asks is kept, for theirs to link to. */
  readonly keepsTraces?: boolean
}

/** Finds the user of a request by the app's own session. Without a name, the request needs a token of Pawl. */
export type AppUser = (request: Request) => string | null | undefined | Promise<string | null | undefined>

/** Who is asking, and what their credential lets them do. Identity comes from the credential only. */
export interface Caller {
  readonly person: { readonly id: UserId; readonly name: string }
  readonly scopes: ReadonlySet<Scope>
  readonly credential: Credential
  /** The `traceparent` of this request, where traces are kept. */
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
  /** Throws `not_found` for what is not theirs or no longer counts. */
  revokeToken(person: { readonly id: UserId }, id: TokenId, now: number): Promise<void>
}

/** Browsers that have signed in. */
export interface Sessions {
  /** The secret of a link that signs somebody in, once. */
  createLink(
    person: { readonly id: UserId },
    granted: readonly Scope[],
    now: number,
    issuer?: string | null,
  ): Promise<string>
  /** Undefined where the link is used, old or none. Of racing uses one wins. */
  signIn(link: string, browser: string | null, now: number): Promise<{ secret: string; pageSecret: string } | undefined>
  /** `renewed`: it lasts longer now, and the browser should know. `half`: the cookie is one, the page's secret is not its. */
  bySecrets(
    secrets: { readonly secret: string; readonly pageSecret?: string | undefined },
    now: number,
  ): Promise<{ known: Caller; renewed: boolean } | "half" | undefined>
  list(user: UserId, page: PageQuery, now: number): Promise<Page<SessionView>>
  /** Throws `not_found` for what is not theirs or is over. */
  revoke(user: UserId, id: SessionId, now: number): Promise<void>
  /** Those that an issuer has vouched for and that may do more than these. */
  revokeBeyond(
    user: UserId,
    vouched: { readonly issuer: string; readonly scopes: readonly Scope[] },
    now: number,
  ): Promise<readonly SessionId[]>
  end(secret: string): Promise<void>
}

export interface Credentials {
  /** Those that no longer count: `revoked` by the person, or `over` because they expired or signed out. */
  lapsed(ids: readonly string[], now: number): Promise<ReadonlyMap<string, "revoked" | "over">>
  createTicket(caller: Caller, now: number): Promise<Ticket>
  /** Single use. Undefined also where the credential behind it has lapsed. */
  redeemTicket(ticket: string, now: number): Promise<Caller | undefined>
}

/** Answers that stay open. Whoever writes one says so here, and is told to close it when its caller no longer counts. */
export interface Streams {
  /** Throws `too_many_streams` where the person has so many open that one more would be at the cost of others, `server_full` where all have. */
  admit(caller: Caller): void
  /** `close` is called at most once; what comes back takes the stream off the list, however it ended. */
  register(caller: Caller, close: () => void): () => void
  /** Closes what this credential has open and cancels the runs it has working, in this process, now. */
  revoked(credential: string): Promise<void>
  /** The same for one that has merely ended: its streams close, its runs go on. */
  ended(credential: string): void
}

/** Under which names the server answers, and which other sites' pages may change something through it. */
export interface ServerAddress {
  /** What it listens on. */
  readonly host: string
  readonly publicUrl?: string
  readonly allowedOrigins?: readonly string[]
  /** Addresses and networks whose word counts about where a request came from. */
  readonly trustedProxies?: readonly string[]
}

/** What every route finds in its context; `caller` only behind the door. */
export interface Env {
  Variables: { caller: Caller; source: RequestSource; requestId: string; route: string | undefined }
  Bindings: Partial<NodeBindings> | undefined
}

/** What the HTTP server of Node hands to a request. */
export interface NodeBindings {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}

/** How a request came to us, as far as that can be believed. */
export interface RequestSource {
  /** Of the caller, or of the last proxy that we do not trust; undefined where nothing was connected. */
  readonly address: string | undefined
  /** The name and port that the caller asked for. */
  readonly host: string
  /** How the caller came to a proxy of ours, where that one says so. */
  readonly scheme: "http" | "https" | undefined
}
