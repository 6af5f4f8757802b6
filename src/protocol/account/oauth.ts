import { z } from "zod"
import { boundedList } from "../bounded-list.ts"
import { isStorable } from "../text/text.ts"
import { lazily } from "../lazily.ts"

/** OAuth 2.1 for programs that sign in by themselves: who registers, what they ask a person for, and what they get. */

/** What a person may let a program do. Nothing that decides: a program is no place where a person agrees. */
export const programScopes = ["read", "chat"] as const
export type ProgramScope = (typeof programScopes)[number]

const Address = lazily(() => z.string().min(1).max(1000))

/** RFC 7591. What we have no use for is passed over, as it says there. */
export const ClientRegistration = lazily(() =>
  z.looseObject({
    redirect_uris: boundedList(z.string().min(1).max(500), 4, { least: 1 }),
    client_name: z.string().max(200).refine(isStorable).optional(),
  }),
)

export const RegisteredClient = lazily(() =>
  z.object({
    client_id: z.string(),
    client_name: z.string(),
    redirect_uris: z.array(z.string()),
    grant_types: z.array(z.string()),
    response_types: z.array(z.string()),
    token_endpoint_auth_method: z.literal("none"),
  }),
)

/** What we say of ourselves at servers that we sign people in to: its own address is our id there. */
export const ClientDocument = lazily(() =>
  z.object({
    client_id: z.string(),
    client_name: z.string(),
    client_uri: z.string(),
    redirect_uris: z.array(z.string()),
    grant_types: z.array(z.string()),
    response_types: z.array(z.string()),
    token_endpoint_auth_method: z.literal("none"),
  }),
)

/** What a program asks a person for, as it stands in the address of the page. Only S256: a plain challenge protects nothing. */
export const AuthorizationRequest = lazily(() =>
  z.object({
    response_type: z.literal("code"),
    client_id: z.string().min(1).max(4000),
    redirect_uri: z.string().min(1).max(500),
    /** SHA-256 of the verifier, in base64url. */
    code_challenge: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
    code_challenge_method: z.literal("S256"),
    scope: z.string().max(500).optional(),
    state: z.string().max(2000).optional(),
    resource: Address.optional(),
  }),
)
export type AuthorizationRequest = z.infer<typeof AuthorizationRequest>

/** The same with the person's word. */
export const Consent = lazily(() => AuthorizationRequest.extend({ agrees: z.boolean() }).strict())

export const ConsentQuestion = lazily(() =>
  z.object({
    client: z.object({ name: z.string(), redirectsTo: z.string() }),
    scopes: z.array(z.enum(programScopes)),
    user: z.object({ name: z.string() }),
  }),
)

/** Where the browser goes with the answer. */
export const ConsentGiven = lazily(() => z.object({ redirectTo: z.string() }))

/** The form that a code is exchanged with. */
export const TokenRequest = lazily(() =>
  z.object({
    grant_type: z.string().max(100),
    code: z.string().min(1).max(200),
    redirect_uri: z.string().min(1).max(500),
    client_id: z.string().min(1).max(4000),
    code_verifier: z.string().regex(/^[A-Za-z0-9._~-]{43,128}$/),
    resource: Address.optional(),
  }),
)

export const TokenGranted = lazily(() =>
  z.object({
    access_token: z.string(),
    token_type: z.literal("Bearer"),
    scope: z.string(),
  }),
)

export const OAuthRefusal = lazily(() => z.object({ error: z.string(), error_description: z.string() }))

export const ProtectedResource = lazily(() =>
  z.object({
    resource: z.string(),
    authorization_servers: z.array(z.string()),
    scopes_supported: z.array(z.string()),
    bearer_methods_supported: z.array(z.string()),
    resource_name: z.string(),
  }),
)

export const AuthorizationServer = lazily(() =>
  z.object({
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
  }),
)
