import { createHash } from "node:crypto"
import type { JWTPayload, JWTVerifyGetKey } from "jose"
import { type Clock, machineTimeOf, monotonicOf } from "../../shared/time/clock.ts"
import { failure } from "../../protocol/errors.ts"
import { type Credential, issuerScopes, type Scope, scopes } from "../../protocol/account/sign-in.ts"
import { isStorable } from "../../shared/text/text.ts"

export type JwtSettings = {
  readonly issuer: string
  readonly audience?: string
} & ({ readonly secret: string } | { readonly jwksUrl: string })

const MAX_SUBJECT = 255
const MAX_TOKEN = 16 * 1024
/** Fixed here, not chosen by the token: otherwise a public key could be used as a shared secret. */
const ALGORITHMS = { secret: ["HS256"], keys: ["RS256", "PS256", "ES256", "EdDSA"] }

/** Verifies a JWT and reads its claims; undefined if it is not valid. */
export interface JwtReader {
  read(token: string): Promise<JwtClaims | undefined>
}

export interface JwtClaims {
  readonly issuer: string
  readonly subject: string
  /** When the person last authenticated at the issuer, if the token contains it. */
  readonly signedInAt?: number | undefined
  readonly scopes: readonly Scope[]
  readonly credential: Credential
}

/** Reads JWTs of one issuer. The reason for a refusal is not reported: it would only help a forger. */
export async function openJwt(
  settings: JwtSettings,
  clock: Clock,
  fetch: typeof globalThis.fetch = globalThis.fetch,
): Promise<JwtReader> {
  // Loaded here because most servers have no issuer.
  const { createRemoteJWKSet, customFetch, jwtVerify } = await import("jose")
  const shared = "secret" in settings
  const key: JWTVerifyGetKey = shared
    ? async () => new TextEncoder().encode(settings.secret)
    : withPause(createRemoteJWKSet(new URL(settings.jwksUrl), { [customFetch]: fetch, ...REMOTE }), clock)
  const { issuer, audience } = settings

  return {
    async read(token) {
      if (token.length > MAX_TOKEN) return undefined
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: shared ? ALGORITHMS.secret : ALGORITHMS.keys,
          issuer,
          ...(audience === undefined ? {} : { audience }),
          requiredClaims: ["exp", "sub"],
          // The issuer's clock, not the database's, set `exp`.
          currentDate: new Date(machineTimeOf(clock)),
        })
        return toClaims(token, issuer, payload)
      } catch (error) {
        if (isRefusal(error)) return undefined
        throw failure("issuer_unavailable")
      }
    },
  }
}

/** Unknown key ids cause at most one request per cooldown, however many tokens name one. */
const REMOTE = { cooldownDuration: 30_000, timeoutDuration: 5000 }
/** The delay before a failed fetch of keys is retried. Otherwise each bad token would cause a request. */
export const JWKS_RETRY_DELAY_MS = 5000

/** Retries a failed fetch of keys only after the delay. Until then every token fails with the same error. */
function withPause(getKey: JWTVerifyGetKey, clock: Clock): JWTVerifyGetKey {
  let failed: { readonly at: number; readonly error: unknown } | undefined
  return async (header, token) => {
    if (failed && monotonicOf(clock) - failed.at < JWKS_RETRY_DELAY_MS) throw failed.error
    try {
      const key = await getKey(header, token)
      failed = undefined
      return key
    } catch (error) {
      if (!isRefusal(error)) failed = { at: monotonicOf(clock), error }
      throw error
    }
  }
}

function toClaims(
  token: string,
  issuer: string,
  { sub, exp, iat, auth_time, scope, azp, client_id }: JWTPayload,
): JwtClaims | undefined {
  if (typeof sub !== "string" || sub === "" || sub.length > MAX_SUBJECT || !isStorable(sub)) return undefined
  return {
    issuer,
    subject: sub,
    // A token that was refreshed in the background is younger than the sign-in, so prefer `auth_time`.
    signedInAt: seconds(auth_time) ?? seconds(iat),
    scopes: toScopes(scope),
    credential: {
      type: "jwt",
      id: `jwt_${hashOf(token)}`,
      expiresAt: (exp as number) * 1000,
      // A token lasts about an hour; the next one belongs to the same program of the same person.
      lineage: `jwt ${hashOf(String(azp ?? client_id ?? ""))}`,
    },
  }
}

const hashOf = (text: string) => createHash("sha256").update(text).digest("base64url").slice(0, 32)

const seconds = (claim: unknown) => (typeof claim === "number" ? claim * 1000 : undefined)

/** Without a scope claim the issuer's people get the default scopes; with one, exactly what it lists. */
function toScopes(claim: unknown): readonly Scope[] {
  if (claim === undefined) return issuerScopes
  const named = typeof claim === "string" ? claim.split(" ") : []
  return scopes.filter((scope) => named.includes(scope))
}

/** True if the token is invalid. Otherwise the keys could not be fetched, which says nothing about the token. */
function isRefusal(error: unknown): boolean {
  const code = (error as { code?: unknown }).code
  if (typeof code !== "string" || !code.startsWith("ERR_J")) return false
  return code !== "ERR_JWKS_TIMEOUT" && code !== "ERR_JWKS_INVALID" && code !== "ERR_JOSE_GENERIC"
}
