import { z } from "zod"
import { boundedList } from "../../shared/text/bounded-list.ts"
import { isStorable } from "../../shared/text/text.ts"
import { ids } from "../schema.ts"

/**
 * The permissions of a token. `read`: read data. `chat`: send messages. `approve`: decide about proposals and edit rows
 * directly. `manage`: manage tokens, sessions, providers and connections, delete and export data, delete the account.
 * `admin`: operate the server. `self-approve`, in addition to `approve`: writes that a run starts from the token's own
 * socket are applied on that socket's device without approval; only an operator can grant it.
 */
export const scopes = ["read", "chat", "approve", "manage", "admin", "self-approve"] as const
/** A scope of a token: one thing that it may do. */
export type Scope = (typeof scopes)[number]

/** The default scopes of a new token. */
export const defaultScopes: readonly Scope[] = ["read", "chat", "approve", "manage"]

/** The scopes of a JWT in which the identity provider sends none. */
export const issuerScopes: readonly Scope[] = ["read", "chat", "approve"]

/**
 * Schemas for authentication: credentials, tokens, sessions and sign-in. A secret is returned only once, when it is
 * created.
 */

/** The credential of a request. `id` is never the secret itself; for a JWT it is a digest. */
export interface Credential {
  readonly type: "token" | "session" | "jwt" | "app"
  readonly id: string
  /** In milliseconds. A session's expiry moves forward with use; a token has one only if it was created with one. */
  readonly expiresAt?: number
  /** For a session: when the user signed in. */
  readonly signedInAt?: number
  /** For a token issued through OAuth: the only resource that it is valid for. */
  readonly resource?: string
  /** For a token: the token that created it. */
  readonly mintedBy?: string
  /** An id that successive credentials share, such as the JWTs of one client. */
  readonly lineage?: string
  /** For a server inside `pawl chat`, `pawl exec` or an editor: the terminal. */
  readonly client?: "terminal"
}

/**
 * The kind of program that sends a request: the web page, the terminal, or any program that uses a token. The last
 * chosen model is remembered for each kind.
 */
export type ClientKind = "page" | "terminal" | "program"

/** Returns the kind of program that uses this credential: the web page, the terminal, or another program. */
export const clientKindOf = ({ type, client }: Credential): ClientKind =>
  client ?? (type === "session" ? "page" : "program")

/**
 * The id that stays the same when a credential is renewed: the token that created it, the issuer's client, or the
 * credential itself.
 */
export const lineageOf = ({ id, mintedBy, lineage }: Credential): string => lineage ?? mintedBy ?? id

const Scopes = z.array(z.enum(scopes))
const Time = z.string()

/** The body of a sign-in request: the secret from a sign-in link. */
export const SignIn = z.strictObject({ secret: z.string().min(1).max(200) })

/** The signed-in user, their credential, and what it may do. */
export const Identity = z.object({
  user: z.object({ id: ids.user, name: z.string() }),
  scopes: Scopes,
  credential: z.object({
    type: z.enum(["token", "session", "jwt", "app"]),
    id: z.string(),
    expiresAt: Time.nullable(),
  }),
})
export type Identity = z.infer<typeof Identity>

/**
 * `next` is the path to open after sign-in. `pageSecret` is the second half of the session: the page stores it for its
 * own origin and sends it as `X-Pawl-Session`. The cookie is valid only with it.
 */
export const SignedIn = Identity.extend({ pageSecret: z.string(), next: z.string() })

/** `browser` is the browser's name for itself at sign-in. */
export const SessionView = z.object({
  id: ids.session,
  scopes: Scopes,
  browser: z.string().nullable(),
  createdAt: Time,
  expiresAt: Time,
})
export type SessionView = z.infer<typeof SessionView>

/** `current` marks the session that sent the request. */
export const ListedSession = SessionView.extend({ current: z.boolean() })

/** A short-lived secret for opening one WebSocket, because a browser cannot send a token when it opens one. */
export const Ticket = z.object({ ticket: z.string(), expiresAt: Time })
export type Ticket = z.infer<typeof Ticket>

/**
 * A request of a credential to register a device that belongs to another credential. `name` is the name of its token.
 */
export const DeviceRequest = z.object({
  id: ids.deviceRequest,
  deviceId: z.string(),
  credential: z.object({
    type: z.enum(["token", "session", "jwt", "app"]),
    id: z.string(),
    name: z.string().nullable(),
  }),
  askedAt: Time,
})
export type DeviceRequest = z.infer<typeof DeviceRequest>

/** The most days for which a token can be valid: ten years. */
export const MAX_TOKEN_DAYS = 3650

/** The body of a request that creates an access token. */
export const NewToken = z.strictObject({
  name: z.string().trim().min(1).max(100).refine(isStorable).nullish(),
  scopes: boundedList(z.enum(scopes), scopes.length, { least: 1 }).nullish(),
  /** How many days the token is valid. Without it, the token is valid until it is revoked. */
  days: z.int().min(1).max(MAX_TOKEN_DAYS).nullish(),
})

