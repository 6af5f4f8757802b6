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
/** Pinned: a token does not choose how it is checked, so a public key is never taken for a shared secret. */
const ALGORITHMS = { secret: ["HS256"], keys: ["RS256", "PS256", "ES256", "EdDSA"] }

/** What a JWT says, once it has been checked; undefined for one that does not count. */
export interface JwtReader {
  read(token: string): Promise<JwtClaims | undefined>
}

export interface JwtClaims {
  readonly issuer: string
  readonly subject: string
  /** When they last proved it to the issuer, where the token says so. */
  readonly signedInAt?: number | undefined
  readonly scopes: readonly Scope[]
  readonly credential: Credential
}

/** Reads JWTs of one issuer. Why one is refused, nobody is told: it would help only who makes them up. */
export async function openJwt(
  settings: JwtSettings,
  clock: Clock,
  fetch: typeof globalThis.fetch = globalThis.fetch,
): Promise<JwtReader> {
  // Loaded here, because most servers have no issuer and should not wait for it.
  const { createRemoteJWKSet, customFetch, jwtVerify } = await import("jose")
  const shared = "secret" in settings
  const key: JWTVerifyGetKey = shared
    ? async () => new TextEncoder().encode(settings.secret)
    : patiently(createRemoteJWKSet(new URL(settings.jwksUrl), { [customFetch]: fetch, ...REMOTE }), clock)
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
          // Its issuer goes by no database of ours.
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

/** Of keys that nobody knows there is one request in so many milliseconds, however many tokens name one; and it ends in time. */
const REMOTE = { cooldownDuration: 30_000, timeoutDuration: 5000 }
/**
 * After keys could not be fetched they are not asked for again for this long: anybody can send bad tokens, and each
 * would make us send a request.
 */
export const KEYS_PAUSE_MS = 5000

/** Asks for keys that could not be had once in each pause; in between every token is told the same. */
function patiently(getKey: JWTVerifyGetKey, clock: Clock): JWTVerifyGetKey {
  let failed: { readonly at: number; readonly error: unknown } | undefined
  return async (header, token) => {
    if (failed && monotonicOf(clock) - failed.at < KEYS_PAUSE_MS) throw failed.error
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
    // A token that is renewed in the background is younger than the sign-in behind it, and says so where it can.
    signedInAt: seconds(auth_time) ?? seconds(iat),
    scopes: toScopes(scope),
    credential: {
      type: "jwt",
      id: `jwt_${hashOf(token)}`,
      expiresAt: (exp as number) * 1000,
      // Each lasts an hour or so; what follows it was given to the same program of the same person.
      lineage: `jwt ${hashOf(String(azp ?? client_id ?? ""))}`,
    },
  }
}

const hashOf = (text: string) => createHash("sha256").update(text).digest("base64url").slice(0, 32)

const seconds = (claim: unknown) => (typeof claim === "number" ? claim * 1000 : undefined)

/** An issuer that says nothing about scopes trusts its people with some; one that says something is taken at its word. */
function toScopes(claim: unknown): readonly Scope[] {
  if (claim === undefined) return issuerScopes
  const named = typeof claim === "string" ? claim.split(" ") : []
  return scopes.filter((scope) => named.includes(scope))
}

/** The token is at fault. Otherwise the keys could not be had, which says nothing about the token. */
function isRefusal(error: unknown): boolean {
  const code = (error as { code?: unknown }).code
  if (typeof code !== "string" || !code.startsWith("ERR_J")) return false
  return code !== "ERR_JWKS_TIMEOUT" && code !== "ERR_JWKS_INVALID" && code !== "ERR_JOSE_GENERIC"
}
