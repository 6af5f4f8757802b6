import type {
  AuthorizationServerMetadata,
  OAuthClientInformationMixed,
  OAuthTokens,
} from "@modelcontextprotocol/client"
import type { McpGranted, McpSignInAttempt, McpSignInPlace } from "../../protocol/ports/mcp-sign-ins.ts"
import type { McpServer } from "../definition/server.ts"
import type { OAuthFetch } from "./oauth-fetch.ts"
import { refusalOf } from "./sign-in-failure.ts"

const MAX_TOKEN = 16_000

/** Exchanges what a person came back with, for tokens. Whose answer it is, is checked before anything of it is believed. */
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

/** New tokens for the old ones. What was refused says `invalid_grant`; anything else may be tried again. */
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

/** Whether these tokens will never be renewed: the person has to sign in again. */
export function isOver(error: unknown): boolean {
  const { name, code } = error as { name?: unknown; code?: unknown }
  return name === "OAuthError" && ["invalid_grant", "invalid_client", "unauthorized_client"].includes(String(code))
}

function toGranted(
  { access_token, refresh_token, token_type, expires_in, scope: told }: OAuthTokens,
  { at, scope, now }: { readonly at: McpSignInPlace; readonly scope: string | undefined; readonly now: number },
): McpGranted {
  if (token_type.toLowerCase() !== "bearer") throw new Error("it gives out tokens of a kind that we cannot use")
  if (!isToken(access_token) || (refresh_token !== undefined && !isToken(refresh_token)))
    throw new Error("what it gives out is no token")
  const granted = told ?? scope
  return {
    ...{ at, accessToken: access_token },
    ...(refresh_token === undefined ? {} : { refreshToken: refresh_token }),
    ...(granted === undefined ? {} : { scope: granted }),
    ...(expires_in === undefined ? {} : { expiresAt: now + expires_in * 1000 }),
  }
}

/** It goes into a header as it is. */
const isToken = (text: string): boolean => text.length <= MAX_TOKEN && /^[\x21-\x7e]+$/.test(text)

/** As we have written it ourselves, and sealed. */
const known = ({ metadata, client }: McpSignInPlace) => ({
  metadata: metadata as unknown as AuthorizationServerMetadata,
  client: client as unknown as OAuthClientInformationMixed,
})
