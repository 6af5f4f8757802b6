import type { Context } from "hono"
import { failure } from "../../../../protocol/errors.ts"
import type { UserId } from "../../../../protocol/ids.ts"
import { requireBaseUrl } from "../../../auth/origins.ts"
import type { Env } from "../../../auth/credentials.ts"
import { ATTEMPT_SECONDS, attemptCookie } from "../../../auth/caller.ts"
import { startSession } from "../sign-in.ts"
import type { Claims, Issuer, OidcPorts, OidcSettings, SignInSecrets } from "../ports.ts"
import { own } from "../../../../shared/text/json.ts"
import { type Scope, scopes } from "../../../../protocol/account/sign-in.ts"
import { isStorable, mendText } from "../../../../shared/text/text.ts"
import { createHash, randomBytes } from "node:crypto"

/** Starts a sign-in: returns the issuer's address, and stores what the browser needs to finish. */
export async function begin(c: Context<Env>, { address, issuerIdentities, clock }: OidcPorts, issuer: Issuer) {
  const halves = newHalves()
  const secrets = toSecrets(halves, issuer.settings.issuer)
  const redirectTo = await issuer.authorizationUrl(callbackOf(c, { address }), secrets)
  const now = clock.now()
  await issuerIdentities.begin(secrets.state, now + ATTEMPT_SECONDS * 1000, now)
  attemptCookie(address).write(c, halves.cookie)
  return { redirectTo, pageHalf: halves.page }
}

interface SignInReturn {
  readonly pageHalf: string
  readonly answer: string
  readonly issuer: Issuer
}

/**
 * Finishes a sign-in. The attempt is consumed before the issuer is asked: of concurrent uses one succeeds, and an old answer
 * is worthless. A crash afterwards costs the person one more attempt.
 */
export async function finish(c: Context<Env>, ports: OidcPorts, { pageHalf, answer, issuer }: SignInReturn) {
  const { address, clock, issuerIdentities, sessions } = ports
  const cookie = attemptCookie(address)
  const half = cookie.read(c)
  const secrets = half === undefined ? undefined : toSecrets({ cookie: half, page: pageHalf }, issuer.settings.issuer)
  if (!secrets || new URLSearchParams(answer).get("state") !== secrets.state) throw failure("sign_in_not_begun")
  cookie.clear(c)
  if (!(await issuerIdentities.finish(secrets.state, clock.now()))) throw failure("sign_in_not_begun")

  const { settings } = issuer
  const claims = await issuer.redeem(new URL(`${callbackOf(c, ports)}?${answer}`), secrets)
  const newcomer = await readNewcomer(ports, claims, settings)
  const person = await issuerIdentities.personOf(newcomer, clock.now())
  if (person === "taken")
    throw failure("sign_in_person_taken", { label: settings.label, name: newcomer.localName ?? newcomer.name })
  await endBeyond(ports, person, newcomer)
  // From here on like a sign-in link; the session also stores its issuer.
  const { scopes } = newcomer
  return startSession(c, ports, await sessions.createLink(person, scopes, clock.now(), newcomer.issuer))
}

/** If the claims are refused, the person's existing sessions from this issuer end too. */
async function readNewcomer(ports: OidcPorts, claims: Claims, settings: OidcSettings): Promise<Newcomer> {
  try {
    return toNewcomer(claims, settings)
  } catch (error) {
    const known = await ports.issuerIdentities.find({ issuer: claims.iss, subject: claims.sub })
    if (known) await endBeyond(ports, known, { issuer: claims.iss, scopes: [] })
    throw error
  }
}

/** The newest claims count: sessions with more scopes than they grant end, with their streams. */
async function endBeyond(
  { sessions, streams, clock }: OidcPorts,
  { id }: { readonly id: UserId },
  { issuer, scopes }: Pick<Newcomer, "issuer" | "scopes">,
): Promise<void> {
  for (const ended of await sessions.revokeBeyond(id, { issuer, scopes }, clock.now())) await streams.revoked(ended)
}

const callbackOf = (c: Context<Env>, { address }: Pick<OidcPorts, "address">) =>
  `${requireBaseUrl(c, address)}/sign-in/callback`

/** A person who signs in, as our settings read their claims. */
interface Newcomer {
  readonly issuer: string
  readonly subject: string
  readonly name: string
  /** The existing local person with this name, if the operator maps a claim to local names. */
  readonly localName: string | undefined
  readonly scopes: readonly Scope[]
}

const MAX_SUBJECT = 255
const MAX_NAME = 100
const DEFAULT_NAME_CLAIMS = ["name", "preferred_username", "email"]

/** Applies the operator's rules to the claims. Throws a `sign_in_…` error that names the unmet rule. */
function toNewcomer(claims: Claims, settings: OidcSettings): Newcomer {
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
  const names = (nameClaim === undefined ? DEFAULT_NAME_CLAIMS : [nameClaim]).map((claim) =>
    textOf(readClaim(claims, claim)),
  )
  const name = mendText(names.find((each) => each !== undefined) ?? claims.sub)
  return [...name].slice(0, MAX_NAME).join("").trim()
}

/** An unverified address is only what someone typed. Some issuers send `"true"` as text. */
function requireMail(claims: Claims, { label, mailDomains }: OidcSettings): void {
  const mail = textOf(claims.email)
  if (mail === undefined || (claims.email_verified !== true && claims.email_verified !== "true"))
    throw failure("sign_in_mail_unverified", { label })
  const domain = mail.slice(mail.lastIndexOf("@") + 1).toLowerCase()
  if (mailDomains.length > 0 && !mailDomains.includes(domain)) throw failure("sign_in_mail_domain", { label })
}

/** The union of the scopes of their groups. */
function scopesOf(claims: Claims, { groups, groupsClaim }: OidcSettings): Scope[] {
  const claimed = readClaim(claims, groupsClaim)
  const theirs: unknown[] = Array.isArray(claimed) ? claimed : [claimed]
  const granted = new Set(
    [...theirs, ALL_NODES].flatMap((group) => (typeof group === "string" ? (groups.get(group) ?? []) : [])),
  )
  return scopes.filter((scope) => granted.has(scope))
}

const ALL_NODES = "*"

/** A claim by its whole name, which may contain dots, or else by path: `realm_access.roles`. */
function readClaim(claims: Claims, name: string): unknown {
  const whole = own(claims, name)
  if (whole !== undefined) return whole
  return name.split(".").reduce<unknown>((inner, part) => (isTable(inner) ? own(inner, part) : undefined), claims)
}

const isTable = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null

const textOf = (claim: unknown) => (typeof claim === "string" && claim.trim() !== "" ? claim.trim() : undefined)

/**
 * Two halves, like a session: a cookie, which any port of this host can see and set, and a value that our page stores for
 * its origin.
 */
interface SignInHalves {
  readonly cookie: string
  readonly page: string
}

const newHalves = (): SignInHalves => ({ cookie: randomText(), page: randomText() })

/**
 * Derives what the issuer sees from both halves: an attacker who has or planted one of them cannot finish the sign-in. The
 * issuer is included, so that one issuer's answer is never used for another.
 */
function toSecrets({ cookie, page }: SignInHalves, issuer: string): SignInSecrets {
  const derive = (what: string) =>
    createHash("sha256")
      .update(JSON.stringify([what, cookie, page, issuer]))
      .digest("base64url")
  return { state: derive("state"), nonce: derive("nonce"), verifier: derive("verifier") }
}

const randomText = () => randomBytes(32).toString("base64url")
