import { createPrivateKey, type KeyObject, sign } from "node:crypto"
import { readJson } from "../../../shared/text/read-json.ts"

type Fetch = typeof globalThis.fetch

const TOKENS = "https://oauth2.googleapis.com/token"
const SCOPE = "https://www.googleapis.com/auth/cloud-platform"
const HOUR_S = 3600
/** A token is not used in its last minutes, so that it does not expire during a long request. */
const EXPIRY_MARGIN_MS = 5 * 60_000
const TIMEOUT_MS = 30_000
/** Google's answers have some kilobytes. */
const MAX_ANSWER_BYTES = 64 * 1024

export interface ServiceAccount {
  readonly clientEmail: string
  readonly privateKey: string
  readonly privateKeyId?: string | undefined
}

/** A failed sign-in, in the format of adapters' errors. */
class SignInError extends Error {
  override readonly name = "SignInError"
  readonly statusCode: number | undefined

  constructor(problem: string, statusCode?: number) {
    super(`Google's sign-in: ${problem}`)
    this.statusCode = statusCode
  }
}

/** A `fetch` that signs in as a service account first, and again when its token has expired. */
export function withServiceAccount(fetch: Fetch, account: ServiceAccount, now: () => number = Date.now): Fetch {
  let known: { readonly token: Promise<string>; until: number } | undefined
  const tokenOf = (): Promise<string> => {
    if (known && known.until > now()) return known.token
    const requested = requestToken(fetch, account, now())
    const current = { token: requested.then(({ token }) => token), until: now() + HOUR_S * 1000 - EXPIRY_MARGIN_MS }
    known = current
    requested.then(
      ({ seconds }) => (current.until = now() + seconds * 1000 - EXPIRY_MARGIN_MS),
      // The next request tries again.
      () => known === current && (known = undefined),
    )
    return current.token
  }
  return async (input, init) => {
    init?.signal?.throwIfAborted()
    const headers = new Headers(init?.headers)
    headers.set("authorization", `Bearer ${await unlessAborted(tokenOf(), init?.signal)}`)
    const response = await fetch(input, { ...init, headers })
    if (response.status === 401) known = undefined
    return response
  }
}

/** Concurrent requests wait for one token; aborting one of them must not affect the others. */
function unlessAborted<T>(waited: Promise<T>, signal: AbortSignal | null | undefined): Promise<T> {
  if (!signal) return waited
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason as Error)
    signal.addEventListener("abort", leave, { once: true })
    const settled = () => signal.removeEventListener("abort", leave)
    waited.finally(settled).then(resolve, reject)
  })
}

async function requestToken(fetch: Fetch, account: ServiceAccount, now: number) {
  const grant = { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion: assertion(account, now) }
  const response = await fetch(TOKENS, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams(grant).toString(),
    // Not the signal of a request: its watch would count these bytes as part of the reply.
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  const answer = await readAnswer(response)
  const { access_token: token, expires_in: seconds } = answer
  if (response.ok && typeof token === "string" && token !== "") {
    return { token, seconds: typeof seconds === "number" ? seconds : HOUR_S }
  }
  const problem = [answer.error, answer.error_description].filter((each) => typeof each === "string").join(": ")
  // Google reports an unknown key or account as 400.
  const status = response.status >= 400 && response.status < 500 && response.status !== 429 ? 401 : response.status
  throw new SignInError(problem || "it answered without a token", response.ok ? undefined : status)
}

/** The fields of the answer; empty if it is not JSON or too long. */
async function readAnswer({ body }: Response): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Uint8Array[] = []
  let left = MAX_ANSWER_BYTES
  try {
    for await (const chunk of body ?? []) {
      left -= chunk.length
      if (left < 0) return {}
      chunks.push(chunk)
    }
    const answer = readJson(Buffer.concat(chunks).toString())
    return { ...(answer as object | null) }
  } catch {
    return {}
  }
}

/** A JWT that proves the account's identity, signed with its key (RFC 7523). */
function assertion({ clientEmail, privateKey, privateKeyId }: ServiceAccount, now: number): string {
  const seconds = Math.floor(now / 1000)
  const header = { alg: "RS256", typ: "JWT", ...(privateKeyId ? { kid: privateKeyId } : {}) }
  const claims = { iss: clientEmail, scope: SCOPE, aud: TOKENS, iat: seconds, exp: seconds + HOUR_S }
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".")
  return `${text}.${sign("RSA-SHA256", Buffer.from(text), toKey(privateKey)).toString("base64url")}`
}

/** The key may be one line, with escaped line breaks as in its JSON file, or without any. */
function toKey(pem: string): KeyObject {
  const [, kind, lines = ""] = /-----BEGIN (RSA )?PRIVATE KEY-----([^-]*)-----END/.exec(pem) ?? []
  try {
    const key = Buffer.from(lines.replaceAll(/\\n|\s/g, ""), "base64")
    return createPrivateKey({ key, format: "der", type: kind ? "pkcs1" : "pkcs8" })
  } catch {
    // The original error could quote the key.
    throw new SignInError("the private key cannot be read", 401)
  }
}