/** An access token as the API lists it, without its secret. */
export const TokenView = z.object({
  id: ids.token,
  name: z.string().nullable(),
  scopes: Scopes,
  createdAt: Time,
  /** Null: valid until revoked. */
  expiresAt: Time.nullable(),
  /** For a program that signed in through OAuth: the only resource that the token is valid for. */
  resource: z.string().optional(),
})
export type TokenView = z.infer<typeof TokenView>

/** A new access token with its secret, `token`. The secret is returned only once. */
export const CreatedToken = TokenView.extend({ token: z.string() })

/** The ways to sign in other than a link. */
export const SignInWays = z.object({ oidc: z.object({ label: z.string() }).nullable() })

/**
 * `redirectTo` is the identity provider's address for the browser. `pageHalf` must be sent back by the page afterwards;
 * the other half is a cookie.
 */
export const IssuerSignInStarted = z.object({ redirectTo: z.string(), pageHalf: z.string() })

/** `answer` is the query string of the address that the browser returned to, unchanged. */
export const IssuerAnswer = z.strictObject({
  pageHalf: z.string().min(1).max(200),
  answer: z.string().min(1).max(16_000),
})

/** OAuth 2.1 for programs: registration, consent and tokens. */

/** The scopes that a user may give a program. None permits decisions, because a program is not a person. */
export const programScopes = ["read", "chat"] as const
export type ProgramScope = (typeof programScopes)[number]

export const grantTypes = ["authorization_code", "refresh_token"] as const

const Address = z.string().min(1).max(1000)

/** RFC 7591. Unknown fields are ignored, as it requires. */
export const ClientRegistration = z.looseObject({
  redirect_uris: boundedList(z.string().min(1).max(500), 4, { least: 1 }),
  client_name: z.string().max(200).refine(isStorable).optional(),
})

export const RegisteredClient = z.object({
  client_id: z.string(),
  client_name: z.string(),
  redirect_uris: z.array(z.string()),
  grant_types: z.array(z.string()),
  response_types: z.array(z.string()),
  token_endpoint_auth_method: z.literal("none"),
})

/** Our client metadata at other servers' sign-in: its own address is our client id there. */
export const ClientDocument = z.object({
  client_id: z.string(),
  client_name: z.string(),
  client_uri: z.string(),
  redirect_uris: z.array(z.string()),
  grant_types: z.array(z.string()),
  response_types: z.array(z.string()),
  token_endpoint_auth_method: z.literal("none"),
})

/** The consent request, as in the page's address. Only S256, because a plain challenge protects nothing. */
export const AuthorizationRequest = z.object({
  response_type: z.literal("code"),
  client_id: z.string().min(1).max(4000),
  redirect_uri: z.string().min(1).max(500),
  /** SHA-256 of the verifier, in base64url. */
  code_challenge: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  code_challenge_method: z.literal("S256"),
  scope: z.string().max(500).optional(),
  state: z.string().max(2000).optional(),
  resource: Address.optional(),
})
export type AuthorizationRequest = z.infer<typeof AuthorizationRequest>

/** The request with the user's decision. */
export const Consent = AuthorizationRequest.extend({ agrees: z.boolean() }).strict()

export const ConsentQuestion = z.object({
  client: z.object({ name: z.string(), redirectsTo: z.string() }),
  scopes: z.array(z.enum(programScopes)),
  user: z.object({ name: z.string() }),
})

/** The address to which the browser is redirected with the result. */
export const ConsentResult = z.object({ redirectTo: z.string() })

const ofAnyGrant = { client_id: z.string().min(1).max(4000), resource: Address.optional() }

/** The form that exchanges a code, or a refresh token. */
export const TokenRequest = z.discriminatedUnion("grant_type", [
  z.object({
    grant_type: z.literal("authorization_code"),
    code: z.string().min(1).max(200),
    redirect_uri: z.string().min(1).max(500),
    code_verifier: z.string().regex(/^[A-Za-z0-9._~-]{43,128}$/),
    ...ofAnyGrant,
  }),
  z.object({ grant_type: z.literal("refresh_token"), refresh_token: z.string().min(1).max(200), ...ofAnyGrant }),
])

export const TokenGranted = z.object({
  access_token: z.string(),
  token_type: z.literal("Bearer"),
  /** Seconds. */
  expires_in: z.number().int(),
  refresh_token: z.string(),
  scope: z.string(),
})

export const OAuthRefusal = z.object({ error: z.string(), error_description: z.string() })

export const ProtectedResource = z.object({
  resource: z.string(),
  authorization_servers: z.array(z.string()),
  scopes_supported: z.array(z.string()),
  bearer_methods_supported: z.array(z.string()),
  resource_name: z.string(),
})

export const AuthorizationServer = z.object({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  registration_endpoint: z.string(),
  response_types_supported: z.array(z.string()),
  grant_types_supported: z.array(z.string()),
  code_challenge_methods_supported: z.array(z.string()),
  token_endpoint_auth_methods_supported: z.array(z.string()),
  scopes_supported: z.array(z.string()),
  authorization_response_iss_parameter_supported: z.literal(true),
})
