import { type Scope, scopes, defaultScopes } from "../../../core/protocol/account/sign-in.ts"
import { anyText, Bad, httpAddress, listOfItems, type SettingKind, textLike } from "./kinds.ts"
import { setting, wholeText } from "./setting.ts"

const LEAST_JWT_BYTES = 32
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/
/** Issuers of Microsoft that accept accounts of any organisation. */
const ANYBODY = /^https:\/\/login\.microsoftonline\.com\/(?:common|organizations|consumers)(?:\/|$)/

const issuerAddress = textLike(
  { test: isIssuer },
  "the issuer's own address, such as https://id.example/realms/work: https (http on this machine only), of one organisation, without ? and #",
)

/** `staff=read chat approve, ops=read admin`; split at the last `=`, because group names may contain one. */
const groupScopes: SettingKind<ReadonlyMap<string, readonly Scope[]>> = {
  allowed: `groups and their scopes, such as staff=${defaultScopes.join(" ")}, guests=read; * is everyone; scopes: ${scopes.join(", ")}`,
  read(text) {
    const groups = new Map<string, readonly Scope[]>()
    for (const item of text.split(",").map((each) => each.trim())) {
      if (item === "") continue
      const at = item.lastIndexOf("=")
      const group = item.slice(0, Math.max(at, 0)).trim()
      const words = item
        .slice(at + 1)
        .split(/\s+/)
        .filter((word) => word !== "")
      const named = scopes.filter((scope) => words.includes(scope))
      if (group === "" || named.length === 0 || named.length < words.length || groups.has(group)) return new Bad(item)
      groups.set(group, named)
    }
    return groups.size === 0 ? new Bad(text) : groups
  },
}

/** Sign-in with OpenID Connect (docs/recipes/sign-in-with-openid-connect.md). */
export const oidcSettings = {
  PAWL_OIDC_ISSUER: setting(issuerAddress, {
    description:
      "The OpenID Connect issuer for sign-in, in addition to links. Its endpoints are read from `/.well-known/openid-configuration` (docs/recipes/sign-in-with-openid-connect.md).",
  }),
  PAWL_OIDC_CLIENT_ID: setting(textLike(/^[\x21-\x7e]{1,500}$/, "the client id that the issuer has assigned"), {
    description: "This server's client id at the issuer; required with it.",
  }),
  PAWL_OIDC_CLIENT_SECRET: setting(anyText, {
    description: "The client secret, if the client has one.",
    secretsIn: wholeText,
  }),
  PAWL_OIDC_GROUPS: setting(groupScopes, {
    description:
      "Who may sign in, and their scopes, by their groups at the issuer: `staff=read chat approve manage, ops=read admin`. `*` is everyone who can sign in at the issuer. Required with the issuer.",
  }),
  PAWL_OIDC_GROUPS_CLAIM: setting(anyText, {
    description: "The claim with the user's groups; `realm_access.roles` is a nested one.",
    defaultValue: "groups",
  }),
  PAWL_OIDC_NAME_CLAIM: setting(anyText, {
    description: "The claim with the user's name. It is for display only.",
    defaultText: "`name`, else `preferred_username`, else `email`",
  }),
  PAWL_OIDC_PERSON_CLAIM: setting(anyText, {
    description:
      "The claim whose value links a first sign-in to an existing user of that name. Set it only if users cannot choose its value at the issuer.",
    defaultText: "first sign-ins always create new users",
  }),
  PAWL_OIDC_MAIL_DOMAINS: setting(listOfItems(isDomain, "domains such as example.org, separated by commas"), {
    description: "Allows only users with a verified e-mail address in one of these domains.",
    defaultValue: [],
  }),
  PAWL_OIDC_SCOPE: setting(textLike(/^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/, "words separated by single spaces"), {
    description: "The scopes to request, for example if groups need their own.",
    defaultValue: "openid profile email",
  }),
  PAWL_OIDC_LABEL: setting(textLike(/^.{1,40}$/u, "up to 40 characters"), {
    description: "The issuer's name on the button: Sign in with …",
    defaultText: "the issuer's host",
  }),
}

/** How people and programs prove who they are. */
export const peopleSettings = {
  PAWL_JWT_SECRET: setting(
    textLike(
      { test: (text) => Buffer.byteLength(text) >= LEAST_JWT_BYTES },
      `at least ${LEAST_JWT_BYTES} bytes: HS256 is as strong as its key`,
    ),
    { description: "The secret key of your own JWTs (HS256).", secretsIn: wholeText },
  ),
  PAWL_JWKS_URL: setting(httpAddress, {
    description: "Instead of a secret: the address of the public keys of your own JWTs.",
  }),
  // Without a space, which separates issuer and subject in a person's name.
  PAWL_JWT_ISSUER: setting(textLike(/^\S{1,500}$/, "the `iss` of your tokens, such as https://id.example"), {
    description: "The issuer of accepted JWTs; required with either of them.",
  }),
  PAWL_JWT_AUDIENCE: setting(anyText, { description: "The `aud` that accepted JWTs must have, if any." }),
  ...oidcSettings,
  PAWL_TOKEN: setting(textLike(/^[\x21-\x7e]{1,8192}$/, "a token from `pawl token create`"), {
    description: "The token for commands at another server (`--server`).",
    secretsIn: wholeText,
  }),
}

function isIssuer(text: string): boolean {
  const url = /\s/.test(text) ? null : URL.parse(text)
  if (!url || url.search !== "" || url.hash !== "" || url.username !== "" || ANYBODY.test(text)) return false
  if (url.pathname.includes("/.well-known/")) return false
  return url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.test(url.hostname))
}

function isDomain(text: string): boolean {
  return /^[a-z0-9.-]+\.[a-z]{2,}$/i.test(text) && URL.canParse(`https://${text}`)
}
