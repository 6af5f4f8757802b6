import type {
  AuthorizationServerMetadata,
  OAuthClientInformationMixed,
  OAuthTokens,
} from "@modelcontextprotocol/client"
import type { McpGranted, McpSignInAttempt, McpSignInPlace, McpSignIns } from "../../../engine/mcp.ts"
import { isThisMachine } from "../../../protocol/databases/connections.ts"
import { type AppError, failure, hasCode } from "../../../protocol/errors.ts"
import { jsonLimits, type JsonLimits } from "../../../shared/text/read-json.ts"
import { type Clock, sleep } from "../../../shared/time/clock.ts"
import { isSignInError, problemOf } from "../connection/connect.ts"
import { boundedFetch } from "../connection/bounded-transport.ts"
import type { McpServer } from "../definition/server.ts"

const MAX_TOKEN = 16_000

/** Exchanges the redirect's answer for tokens. The issuer of the answer is checked first. */
export async function exchangeAnswer(
  server: McpServer,
  { at, verifier, redirect, scope }: McpSignInAttempt,
  { answer, fetch, now }: { readonly answer: URLSearchParams; readonly fetch: OAuthFetch; readonly now: number },
): Promise<McpGranted> {
  const { exchangeAuthorization, validateAuthorizationResponseIssuer } = await import("@modelcontextprotocol/client")
  const { metadata, client } = known(at)
  const iss = answer.get("iss") ?? undefined
  validateAuthorizationResponseIssuer({
    iss,
    expectedIssuer: metadata.issuer,
    issParameterSupported: at.metadata.authorization_response_iss_parameter_supported === true,
  })
  const refused = answer.get("error")
  if (refused !== null) throw refusalOf(refused, server)
  const code = answer.get("code")
  if (code === null || code === "") throw new Error("it has sent you back without an answer")
  const tokens = await exchangeAuthorization(at.server, {
    ...{ metadata, clientInformation: client, authorizationCode: code, codeVerifier: verifier, redirectUri: redirect },
    ...{ resource: at.resource, fetchFn: fetch, ...(iss === undefined ? {} : { iss }) },
  })
  return toGranted(tokens, { at, scope, now })
}

/** Renews tokens. Throws `invalid_grant` if that is final; anything else may be retried. */
export async function renewTokens(
  { at, refreshToken, scope }: McpGranted,
  { fetch, now }: { readonly fetch: OAuthFetch; readonly now: number },
): Promise<McpGranted> {
  const { refreshAuthorization } = await import("@modelcontextprotocol/client")
  const { metadata, client } = known(at)
  const tokens = await refreshAuthorization(at.server, {
    ...{ metadata, clientInformation: client, refreshToken: refreshToken as string },
    ...{ resource: at.resource, fetchFn: fetch },
  })
  return toGranted(tokens, { at, scope, now })
}

/** Whether renewal is impossible for good: the person must sign in again. */
export function isOver(error: unknown): boolean {
  const { name, code } = error as { name?: unknown; code?: unknown }
  return name === "OAuthError" && ["invalid_grant", "invalid_client", "unauthorized_client"].includes(String(code))
}

function toGranted(
  { access_token, refresh_token, token_type, expires_in, scope: grantedScope }: OAuthTokens,
  { at, scope, now }: { readonly at: McpSignInPlace; readonly scope: string | undefined; readonly now: number },
): McpGranted {
  if (token_type.toLowerCase() !== "bearer") throw new Error("it gives out tokens of a kind that we cannot use")
  if (!isToken(access_token) || (refresh_token !== undefined && !isToken(refresh_token)))
    throw new Error("what it gives out is no token")
  const granted = grantedScope ?? scope
  return {
    ...{ at, accessToken: access_token },
    ...(refresh_token === undefined ? {} : { refreshToken: refresh_token }),
    ...(granted === undefined ? {} : { scope: granted }),
    ...(expires_in === undefined ? {} : { expiresAt: now + expires_in * 1000 }),
  }
}

/** Tokens are sent in a header. */
const isToken = (text: string): boolean => text.length <= MAX_TOKEN && /^[\x21-\x7e]+$/.test(text)

/** We wrote this ourselves, and it is stored encrypted. */
const known = ({ metadata, client }: McpSignInPlace) => ({
  metadata: metadata as unknown as AuthorizationServerMetadata,
  client: client as unknown as OAuthClientInformationMixed,
})

type Fetch = typeof globalThis.fetch

