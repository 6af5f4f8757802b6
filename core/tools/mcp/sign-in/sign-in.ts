import { randomBytes } from "node:crypto"
import type { AuthorizationServerMetadata, OAuthClientInformationMixed } from "@modelcontextprotocol/client"
import type { McpChallenge, McpSignInPlace } from "../../../engine/mcp.ts"
import { isThisMachine } from "../../../protocol/databases/connections.ts"
import { failure } from "../../../protocol/errors.ts"
import type { UserId } from "../../../protocol/ids.ts"
import type { JsonObject } from "../../../protocol/schema.ts"
import { type HttpTarget, isUnencrypted, type McpServer } from "../definition/server.ts"
import type { PersonAuthPorts } from "./person-auth.ts"
import { exchangeAnswer, storeTokens, oauthFetch, type OAuthFetch, toSignInFailure } from "./tokens.ts"

/** The redirect address of a sign-in, and our client metadata. */
interface SignInFrom {
  readonly redirect: string
  /** The public address of our client metadata; undefined if it is not reachable. */
  readonly clientDocument: string | undefined
}

/** The authorization server of a server. */
interface FoundSignIn {
  readonly server: string
  readonly metadata: AuthorizationServerMetadata
  readonly resource: string
  readonly scopes: readonly string[]
}

/**
 * Finds a server's authorization server (RFC 9728) and its metadata (RFC 8414). Neither is trusted: the issuer must match,
 * and tokens must be for this server only.
 */
export async function findSignIn(server: McpServer, fetch: OAuthFetch, challenge?: McpChallenge): Promise<FoundSignIn> {
  const { checkResourceAllowed, discoverOAuthServerInfo, resourceUrlFromServerUrl } =
    await import("@modelcontextprotocol/client")
  const { url } = server.target as HttpTarget
  if (isUnencrypted(server)) throw new Error("it is reached over plain http, and so your tokens would be")
  const metadataUrl = challenge?.metadataUrl === undefined ? undefined : new URL(challenge.metadataUrl)
  const found = await discoverOAuthServerInfo(url, {
    ...(metadataUrl ? { resourceMetadataUrl: metadataUrl } : {}),
    fetchFn: fetch,
  }).catch((error: unknown) => {
    throw fetch.found.refused ?? error
  })
  const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = found
  if (fetch.found.refused) throw fetch.found.refused
  if (!metadata)
    throw new Error("it wants a sign-in and does not say where; if it has given you a key, name it as a header")
  const own = resourceUrlFromServerUrl(url)
  const resource = resourceMetadata?.resource ?? own.href
  if (!checkResourceAllowed({ requestedResource: own, configuredResource: resource }))
    throw new Error("what it says of its sign-in is about another server")
  if (!metadata.code_challenge_methods_supported?.includes("S256"))
    throw new Error("where people sign in for it, codes are not protected (PKCE with S256)")
  const at = new URL(metadata.authorization_endpoint)
  if (at.protocol !== "https:" && !(at.protocol === "http:" && isThisMachine(at.hostname)))
    throw new Error("it would have you sign in over plain http")
  const scopes = resourceMetadata?.scopes_supported ?? []
  return { server: authorizationServerUrl, metadata, resource, scopes }
}

/** A started sign-in, and the address for the person. */
interface StartedSignIn {
  readonly url: string
  readonly at: McpSignInPlace
  readonly verifier: string
  readonly scope: string | undefined
}

interface Asked {
  readonly from: SignInFrom
  readonly state: string
  /** Scopes that were granted before, and those that the server asked for. */
  readonly wanted: readonly (string | undefined)[]
}

/** Registers us at the authorization server and builds the address for the person. */
export async function beginSignIn(
  server: McpServer,
  { server: authority, metadata, resource, scopes }: FoundSignIn,
  { from, state, wanted }: Asked,
  fetch: OAuthFetch,
): Promise<StartedSignIn> {
  const { computeScopeUnion, startAuthorization } = await import("@modelcontextprotocol/client")
  const { oauth } = server.target as HttpTarget
  const wantedScope = oauth?.scope ?? computeScopeUnion(...wanted) ?? (scopes.join(" ") || undefined)
  // Some issue no refresh token without it.
  const scope = metadata.scopes_supported?.includes("offline_access")
    ? computeScopeUnion(wantedScope, "offline_access")
    : wantedScope
  const client = await clientAt(server, { authority, metadata, scope, from }, fetch)
  const { authorizationUrl, codeVerifier } = await startAuthorization(authority, {
    ...{ metadata, clientInformation: client, redirectUrl: from.redirect, state, resource },
    ...(scope === undefined ? {} : { scope }),
  })
  const at = { server: authority, metadata: needed(metadata), client: { ...client } as JsonObject, resource }
  return { url: authorizationUrl.href, at, verifier: codeVerifier, scope }
}

interface Authority {
  readonly authority: string
  readonly metadata: AuthorizationServerMetadata
  readonly scope: string | undefined
  readonly from: SignInFrom
}

/**
 * Our client id: configured, the address of our metadata document, or a new registration. Registrations are not reused: one
 * that the server has dropped would lead to an error page that never redirects back.
 */
