import { type Clock, sleep } from "../../../shared/time/clock.ts"
import { KeyedLock } from "../../../shared/concurrency/locks.ts"
import { failure, hasCode } from "../../../protocol/errors.ts"
import type { UserId } from "../../../protocol/ids.ts"
import type { McpChallenge, McpGranted, McpSignIns, StoredMcpSignIn } from "../../../engine/mcp.ts"
import { isSignInError, problemOf, type RequestAuth } from "../connection/connect.ts"
import { type HttpTarget, isUnencrypted, type McpServer } from "../definition/server.ts"
import { isOver, storeTokens, oauthFetch, type OAuthOptions, renewTokens } from "./tokens.ts"

/** Tokens are renewed this long before they expire, so that they stay valid during a request. */
const BEFORE_MS = 60_000
/** How long a renewal is reserved: longer than an answer is waited for. */
const CLAIM_MS = 15_000
const CHECK_MS = 250

export interface PersonAuthPorts {
  readonly signIns: McpSignIns
  readonly options: OAuthOptions
  readonly clock: Clock
}

interface TokenOwner {
  readonly server: McpServer
  readonly user: UserId
}

/** Sends people's tokens and renews them: one renewal at a time per person and server, on all nodes. */
export class PersonTokens {
  readonly #ports: PersonAuthPorts
  /** Within this process; between processes a claim in the row does the same. */
  readonly #renewing = new KeyedLock()

  constructor(ports: PersonAuthPorts) {
    this.#ports = ports
  }

  for(server: McpServer, user: UserId): RequestAuth {
    const owner = { server, user }
    const secrets: string[] = []
    let sent: string | undefined
    /** The version that a refused request was retried with. */
    let retried: string | undefined
    return {
      secrets,
      token: async () => {
        const stored = await this.#read(owner)
        if (!stored?.granted) return undefined
        const { granted, version } = await this.#renewIfNeeded(owner, stored)
        if (!secrets.includes(granted.accessToken)) secrets.push(granted.accessToken)
        sent = version
        return granted.accessToken
      },
      onUnauthorized: async ({ response }) => {
        const challenge = await challengeIn(response)
        const stored = await this.#read(owner)
        // Another renewal was faster: retry with its tokens.
        if (stored?.granted && stored.version !== sent) return void (retried = stored.version)
        if (stored?.granted?.refreshToken !== undefined)
          return void (retried = (await this.#renew(owner, stored, challenge)).version)
        throw await this.#ended(owner, stored, challenge)
      },
      judge: (error) => this.#judge(owner, error, retried),
    }
  }

  async #judge(owner: TokenOwner, error: unknown, retried: string | undefined): Promise<unknown> {
    if (isSignInError(error)) return error
    const { name, status, requiredScope } = error as { name?: string; status?: unknown; requiredScope?: string }
    if (status !== 401 && name !== "InsufficientScopeError") return error
    const stored = await this.#read(owner)
    if (status === 401) {
      // The renewed tokens are refused too. If the person has signed in again since, those were not tried.
      return stored?.granted && stored.version !== retried ? error : this.#ended(owner, stored)
    }
    const scope = requiredScope?.slice(0, 500)
    if (stored) {
      const challenge = { ...stored.challenge, ...(scope === undefined ? {} : { scope }) }
      await this.#ports.signIns.put(
        owner.user,
        owner.server.key,
        { ...stored, challenge, state: "more" },
        stored.version,
      )
    }
    return failure("mcp_scope_needed", { name: owner.server.name, scope: plainScope(scope) })
  }

