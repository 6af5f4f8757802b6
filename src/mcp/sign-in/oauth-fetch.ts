import type { Clock } from "../../agent/clock.ts"
import { isThisMachine } from "../../protocol/databases/connections.ts"
import { hasCode } from "../../protocol/errors.ts"
import { boundedFetch } from "../connection/bounded-fetch.ts"
import type { McpServer } from "../definition/server.ts"

type Fetch = typeof globalThis.fetch

/** What a server says of how to sign in, or a token: nothing of this size is longer. */
const MAX_BYTES = 256 * 1024
const TIMEOUT_MS = 10_000
const BODILESS = new Set([204, 205, 304])

export interface OAuthWays {
  /** Judges each address where it is connected to. */
  readonly guardedFetch: Fetch
  readonly operatorFetch: Fetch
  readonly clock: Clock
}

/**
 * A `fetch` for all that signing in takes. Where that is, a stranger says: so every address is judged as one that a person
 * has given, but the one that the operator has named; an answer is short, whole and soon; and no redirect is followed: what
 * is behind one is not there.
 * The first refusal of ours is kept in `refused`, for the library goes on with a guess where metadata cannot be had.
 */
export function oauthFetch(server: McpServer, { guardedFetch, operatorFetch, clock }: OAuthWays): OAuthFetch {
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
      const reach = boundedFetch(isOperators ? operatorFetch : guardedFetch, MAX_BYTES)
      const { status, statusText, headers, ...rest } = await whole(await reach(url, { ...init, signal }))
      return new Response(BODILESS.has(status) ? null : rest.text, { status, statusText, headers })
    } catch (error) {
      // Many have a page of their own for what is not there, and lead to it.
      if (isElsewhere(error) && (init?.method ?? "GET") === "GET") return new Response(null, { status: 404 })
      // What is aborted says so in many words; which of them was meant is known here.
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

const isElsewhere = (error: unknown): boolean => hasCode(error, "provider_error") && /redirect/.test(String(error))

async function whole(response: Response) {
  const { status, statusText, headers } = response
  return { status, statusText, headers, text: await response.text() }
}