async function clientAt(
  { target }: McpServer,
  { authority, metadata, scope, from }: Authority,
  fetch: OAuthFetch,
): Promise<OAuthClientInformationMixed> {
  const { oauth } = target as HttpTarget
  if (oauth?.clientId !== undefined)
    return { client_id: oauth.clientId, ...(oauth.clientSecret ? { client_secret: oauth.clientSecret } : {}) }
  if (metadata.client_id_metadata_document_supported === true && from.clientDocument !== undefined)
    return { client_id: from.clientDocument }
  if (metadata.registration_endpoint === undefined)
    throw new Error(
      `it takes only programs that it knows: have Pawl registered there with the redirect ${from.redirect}, and name the client id that you are given`,
    )
  const { registerClient, resolveClientMetadata } = await import("@modelcontextprotocol/client")
  const clientMetadata = resolveClientMetadata({
    redirectUrl: from.redirect,
    clientMetadata: clientDocument(from.redirect),
  })
  // oxlint-disable-next-line typescript/no-deprecated -- most servers know no other way yet
  const registered = await registerClient(authority, {
    ...{ metadata, clientMetadata, fetchFn: fetch },
    ...(scope === undefined ? {} : { scope }),
  })
  const { client_id, client_secret, token_endpoint_auth_method } = registered
  return {
    client_id,
    ...(client_secret === undefined ? {} : { client_secret }),
    ...(token_endpoint_auth_method === undefined ? {} : { token_endpoint_auth_method }),
  } as OAuthClientInformationMixed
}

/** Our client metadata. */
const clientDocument = (redirect: string) => ({
  client_name: "Pawl",
  redirect_uris: [redirect],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
})

/** The fields of the metadata that exchange and renewal need; the rest is not stored. */
function needed(metadata: AuthorizationServerMetadata): JsonObject {
  const { issuer, authorization_endpoint, token_endpoint, response_types_supported } = metadata
  const methods = metadata.token_endpoint_auth_methods_supported
  const saysIssuer = (metadata as JsonObject).authorization_response_iss_parameter_supported === true
  return {
    ...{ issuer, authorization_endpoint, token_endpoint, response_types_supported },
    ...(methods ? { token_endpoint_auth_methods_supported: methods } : {}),
    ...(saysIssuer ? { authorization_response_iss_parameter_supported: true } : {}),
  } as unknown as JsonObject
}

/** How long a sign-in may take. */
const ATTEMPT_MS = 10 * 60_000

export interface SignInStart extends SignInFrom {
  /** The browser session that starts it, if any. */
  readonly session: string | undefined
}

/** Throws `mcp_sign_in_failed` with the reason if a sign-in is not possible. */
export async function requireSignIn(
  { signIns, options }: PersonAuthPorts,
  server: McpServer,
  user: UserId,
): Promise<void> {
  try {
    const stored = await signIns.read(user, server.key)
    await findSignIn(server, oauthFetch(server, options), stored?.challenge)
  } catch (error) {
    throw toSignInFailure(error, server)
  }
}

/** Starts a sign-in. Returns the address for the person. */
export async function startSignIn(
  { signIns, options, clock }: PersonAuthPorts,
  { server, user }: { readonly server: McpServer; readonly user: UserId },
  from: SignInStart,
): Promise<string> {
  const { url } = server.target as HttpTarget
  const stored = await signIns.read(user, server.key)
  const challenge = stored?.url === url ? stored.challenge : undefined
  // 256 random bits: an answer with them belongs to a request of ours.
  const state = randomBytes(32).toString("base64url")
  const fetch = oauthFetch(server, options)
  try {
    const found = await findSignIn(server, fetch, challenge)
    const wanted = [stored?.granted?.scope, challenge?.scope]
    const { url: askedAt, at, verifier, scope } = await beginSignIn(server, found, { from, state, wanted }, fetch)
    const { redirect, session } = from
    const attempt = {
      ...{ server: server.key, url, at, verifier, redirect },
      ...(scope === undefined ? {} : { scope }),
      ...(session === undefined ? {} : { session }),
    }
    await signIns.begin(user, state, attempt, clock.now() + ATTEMPT_MS)
    return askedAt
  } catch (error) {
    throw toSignInFailure(error, server)
  }
}

interface SignInRedirect {
  readonly user: UserId
  /** The query of the redirect. */
  readonly answer: string
  readonly session: string | undefined
  find(key: string): Promise<McpServer | undefined>
}

/**
 * Finishes a sign-in that this person started in this session. The attempt is consumed before the exchange: of concurrent
 * uses one succeeds, and an old answer is worthless. Returns the server.
 */
export async function finishSignInAt(
  { signIns, options, clock }: PersonAuthPorts,
  { user, answer, session, find }: SignInRedirect,
): Promise<McpServer> {
  const params = new URLSearchParams(answer)
  const [state, ...more] = params.getAll("state")
  const attempt = state && more.length === 0 ? await signIns.finish(user, state) : undefined
  if (!attempt || (attempt.session !== undefined && attempt.session !== session)) throw failure("mcp_sign_in_not_begun")
  const server = await find(attempt.server)
  if (!server || (server.target as Partial<HttpTarget>).url !== attempt.url) throw failure("mcp_sign_in_not_begun")
  const fetch = oauthFetch(server, options)
  try {
    const granted = await exchangeAnswer(server, attempt, { answer: params, fetch, now: clock.now() })
    const stored = await signIns.read(user, server.key)
    const challenge = stored?.challenge
    const signIn = { url: attempt.url, granted, ...(challenge ? { challenge } : {}), state: "done" as const }
    await storeTokens({ signIns, clock }, user, server.key, signIn)
    return server
  } catch (error) {
    throw toSignInFailure(error, server, [attempt.verifier, params.get("code") ?? attempt.verifier])
  }
}