  /** The stored sign-in for this address. Tokens of another address, or for an unencrypted one, are not used. */
  async #read({ server, user }: TokenOwner): Promise<StoredMcpSignIn | undefined> {
    const { url } = server.target as HttpTarget
    const stored = await this.#ports.signIns.read(user, server.key)
    if (!stored) return undefined
    return stored.url === url && !isUnencrypted(server) ? stored : { url, state: "needed", version: stored.version }
  }

  async #renewIfNeeded(owner: TokenOwner, stored: StoredMcpSignIn): Promise<Usable> {
    const { granted } = stored as Usable
    const left = (granted.expiresAt ?? Number.POSITIVE_INFINITY) - this.#ports.clock.now()
    if (left > BEFORE_MS || granted.refreshToken === undefined) return stored as Usable
    try {
      return await this.#renew(owner, stored)
    } catch (error) {
      // The old token is still valid.
      if (left <= 0 || hasCode(error, "mcp_sign_in_needed")) throw error
      return stored as Usable
    }
  }

  /** Renews the tokens, or returns those that another renewal stored. */
  #renew(owner: TokenOwner, stored: StoredMcpSignIn, challenge?: McpChallenge): Promise<Usable> {
    const { signIns, clock } = this.#ports
    const { server, user } = owner
    return this.#renewing.run(`${user} ${server.key}`, async () => {
      for (const giveUpAt = clock.now() + 2 * CLAIM_MS; ;) {
        const now = await this.#read(owner)
        if (!now?.granted) throw await this.#ended(owner, now, challenge)
        if (now.version !== stored.version) return now as Usable
        const until = clock.now() + CLAIM_MS
        if (await signIns.claim(user, server.key, { version: stored.version, until })) break
        if (clock.now() >= giveUpAt) throw busy(server)
        await sleep(clock, CHECK_MS)
      }
      return this.#renewed(owner, stored as Usable, challenge)
    })
  }

  async #renewed(owner: TokenOwner, stored: Usable, challenge?: McpChallenge): Promise<Usable> {
    const { signIns, options, clock } = this.#ports
    const { server, user } = owner
    const fetch = oauthFetch(server, options)
    let granted: McpGranted
    try {
      granted = await renewTokens(stored.granted, { fetch, now: clock.now() })
    } catch (error) {
      if (isOver(error)) throw await this.#ended(owner, stored, challenge)
      // The server may have renewed them. The old ones stay and are tried again.
      await signIns.giveUp(user, server.key, stored.version)
      const reason = problemOf(error, { secrets: [...server.secrets, ...secretsOf(stored.granted)] })
      throw failure("mcp_sign_in_failed", { name: server.name, problem: `its tokens could not be renewed: ${reason}` })
    }
    await storeTokens(this.#ports, user, server.key, { ...stored, granted }, stored.version)
    const now = await this.#read(owner)
    if (!now?.granted) throw await this.#ended(owner, now, challenge)
    return now as Usable
  }

  /** Records that the person must sign in (again), unless newer tokens were stored. */
  async #ended(
    { server, user }: TokenOwner,
    stored: StoredMcpSignIn | undefined,
    challenge?: McpChallenge,
  ): Promise<Error> {
    const { signIns } = this.#ports
    const { url } = server.target as HttpTarget
    const isAgain = stored !== undefined && stored.state !== "needed"
    const known = challenge ?? stored?.challenge
    const signIn = { url, ...(known ? { challenge: known } : {}), state: isAgain ? "ended" : "needed" } as const
    const isKnown = stored && !stored.granted && JSON.stringify(stored.challenge) === JSON.stringify(known)
    if (!isKnown) await signIns.put(user, server.key, signIn, stored?.version ?? "none")
    return failure("mcp_sign_in_needed", { name: server.name, isAgain })
  }
}

type Usable = StoredMcpSignIn & { readonly granted: McpGranted }

async function challengeIn(response: Response): Promise<McpChallenge> {
  const { extractWWWAuthenticateParams } = await import("@modelcontextprotocol/client")
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response)
  return {
    ...(resourceMetadataUrl ? { metadataUrl: resourceMetadataUrl.href } : {}),
    ...(scope === undefined ? {} : { scope: scope.slice(0, 500) }),
  }
}

const secretsOf = ({ accessToken, refreshToken }: McpGranted) => [accessToken, ...(refreshToken ? [refreshToken] : [])]

/** Only characters that a scope may contain, because the text is a server's. */
const plainScope = (scope: string | undefined): string => (scope ?? "").replaceAll(/[^\x20-\x7e]/g, "").slice(0, 100)

const busy = ({ name }: McpServer): Error =>
  failure("mcp_sign_in_failed", { name, problem: "its tokens are being renewed; try again in a while" })
