import type { Context } from "hono"
import { failure } from "../../../../protocol/errors.ts"
import type { UserId } from "../../../../protocol/ids.ts"
import { publicBase } from "../../../door/public-base.ts"
import type { Env } from "../../../door/request-env.ts"
import { ATTEMPT_SECONDS, attemptCookie } from "../../../door/session-cookie.ts"
import { beginSession } from "../begin-session.ts"
import { type Newcomer, toNewcomer } from "./newcomer.ts"
import type { Claims, Issuer, OidcPorts, OidcSettings } from "./ports.ts"
import { newHalves, toSecrets } from "./secrets.ts"

/** Sends a browser to the issuer, and leaves it what it needs to come back. */
export async function begin(c: Context<Env>, { address, issuerIdentities, clock }: OidcPorts, issuer: Issuer) {
  const halves = newHalves()
  const secrets = toSecrets(halves, issuer.settings.issuer)
  const redirectTo = await issuer.authorizationUrl(callbackOf(c, { address }), secrets)
  const now = clock.now()
  await issuerIdentities.begin(secrets.state, now + ATTEMPT_SECONDS * 1000, now)
  attemptCookie(address).write(c, halves.cookie)
  return { redirectTo, pageHalf: halves.page }
}

interface CameBack {
  readonly pageHalf: string
  readonly answer: string
  readonly issuer: Issuer
}

/**
 * Lets in who has come back. The sign-in is used up before the issuer is asked: of racing uses one goes on, and whoever has
 * an old answer has nothing. A crash behind it costs the person one more press of the button.
 */
export async function finish(c: Context<Env>, ports: OidcPorts, { pageHalf, answer, issuer }: CameBack) {
  const { address, clock, issuerIdentities, sessions } = ports
  const cookie = attemptCookie(address)
  const half = cookie.read(c)
  const secrets = half === undefined ? undefined : toSecrets({ cookie: half, page: pageHalf }, issuer.settings.issuer)
  if (!secrets || new URLSearchParams(answer).get("state") !== secrets.state) throw failure("sign_in_not_begun")
  cookie.clear(c)
  if (!(await issuerIdentities.finish(secrets.state, clock.now()))) throw failure("sign_in_not_begun")

  const { settings } = issuer
  const claims = await issuer.redeem(new URL(`${callbackOf(c, ports)}?${answer}`), secrets)
  const newcomer = await judge(ports, claims, settings)
  const person = await issuerIdentities.personOf(newcomer, clock.now())
  if (person === "taken")
    throw failure("sign_in_person_taken", { label: settings.label, name: newcomer.localName ?? newcomer.name })
  await endBeyond(ports, person, newcomer)
  // From here on as with a link: the session only knows who has vouched for it.
  const { scopes } = newcomer
  return beginSession(c, ports, await sessions.createLink(person, scopes, clock.now(), newcomer.issuer))
}

/** Who may not come in any more does not stay in either: whoever they are is known, though they are refused. */
async function judge(ports: OidcPorts, claims: Claims, settings: OidcSettings): Promise<Newcomer> {
  try {
    return toNewcomer(claims, settings)
  } catch (error) {
    const known = await ports.issuerIdentities.find({ issuer: claims.iss, subject: claims.sub })
    if (known) await endBeyond(ports, known, { issuer: claims.iss, scopes: [] })
    throw error
  }
}

/** What the issuer says now counts for what it has said before: sessions that may do more end, with what they have open. */
async function endBeyond(
  { sessions, streams, clock }: OidcPorts,
  { id }: { readonly id: UserId },
  { issuer, scopes }: Pick<Newcomer, "issuer" | "scopes">,
): Promise<void> {
  for (const ended of await sessions.revokeBeyond(id, { issuer, scopes }, clock.now())) await streams.revoked(ended)
}

/** Registered at the issuer, which sends nobody anywhere else. */
const callbackOf = (c: Context<Env>, { address }: Pick<OidcPorts, "address">) =>
  `${publicBase(c, address)}/sign-in/callback`
