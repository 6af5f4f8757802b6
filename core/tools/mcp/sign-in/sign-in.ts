import { randomBytes } from "node:crypto"
import type { AuthorizationServerMetadata, OAuthClientInformationMixed } from "@modelcontextprotocol/client"
import type { McpChallenge, McpSignInPlace } from "../../../engine/mcp.ts"
import { isThisMachine } from "../../../protocol/databases/connections.ts"
import { failure } from "../../../protocol/errors.ts"
import type { UserId } from "../../../protocol/ids.ts"
import type { JsonObject } from "../../../protocol/schema.ts"
import { type HttpTarget, isInTheClear, type McpServer } from "../definition/server.ts"
import type { PersonAuthPorts } from "./person-auth.ts"
import { exchangeAnswer, keepTokens, oauthFetch, type OAuthFetch, toSignInFailure } from "./tokens.ts"

/** Where the answer of a sign-in goes, and who we are to whom it was asked of. */
interface SignInFrom {
  readonly redirect: string
  /** Where the document is that says who we are, for servers that read one; only where the world can reach it. */
  readonly clientDocument: string | undefined
}

/** Where a server says that people sign in. */
interface FoundSignIn {
  readonly server: string
  readonly metadata: AuthorizationServerMetadata
  readonly resource: string
  readonly scopes: readonly string[]
}

/**
 * Asks a server where people sign in for it (RFC 9728), and that one how (RFC 8414). Both answers are a stranger's: who gives
 * out tokens has to be who they say they are, and the tokens have to be for this server and no other.
 */
export async function findSignIn(server: McpServer, fetch: OAuthFetch, challenge?: McpChallenge): Promise<FoundSignIn> {
  const { checkResourceAllowed, discoverOAuthServerInfo, resourceUrlFromServerUrl } =
    await import("@modelcontextprotocol/client")
  const { url } = server.target as HttpTarget
  if (isInTheClear(server)) throw new Error("it is reached over plain http, and so your tokens would be")
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

/** A sign-in that can be answered, and the address where the person is asked. */
interface BegunSignIn {
  readonly url: string
  readonly at: McpSignInPlace
  readonly verifier: string
  readonly scope: string | undefined
}

interface Asked {
  readonly from: SignInFrom
  readonly state: string
  /** What the person has allowed before, and what the server has asked for. */
  readonly wanted: readonly (string | undefined)[]
}

/** Makes us known to who gives out the tokens, and the address at which the person is asked. */
export async function beginSignIn(
  server: McpServer,
  { server: authority, metadata, resource, scopes }: FoundSignIn,
  { from, state, wanted }: Asked,
  fetch: OAuthFetch,
): Promise<BegunSignIn> {
  const { computeScopeUnion, startAuthorization } = await import("@modelcontextprotocol/client")
  const { oauth } = server.target as HttpTarget
  const asked = oauth?.scope ?? computeScopeUnion(...wanted) ?? (scopes.join(" ") || undefined)
  // Without it some give out no token with which another one is had.
  const scope = metadata.scopes_supported?.includes("offline_access")
    ? computeScopeUnion(asked, "offline_access")
    : asked
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
 * As whom we come: as the operator or the person has said, by a document of ours where that is read, or registered anew. A
 * registration is not kept for the next time: one that was forgotten over there would lead to a page that never comes back.
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

/** What we say of ourselves. */
const clientDocument = (redirect: string) => ({
  client_name: "Pawl",
  redirect_uris: [redirect],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
})

/** Of all that it says of itself, what exchanging and renewing takes: a stranger's document is not kept whole. */
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

/** How long a person may take over there. */
const ATTEMPT_MS = 10 * 60_000

export interface SignInBegins extends SignInFrom {
  /** Of the browser that begins it, where one does. */
  readonly session: string | undefined
}

/** Whether it can be signed in to at all. Throws `mcp_sign_in_failed` with the reason. */
export async function requireSignIn(
  { signIns, ways }: PersonAuthPorts,
  server: McpServer,
  user: UserId,
): Promise<void> {
  try {
    const kept = await signIns.read(user, server.key)
    await findSignIn(server, oauthFetch(server, ways), kept?.challenge)
  } catch (error) {
    throw toSignInFailure(error, server)
  }
}

/** Begins a sign-in: returns the address where the person is asked. */
export async function beginAtServer(
  { signIns, ways, clock }: PersonAuthPorts,
  { server, user }: { readonly server: McpServer; readonly user: UserId },
  from: SignInBegins,
): Promise<string> {
  const { url } = server.target as HttpTarget
  const kept = await signIns.read(user, server.key)
  const challenge = kept?.url === url ? kept.challenge : undefined
  // 256 bits that nobody guesses: whoever comes back with them was sent by us.
  const state = randomBytes(32).toString("base64url")
  const fetch = oauthFetch(server, ways)
  try {
    const found = await findSignIn(server, fetch, challenge)
    const wanted = [kept?.granted?.scope, challenge?.scope]
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

interface CameBack {
  readonly user: UserId
  /** All that stood behind the question mark. */
  readonly answer: string
  readonly session: string | undefined
  find(key: string): Promise<McpServer | undefined>
}

/**
 * Finishes a sign-in of this person, begun in this session. It is used up before the code is exchanged: of racing uses one
 * goes on, and an old answer is worth nothing. Returns the server.
 */
export async function finishAtServer(
  { signIns, ways, clock }: PersonAuthPorts,
  { user, answer, session, find }: CameBack,
): Promise<McpServer> {
  const said = new URLSearchParams(answer)
  const [state, ...more] = said.getAll("state")
  const attempt = state && more.length === 0 ? await signIns.finish(user, state) : undefined
  if (!attempt || (attempt.session !== undefined && attempt.session !== session)) throw failure("mcp_sign_in_not_begun")
  const server = await find(attempt.server)
  if (!server || (server.target as Partial<HttpTarget>).url !== attempt.url) throw failure("mcp_sign_in_not_begun")
  const fetch = oauthFetch(server, ways)
  try {
    const granted = await exchangeAnswer(server, attempt, { answer: said, fetch, now: clock.now() })
    const kept = await signIns.read(user, server.key)
    const challenge = kept?.challenge
    const signIn = { url: attempt.url, granted, ...(challenge ? { challenge } : {}), state: "done" as const }
    await keepTokens({ signIns, clock }, user, server.key, signIn)
    return server
  } catch (error) {
    throw toSignInFailure(error, server, [attempt.verifier, said.get("code") ?? attempt.verifier])
  }
}
