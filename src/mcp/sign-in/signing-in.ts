import { randomBytes } from "node:crypto"
import { failure } from "../../protocol/errors.ts"
import type { UserId } from "../../protocol/ids.ts"
import type { HttpTarget, McpServer } from "../definition/server.ts"
import { beginSignIn, findSignIn, type SignInFrom } from "./begin.ts"
import { keepTokens } from "./keep-tokens.ts"
import { oauthFetch } from "./oauth-fetch.ts"
import type { PersonAuthPorts } from "./person-auth.ts"
import { toSignInFailure } from "./sign-in-failure.ts"
import { exchangeAnswer } from "./tokens.ts"

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
