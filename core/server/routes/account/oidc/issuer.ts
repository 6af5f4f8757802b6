import type * as OpenId from "openid-client"
import { type Clock, monotonicOf } from "../../../../shared/time/clock.ts"
import type { Log } from "../../../../shared/log.ts"
import { failure, type AppError } from "../../../../protocol/errors.ts"
import type { Claims, Issuer, OidcSettings, SignInSecrets } from "../ports.ts"

interface IssuerPorts {
  readonly clock: Clock
  readonly log: Log
  /** Sends requests through the operator's proxies, if any. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/** How long the issuer's metadata is cached. Its keys are fetched whenever one is unknown. */
const METADATA_MS = 60 * 60_000
/** After a failure the issuer is not asked again for this long, however many people try to sign in. */
export const ISSUER_PAUSE_MS = 5000
const TIMEOUT_SECONDS = 10

/** An OpenID Connect client for one issuer. Loads its library and fetches metadata with the first sign-in. */
export function openIssuer(settings: OidcSettings, { clock, log, fetch }: IssuerPorts): Issuer {
  let found: { readonly at: number; readonly config: Promise<OpenId.Configuration> } | undefined
  let failedAt: number | undefined
  const { label } = settings

  return {
    settings,
    async authorizationUrl(redirectUri, secrets) {
      const openid = await import("openid-client")
      const config = await configuration(openid)
      const { state, nonce, verifier } = secrets
      const parameters = {
        ...{ response_type: "code", redirect_uri: redirectUri, scope: settings.scope, state, nonce },
        ...{ code_challenge: await openid.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256" },
      }
      try {
        // `buildAuthorizationUrl` accepts web addresses only: our script sends the browser there.
        return openid.buildAuthorizationUrl(config, parameters).href
      } catch (error) {
        throw unavailable(error)
      }
    },

    async redeem(cameBackTo, secrets) {
      const openid = await import("openid-client")
      const config = await configuration(openid)
      try {
        return await claimsOf(openid, config, { cameBackTo, secrets, settings })
      } catch (error) {
        const why = toSignInError(error, label)
        if (why.code !== "sign_in_refused") log.warn("oidc_sign_in_failed", { issuer: settings.issuer, error })
        throw why
      }
    },
  }

  async function configuration(openid: typeof OpenId): Promise<OpenId.Configuration> {
    const now = monotonicOf(clock)
    if (failedAt !== undefined && now - failedAt < ISSUER_PAUSE_MS) throw failure("sign_in_unavailable", { label })
    if (!found || now - found.at > METADATA_MS) found = { at: now, config: discover(openid) }
    const { config } = found
    try {
      const known = await config
      failedAt = undefined
      return known
    } catch (error) {
      if (found?.config === config) [found, failedAt] = [undefined, now]
      throw unavailable(error)
    }
  }

  async function discover(openid: typeof OpenId): Promise<OpenId.Configuration> {
    const server = new URL(settings.issuer)
    const { clientId, clientSecret } = settings
    // oxlint-disable-next-line typescript/no-deprecated -- settings allow plain http for an issuer on this machine only
    const insecure = server.protocol === "http:" ? [openid.allowInsecureRequests] : []
    const known = await openid.discovery(server, clientId, undefined, openid.None(), {
      execute: insecure,
      timeout: TIMEOUT_SECONDS,
      ...(fetch ? { [openid.customFetch]: fetch as OpenId.CustomFetch } : {}),
    })
    const metadata = known.serverMetadata()
    const config = new openid.Configuration(metadata, clientId, undefined, clientAuth(openid, metadata, clientSecret))
    config.timeout = TIMEOUT_SECONDS
    if (fetch) config[openid.customFetch] = fetch as OpenId.CustomFetch
    // oxlint-disable-next-line typescript/no-deprecated -- as above
    for (const allow of insecure) allow(config)
    // Also for tokens that came directly from the issuer: a proxy in between is not the issuer.
    openid.enableNonRepudiationChecks(config)
    return config
  }

  function unavailable(error: unknown): Error {
    log.warn("oidc_issuer_unavailable", { issuer: settings.issuer, error })
    return failure("sign_in_unavailable", { label })
  }
}

/** In the body if the issuer supports that, otherwise in a header, which OpenID Connect defines as the default. */
function clientAuth(openid: typeof OpenId, metadata: OpenId.ServerMetadata, secret: string | undefined) {
  if (secret === undefined) return openid.None()
  const isPost = metadata.token_endpoint_auth_methods_supported?.includes("client_secret_post")
  return isPost ? openid.ClientSecretPost(secret) : openid.ClientSecretBasic(secret)
}

interface Redeemed {
  readonly cameBackTo: URL
  readonly secrets: SignInSecrets
  readonly settings: OidcSettings
}

async function claimsOf(
  openid: typeof OpenId,
  config: OpenId.Configuration,
  { cameBackTo, secrets, settings }: Redeemed,
): Promise<Claims> {
  const tokens = await openid.authorizationCodeGrant(config, cameBackTo, {
    expectedState: secrets.state,
    expectedNonce: secrets.nonce,
    pkceCodeVerifier: secrets.verifier,
    idTokenExpected: true,
  })
  const claims = tokens.claims() as Claims
  // Some issuers return further claims only from the userinfo endpoint. The signed token takes precedence.
  const wanted = ["name", settings.groupsClaim, settings.nameClaim, settings.personClaim]
  const isWhole = wanted.every((claim) => claim === undefined || claim.includes(".") || claim in claims)
  if (isWhole || config.serverMetadata().userinfo_endpoint === undefined) return claims
  const more = await openid.fetchUserInfo(config, tokens.access_token, claims.sub)
  return { ...more, ...claims }
}

/** The error codes of OAuth and OpenID Connect; others are not repeated. */
const REASONS = new Set([
  ...["access_denied", "invalid_request", "unauthorized_client", "unsupported_response_type", "invalid_scope"],
  ...["server_error", "temporarily_unavailable", "interaction_required", "login_required", "consent_required"],
  ...["account_selection_required", "registration_not_supported"],
])

/** The issuer did not answer, or not with a valid response. That says nothing about the person. */
const NO_ANSWER = new Set([
  ...["OAUTH_TIMEOUT", "OAUTH_ABORT", "OAUTH_RESPONSE_IS_NOT_CONFORM", "OAUTH_RESPONSE_IS_NOT_JSON"],
  ...["OAUTH_PARSE_ERROR", "OAUTH_WWW_AUTHENTICATE_CHALLENGE", "OAUTH_MISSING_SERVER_METADATA"],
])

/** The error that the person sees. Details are in the log, for the operator. */
export function toSignInError(error: unknown, label: string): AppError {
  const { code, error: word, name } = error as { code?: unknown; error?: unknown; name?: unknown }
  if (code === "OAUTH_AUTHORIZATION_RESPONSE_ERROR") {
    const reason = typeof word === "string" && REASONS.has(word) ? word : "for a reason of its own"
    return failure("sign_in_refused", { label, reason })
  }
  if (code === "OAUTH_JWT_TIMESTAMP_CHECK_FAILED") return failure("sign_in_clocks", { label })
  // The token endpoint refused the code (used, old, of another client) or our secret.
  if (code === "OAUTH_RESPONSE_BODY_ERROR")
    return word === "invalid_grant"
      ? failure("sign_in_untrusted", { label })
      : failure("sign_in_unavailable", { label })
  // `fetch` itself failed.
  if (NO_ANSWER.has(String(code)) || (name === "TypeError" && code === undefined))
    return failure("sign_in_unavailable", { label })
  return failure("sign_in_untrusted", { label })
}
