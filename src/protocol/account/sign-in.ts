import { z } from "zod"
import { boundedList } from "../bounded-list.ts"
import { ids } from "../schema.ts"
import { scopes } from "./scopes.ts"
import { isStorable } from "../text/text.ts"
import { lazily } from "../lazily.ts"

/** Who is asking and with what they prove it, as callers send and get it. A secret is in an answer once, when it is made. */

/** What somebody came in with. An id, never the secret itself; a JWT's is a digest of it. */
export interface Credential {
  readonly type: "token" | "session" | "jwt"
  readonly id: string
  /** Milliseconds; a session's moves on as it is used, a token has one only where what made it has. */
  readonly expiresAt?: number
  /** Of a session: when its person proved who they are. */
  readonly signedInAt?: number
  /** Of a token: the token that made it. */
  readonly mintedBy?: string
  /** Where it stands for others that follow it, as the next JWT does for the last: what they have in common. */
  readonly lineage?: string
}

/** What stays the same when a credential is renewed: the token that made it, the issuer's client, or itself. */
export const lineageOf = ({ id, mintedBy, lineage }: Credential): string => lineage ?? mintedBy ?? id

const Scopes = lazily(() => z.array(z.enum(scopes)))
const Time = lazily(() => z.string())

export const SignIn = lazily(() => z.strictObject({ secret: z.string().min(1).max(200) }))

export const Identity = lazily(() =>
  z.object({
    user: z.object({ id: ids.user, name: z.string() }),
    scopes: Scopes,
    credential: z.object({ type: z.enum(["token", "session", "jwt"]), id: z.string(), expiresAt: Time.nullable() }),
  }),
)
export type Identity = z.infer<typeof Identity>

/**
 * `next` is where a browser goes from here. `pageSecret` is the session's second half: kept by the page for its own
 * origin, and sent with each request as `X-Pawl-Session`. The cookie counts only with it.
 */
export const SignedIn = lazily(() => Identity.extend({ pageSecret: z.string(), next: z.string() }))

/** `browser` is what the browser called itself when it signed in. */
export const SessionView = lazily(() =>
  z.object({
    id: ids.session,
    scopes: Scopes,
    browser: z.string().nullable(),
    createdAt: Time,
    expiresAt: Time,
  }),
)
export type SessionView = z.infer<typeof SessionView>

/** `current` marks the session that asks. */
export const ListedSession = lazily(() => SessionView.extend({ current: z.boolean() }))

export const Ticket = lazily(() => z.object({ ticket: z.string(), expiresAt: Time }))
export type Ticket = z.infer<typeof Ticket>

/** A credential that asks to be a device which is another's. `name`: of a token. */
export const DeviceRequest = lazily(() =>
  z.object({
    id: ids.deviceRequest,
    deviceId: z.string(),
    credential: z.object({ type: z.enum(["token", "session", "jwt"]), id: z.string(), name: z.string().nullable() }),
    askedAt: Time,
  }),
)
export type DeviceRequest = z.infer<typeof DeviceRequest>

export const NewToken = lazily(() =>
  z.strictObject({
    name: z.string().trim().min(1).max(100).refine(isStorable).nullish(),
    scopes: boundedList(z.enum(scopes), scopes.length, { least: 1 }).nullish(),
  }),
)

export const TokenView = lazily(() =>
  z.object({ id: ids.token, name: z.string().nullable(), scopes: Scopes, createdAt: Time }),
)
export type TokenView = z.infer<typeof TokenView>

export const CreatedToken = lazily(() => TokenView.extend({ token: z.string() }))

/** How a browser may come in beside a link. */
export const SignInWays = lazily(() => z.object({ oidc: z.object({ label: z.string() }).nullable() }))

/**
 * `redirectTo` is where the browser goes to say who it is. `pageHalf` is what only our page can show when it comes back;
 * the other half is a cookie.
 */
export const IssuerSignInBegun = lazily(() => z.object({ redirectTo: z.string(), pageHalf: z.string() }))

/** `answer` is what stands behind the question mark of the address that the browser came back to, as it is. */
export const IssuerAnswer = lazily(() =>
  z.strictObject({
    pageHalf: z.string().min(1).max(200),
    answer: z.string().min(1).max(16_000),
  }),
)
