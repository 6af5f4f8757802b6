import { type Scope, scopes, usualScopes } from "../../protocol/account/scopes.ts"
import { anyText, Bad, httpAddress, listOfItems, type SettingKind, textLike } from "./kinds.ts"
import { setting, theWhole } from "./setting.ts"

const LEAST_JWT_BYTES = 32
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/
/** Addresses of Microsoft that stand for everybody who has an account with them, in whichever organisation. */
const ANYBODY = /^https:\/\/login\.microsoftonline\.com\/(?:common|organizations|consumers)(?:\/|$)/

const issuerAddress = textLike(
  { test: isIssuer },
  "the issuer's own address, such as https://id.example/realms/work: https (http on this machine only), of one organisation, without ? and #",
)

/** `staff=read chat approve, ops=read admin`; behind the last `=`, because names of groups may hold one. */
const groupScopes: SettingKind<ReadonlyMap<string, readonly Scope[]>> = {
  allowed: `groups and what their members may do, such as staff=${usualScopes.join(" ")}, guests=read; * is everybody; scopes: ${scopes.join(", ")}`,
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

/** Where people sign in (docs/sign-in.md). */
export const oidcSettings = {
  PAWL_OIDC_ISSUER: setting(issuerAddress, {
    says: "Where people sign in with OpenID Connect, beside links. Its `/.well-known/openid-configuration` says the rest (docs/sign-in.md).",
  }),
  PAWL_OIDC_CLIENT_ID: setting(textLike(/^[\x21-\x7e]{1,500}$/, "the client id that the issuer has given out"), {
    says: "What this server is called there; needed with it.",
  }),
  PAWL_OIDC_CLIENT_SECRET: setting(anyText, {
    says: "The secret of that client, where it has one.",
    secretsIn: theWhole,
  }),
  PAWL_OIDC_GROUPS: setting(groupScopes, {
    says: "Who may come in and what they may do, by their groups there: `staff=read chat approve manage, ops=read admin`. `*` is everybody whom the issuer lets in. Needed with it.",
  }),
  PAWL_OIDC_GROUPS_CLAIM: setting(anyText, {
    says: "The claim that holds their groups; `realm_access.roles` is one inside another.",
    usually: "groups",
  }),
  PAWL_OIDC_NAME_CLAIM: setting(anyText, {
    says: "The claim that says what somebody is called. It is shown, and decides nothing.",
    usuallyInWords: "`name`, else `preferred_username`, else `email`",
  }),
  PAWL_OIDC_PERSON_CLAIM: setting(anyText, {
    says: "The claim by which somebody who comes for the first time is the person of that name here, if there is one. Only where nobody at the issuer can choose it.",
    usuallyInWords: "nobody becomes a person who is here already",
  }),
  PAWL_OIDC_MAIL_DOMAINS: setting(listOfItems(isDomain, "domains such as example.org, split by commas"), {
    says: "Lets in only people whose mail address is verified and of one of these.",
    usually: [],
  }),
  PAWL_OIDC_SCOPE: setting(textLike(/^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/, "words split by single spaces"), {
    says: "What the issuer is asked for, where groups need a word of their own.",
    usually: "openid profile email",
  }),
  PAWL_OIDC_LABEL: setting(textLike(/^.{1,40}$/u, "up to 40 characters"), {
    says: "What it is called on the button: Sign in with …",
    usuallyInWords: "the issuer's host",
  }),
}

/** How people and programs prove who they are. */
export const peopleSettings = {
  PAWL_JWT_SECRET: setting(
    textLike(
      { test: (text) => Buffer.byteLength(text) >= LEAST_JWT_BYTES },
      `at least ${LEAST_JWT_BYTES} bytes: HS256 is as strong as its key`,
    ),
    { says: "What the JWTs of your own sign-in are signed with (HS256).", secretsIn: theWhole },
  ),
  PAWL_JWKS_URL: setting(httpAddress, { says: "In its place: where the public keys of your sign-in are." }),
  // Without a space, which splits issuer and subject in a person's name.
  PAWL_JWT_ISSUER: setting(textLike(/^\S{1,500}$/, "the `iss` of your tokens, such as https://id.example"), {
    says: "Whose JWTs count; needed with either of them.",
  }),
  PAWL_JWT_AUDIENCE: setting(anyText, { says: "The `aud` that JWTs must have, if any." }),
  ...oidcSettings,
  PAWL_TOKEN: setting(textLike(/^[\x21-\x7e]{1,8192}$/, "what `pawl token create` prints"), {
    says: "What a command is let in with at another server (`--server`).",
    secretsIn: theWhole,
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
