import { type Clock, sleep } from "../../../shared/time/clock.ts"
import { KeyedLock } from "../../../shared/concurrency/locks.ts"
import { failure, hasCode } from "../../../protocol/errors.ts"
import type { UserId } from "../../../protocol/ids.ts"
import type { McpChallenge, McpGranted, McpSignIns, StoredMcpSignIn } from "../../../engine/mcp.ts"
import { isSignInError, problemOf, type RequestAuth } from "../connection/connect.ts"
import { type HttpTarget, isInTheClear, type McpServer } from "../definition/server.ts"
import { isOver, keepTokens, oauthFetch, type OAuthWays, renewTokens } from "./tokens.ts"

/** Tokens are renewed this long before they end: a request that is under way should not meet their end. */
const BEFORE_MS = 60_000
/** For so long nobody else renews them. Longer than an answer is waited for. */
const CLAIM_MS = 15_000
const LOOK_MS = 250

export interface PersonAuthPorts {
  readonly signIns: McpSignIns
  readonly ways: OAuthWays
  readonly clock: Clock
}

interface Whose {
  readonly server: McpServer
  readonly user: UserId
}

/** Sends people's tokens, and renews them: one at a time for each person and server, on all nodes. */
export class PersonTokens {
  readonly #ports: PersonAuthPorts
  /** Of this process; between processes a claim in the row does the same. */
  readonly #renewing = new KeyedLock()

  constructor(ports: PersonAuthPorts) {
    this.#ports = ports
  }

  for(server: McpServer, user: UserId): RequestAuth {
    const whose = { server, user }
    const secrets: string[] = []
    let sent: string | undefined
    /** With which a refused request was tried once more. */
    let retried: string | undefined
    return {
      secrets,
      token: async () => {
        const kept = await this.#read(whose)
        if (!kept?.granted) return undefined
        const { granted, version } = await this.#beforeTheEnd(whose, kept)
        if (!secrets.includes(granted.accessToken)) secrets.push(granted.accessToken)
        sent = version
        return granted.accessToken
      },
      onUnauthorized: async ({ response }) => {
        const challenge = await challengeIn(response)
        const kept = await this.#read(whose)
        // Renewed by somebody else since: it is tried with those first.
        if (kept?.granted && kept.version !== sent) return void (retried = kept.version)
        if (kept?.granted?.refreshToken !== undefined)
          return void (retried = (await this.#renew(whose, kept, challenge)).version)
        throw await this.#ended(whose, kept, challenge)
      },
      judge: (error) => this.#judge(whose, error, retried),
    }
  }

  async #judge(whose: Whose, error: unknown, retried: string | undefined): Promise<unknown> {
    if (isSignInError(error)) return error
    const { name, status, requiredScope } = error as { name?: string; status?: unknown; requiredScope?: string }
    if (status !== 401 && name !== "InsufficientScopeError") return error
    const kept = await this.#read(whose)
    if (status === 401) {
      // What was renewed a moment ago is refused, too. But where the person has signed in again since, that has not been tried.
      return kept?.granted && kept.version !== retried ? error : this.#ended(whose, kept)
    }
    const scope = requiredScope?.slice(0, 500)
    if (kept) {
      const challenge = { ...kept.challenge, ...(scope === undefined ? {} : { scope }) }
      await this.#ports.signIns.put(whose.user, whose.server.key, { ...kept, challenge, state: "more" }, kept.version)
    }
    return failure("mcp_scope_needed", { name: whose.server.name, scope: plainScope(scope) })
  }

  /** What is kept for this address. Of what was for another one nothing is used, nor what anybody on the way could read. */
  async #read({ server, user }: Whose): Promise<StoredMcpSignIn | undefined> {
    const { url } = server.target as HttpTarget
    const kept = await this.#ports.signIns.read(user, server.key)
    if (!kept) return undefined
    return kept.url === url && !isInTheClear(server) ? kept : { url, state: "needed", version: kept.version }
  }

  async #beforeTheEnd(whose: Whose, kept: StoredMcpSignIn): Promise<Usable> {
    const { granted } = kept as Usable
    const left = (granted.expiresAt ?? Number.POSITIVE_INFINITY) - this.#ports.clock.now()
    if (left > BEFORE_MS || granted.refreshToken === undefined) return kept as Usable
    try {
      return await this.#renew(whose, kept)
    } catch (error) {
      // As long as the old one lasts, nothing is lost.
      if (left <= 0 || hasCode(error, "mcp_sign_in_needed")) throw error
      return kept as Usable
    }
  }

  /** New tokens in place of these, or those that somebody else has got meanwhile. */
  #renew(whose: Whose, kept: StoredMcpSignIn, challenge?: McpChallenge): Promise<Usable> {
    const { signIns, clock } = this.#ports
    const { server, user } = whose
    return this.#renewing.run(`${user} ${server.key}`, async () => {
      for (const giveUpAt = clock.now() + 2 * CLAIM_MS; ;) {
        const now = await this.#read(whose)
        if (!now?.granted) throw await this.#ended(whose, now, challenge)
        if (now.version !== kept.version) return now as Usable
        const until = clock.now() + CLAIM_MS
        if (await signIns.claim(user, server.key, { version: kept.version, until })) break
        if (clock.now() >= giveUpAt) throw busy(server)
        await sleep(clock, LOOK_MS)
      }
      return this.#renewed(whose, kept as Usable, challenge)
    })
  }

  async #renewed(whose: Whose, kept: Usable, challenge?: McpChallenge): Promise<Usable> {
    const { signIns, ways, clock } = this.#ports
    const { server, user } = whose
    const fetch = oauthFetch(server, ways)
    let granted: McpGranted
    try {
      granted = await renewTokens(kept.granted, { fetch, now: clock.now() })
    } catch (error) {
      if (isOver(error)) throw await this.#ended(whose, kept, challenge)
      // Whether they were renewed over there is not known. The old ones stay, and are tried again.
      await signIns.giveUp(user, server.key, kept.version)
      const reason = problemOf(error, { secrets: [...server.secrets, ...secretsOf(kept.granted)] })
      throw failure("mcp_sign_in_failed", { name: server.name, problem: `its tokens could not be renewed: ${reason}` })
    }
    await keepTokens(this.#ports, user, server.key, { ...kept, granted }, kept.version)
    const now = await this.#read(whose)
    if (!now?.granted) throw await this.#ended(whose, now, challenge)
    return now as Usable
  }

  /** The person has to sign in, for the first time or again. What others have got meanwhile stays. */
  async #ended({ server, user }: Whose, kept: StoredMcpSignIn | undefined, challenge?: McpChallenge): Promise<Error> {
    const { signIns } = this.#ports
    const { url } = server.target as HttpTarget
    const isAgain = kept !== undefined && kept.state !== "needed"
    const said = challenge ?? kept?.challenge
    const signIn = { url, ...(said ? { challenge: said } : {}), state: isAgain ? "ended" : "needed" } as const
    const isKnown = kept && !kept.granted && JSON.stringify(kept.challenge) === JSON.stringify(said)
    if (!isKnown) await signIns.put(user, server.key, signIn, kept?.version ?? "none")
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

/** A stranger's words, for a sentence: the characters that a scope can have. */
const plainScope = (scope: string | undefined): string => (scope ?? "").replaceAll(/[^\x20-\x7e]/g, "").slice(0, 100)

const busy = ({ name }: McpServer): Error =>
  failure("mcp_sign_in_failed", { name, problem: "its tokens are being renewed; try again in a while" })