/** The limits of metadata and token responses. */
const LIMITS: JsonLimits = { ...jsonLimits.message, characters: 256 * 1024 }
const TIMEOUT_MS = 10_000
const BODILESS = new Set([204, 205, 304])

export interface OAuthOptions {
  /** Checks each address when connecting. */
  readonly guardedFetch: Fetch
  readonly operatorFetch: Fetch
  readonly clock: Clock
}

/**
 * A `fetch` for sign-ins. The addresses come from the server, so each is checked as if a person had entered it, except the
 * operator's own; an answer must be short and arrive in time; redirects are not followed.
 *
 * `found.refused` stores our first refusal, because the library continues with guesses if metadata is missing.
 */
export function oauthFetch(server: McpServer, { guardedFetch, operatorFetch, clock }: OAuthOptions): OAuthFetch {
  const origin = server.target.kind === "http" ? new URL(server.target.url).origin : undefined
  const found: { refused: Error | undefined } = { refused: undefined }
  const fetch: Fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : String(input))
    const isOperators = !server.isPersons && url.origin === origin
    const stop = new AbortController()
    const late = new Error(`${url.host} did not answer within ${TIMEOUT_MS / 1000} seconds`)
    const cancel = clock.alarm(TIMEOUT_MS, () => stop.abort(late))
    const signal = init?.signal ? AbortSignal.any([init.signal, stop.signal]) : stop.signal
    try {
      if (url.protocol !== "https:" && !isThisMachine(url.hostname) && !isOperators)
        throw new Error(`${url.host} is not asked over plain http`)
      const reach = boundedFetch(isOperators ? operatorFetch : guardedFetch, LIMITS)
      const { status, statusText, headers, ...remaining } = await whole(await reach(url, { ...init, signal }))
      return new Response(BODILESS.has(status) ? null : remaining.text, { status, statusText, headers })
    } catch (error) {
      // Many servers redirect unknown addresses to an error page.
      if (isRedirect(error) && (init?.method ?? "GET") === "GET") return new Response(null, { status: 404 })
      // An abort hides its reason, which is known here.
      const problem = stop.signal.aborted ? late : (error as Error)
      found.refused ??= problem
      throw problem
    } finally {
      cancel()
    }
  }
  return Object.assign(fetch, { found })
}

export type OAuthFetch = Fetch & { readonly found: { readonly refused: Error | undefined } }

const isRedirect = (error: unknown): boolean => hasCode(error, "provider_error") && /redirect/.test(String(error))

async function whole(response: Response) {
  const { status, statusText, headers } = response
  return { status, statusText, headers, text: await response.text() }
}

/** Longer than a database restart, shorter than a claimed renewal. */
const PAUSES_MS = [250, 1000, 3000]

/**
 * Stores tokens that were issued once. Retries while the store is unavailable; if only its answer was lost, the stored
 * tokens stay.
 */
export async function storeTokens(
  { signIns, clock }: { readonly signIns: Pick<McpSignIns, "put">; readonly clock: Clock },
  ...stored: Parameters<McpSignIns["put"]>
): Promise<void> {
  for (const pause of PAUSES_MS) {
    try {
      await signIns.put(...stored)
      return
    } catch {
      await sleep(clock, pause)
    }
  }
  await signIns.put(...stored)
}

/** The error codes of OAuth; others are not repeated. */
const REASONS = new Set([
  ...["access_denied", "invalid_request", "unauthorized_client", "unsupported_response_type", "invalid_scope"],
  ...["server_error", "temporarily_unavailable", "invalid_target", "interaction_required", "login_required"],
])

/** Why a sign-in failed, in a sentence without tokens and codes. */
export function toSignInFailure(error: unknown, server: McpServer, secrets: readonly string[] = []): AppError {
  if (isSignInError(error)) return error
  const problem = knownProblem(error) ?? problemOf(error, { secrets: [...server.secrets, ...secrets] })
  return failure("mcp_sign_in_failed", { name: server.name, problem })
}

/** Library errors that would repeat text from an address or a response. */
function knownProblem(error: unknown): string | undefined {
  const { name, message } = error as Error
  if (name === "IssuerMismatchError") return "the answer is not from where you were sent to"
  return name === "OAuthError" && message.includes("Raw body") ? "its response could not be read" : undefined
}

/** The authorization server's refusal. */
function refusalOf(word: string, { name }: McpServer): AppError {
  const reason = REASONS.has(word) ? word : "for a reason of its own"
  return failure("mcp_sign_in_failed", { name, problem: `it has not let you in (${reason})` })
}
