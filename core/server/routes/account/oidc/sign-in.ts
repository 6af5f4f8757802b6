import type { Context } from "hono"
import { failure } from "../../../../protocol/errors.ts"
import type { UserId } from "../../../../protocol/ids.ts"
import { publicBase } from "../../../auth/origins.ts"
import type { Env } from "../../../auth/credentials.ts"
import { ATTEMPT_SECONDS, attemptCookie } from "../../../auth/caller.ts"
import { beginSession } from "../sign-in.ts"
import type { Claims, Issuer, OidcPorts, OidcSettings, SignInSecrets } from "../ports.ts"
import { own } from "../../../../shared/text/json.ts"
import { type Scope, scopes } from "../../../../protocol/account/sign-in.ts"
import { isStorable, mendText } from "../../../../shared/text/text.ts"
import { createHash, randomBytes } from "node:crypto"

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

/** Who has come, in the words of this server. */
export interface Newcomer {
  readonly issuer: string
  readonly subject: string
  readonly name: string
  /** The person here whom they are, by the word of the operator. */
  readonly localName: string | undefined
  readonly scopes: readonly Scope[]
}

const MAX_SUBJECT = 255
const MAX_NAME = 100
const USUAL_NAMES = ["name", "preferred_username", "email"]

/** Reads claims by the operator's rules; throws a `sign_in_…` that says which of them was not met. */
export function toNewcomer(claims: Claims, settings: OidcSettings): Newcomer {
  const { label, mailDomains, personClaim } = settings
  const { iss: issuer, sub: subject } = claims
  if (subject === "" || subject.length > MAX_SUBJECT || !isStorable(subject) || /\s/.test(issuer))
    throw failure("sign_in_untrusted", { label })
  const name = nameOf(claims, settings)
  if (mailDomains.length > 0 || personClaim === "email") requireMail(claims, settings)
  const granted = scopesOf(claims, settings)
  if (granted.length === 0) throw failure("sign_in_no_group", { label, name })
  const localName = personClaim === undefined ? undefined : textOf(readClaim(claims, personClaim))
  return { issuer, subject, name, localName, scopes: granted }
}

function nameOf(claims: Claims, { nameClaim }: OidcSettings): string {
  const names = (nameClaim === undefined ? USUAL_NAMES : [nameClaim]).map((claim) => textOf(readClaim(claims, claim)))
  const name = mendText(names.find((each) => each !== undefined) ?? claims.sub)
  return [...name].slice(0, MAX_NAME).join("").trim()
}

/** Unverified, an address is what somebody has typed. Not every issuer says `true` as such. */
function requireMail(claims: Claims, { label, mailDomains }: OidcSettings): void {
  const mail = textOf(claims.email)
  if (mail === undefined || (claims.email_verified !== true && claims.email_verified !== "true"))
    throw failure("sign_in_mail_unverified", { label })
  const domain = mail.slice(mail.lastIndexOf("@") + 1).toLowerCase()
  if (mailDomains.length > 0 && !mailDomains.includes(domain)) throw failure("sign_in_mail_domain", { label })
}

/** All that any of their groups may do. */
function scopesOf(claims: Claims, { groups, groupsClaim }: OidcSettings): Scope[] {
  const claimed = readClaim(claims, groupsClaim)
  const theirs: unknown[] = Array.isArray(claimed) ? claimed : [claimed]
  const granted = new Set(
    [...theirs, ALL_NODES].flatMap((group) => (typeof group === "string" ? (groups.get(group) ?? []) : [])),
  )
  return scopes.filter((scope) => granted.has(scope))
}

const ALL_NODES = "*"

/** By its whole name, which may be an address with dots in it, or else by a path: `realm_access.roles`. */
function readClaim(claims: Claims, name: string): unknown {
  const whole = own(claims, name)
  if (whole !== undefined) return whole
  return name.split(".").reduce<unknown>((inner, part) => (isTable(inner) ? own(inner, part) : undefined), claims)
}

const isTable = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null

const textOf = (claim: unknown) => (typeof claim === "string" && claim.trim() !== "" ? claim.trim() : undefined)

/** Two halves, as of a session: a cookie, which any port of this host may see and set, and what our page keeps for its origin. */
export interface SignInHalves {
  readonly cookie: string
  readonly page: string
}

export const newHalves = (): SignInHalves => ({ cookie: chance(), page: chance() })

/**
 * All that the issuer is shown, made of both halves: who has one of them, or has planted one, finishes nothing. The issuer is
 * part of it, so that what one of them has answered is never taken to another.
 */
export function toSecrets({ cookie, page }: SignInHalves, issuer: string): SignInSecrets {
  const derive = (what: string) =>
    createHash("sha256")
      .update(JSON.stringify([what, cookie, page, issuer]))
      .digest("base64url")
  return { state: derive("state"), nonce: derive("nonce"), verifier: derive("verifier") }
}

const chance = () => randomBytes(32).toString("base64url")
