import { failure } from "../../../../protocol/errors.ts"
import { own } from "../../../../protocol/own.ts"
import { type Scope, scopes } from "../../../../protocol/account/scopes.ts"
import { isStorable, mendText } from "../../../../protocol/text/text.ts"
import type { Claims, OidcSettings } from "./ports.ts"

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
    [...theirs, EVERYBODY].flatMap((group) => (typeof group === "string" ? (groups.get(group) ?? []) : [])),
  )
  return scopes.filter((scope) => granted.has(scope))
}

const EVERYBODY = "*"

/** By its whole name, which may be an address with dots in it, or else by a path: `realm_access.roles`. */
function readClaim(claims: Claims, name: string): unknown {
  const whole = own(claims, name)
  if (whole !== undefined) return whole
  return name.split(".").reduce<unknown>((inner, part) => (isTable(inner) ? own(inner, part) : undefined), claims)
}

const isTable = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null

const textOf = (claim: unknown) => (typeof claim === "string" && claim.trim() !== "" ? claim.trim() : undefined)
