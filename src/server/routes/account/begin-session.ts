import type { Context } from "hono"
import { failure } from "../../../protocol/errors.ts"
import type { Identity } from "../../../protocol/account/sign-in.ts"
import { mendText } from "../../../protocol/text/text.ts"
import type { Caller, DoorPorts } from "../../door/ports.ts"
import type { Env } from "../../door/request-env.ts"
import { sessionCookie } from "../../door/session-cookie.ts"

const MAX_BROWSER = 200

/** Uses up the secret of a link: this browser has its cookie, and its page is answered with the session's other half. */
export async function beginSession(
  c: Context<Env>,
  { sessions, address, clock }: Pick<DoorPorts, "sessions" | "address" | "clock">,
  secret: string,
) {
  const cookie = sessionCookie(address)
  const browser = c.req.header("user-agent")?.slice(0, MAX_BROWSER)
  const begun = await sessions.signIn(secret, browser ? mendText(browser) : null, clock.now())
  const session = begun && (await sessions.bySecrets(begun, clock.now()))
  if (!begun || !session || session === "half") throw failure("link_spent")
  // The cookie is replaced: what it stood for could never be used or ended by this browser again.
  const before = cookie.read(c)
  if (before) await sessions.end(before)
  cookie.write(c, begun.secret)
  return { ...toIdentity(session.known), pageSecret: begun.pageSecret, next: "/" }
}

export function toIdentity({ person, scopes, credential }: Caller): Identity {
  const { type, id, expiresAt } = credential
  const expires = expiresAt === undefined ? null : new Date(expiresAt).toISOString()
  return {
    user: { id: person.id, name: person.name },
    scopes: [...scopes],
    credential: { type, id, expiresAt: expires },
  }
}
