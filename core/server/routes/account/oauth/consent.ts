import type { Context } from "hono"
import type { z } from "zod"
import { failure } from "../../../../protocol/errors.ts"
import type {
  AuthorizationRequest,
  Consent,
  ConsentResult,
  ConsentQuestion,
  ProgramScope,
} from "../../../../protocol/account/sign-in.ts"
import { demand } from "../../../auth/caller.ts"
import { publicBase } from "../../../auth/origins.ts"
import type { Env } from "../../../auth/credentials.ts"
import type { OAuthPorts } from "../ports.ts"
import { mendText } from "../../../../shared/text/text.ts"
import { readJson } from "../../../../shared/text/read-json.ts"

type Asked = Omit<AuthorizationRequest, "state">

/** What the person is asked, in the words of the page. */
export function readConsent(
  c: Context<Env>,
  { address }: OAuthPorts,
  asked: AuthorizationRequest,
): z.infer<typeof ConsentQuestion> {
  const { client, scopes } = judge(publicBase(c, address), asked)
  const redirectsTo = new URL(asked.redirect_uri).host
  return { client: { name: client.name, redirectsTo }, scopes, user: { name: c.get("caller").person.name } }
}

/**
 * The person's word. A yes makes a code that one program can exchange once, within a minute. Only a browser that a person
 * has signed in with says it: a token that could would make tokens of its own that nobody has seen.
 */
export async function giveConsent(
  c: Context<Env>,
  { address, authorizationCodes, storage, clock }: OAuthPorts,
  { agrees, ...asked }: z.infer<typeof Consent>,
): Promise<z.infer<typeof ConsentResult>> {
  const base = publicBase(c, address)
  const { client, scopes, resource } = judge(base, asked)
  const { person, credential } = c.get("caller")
  if (credential.type !== "session") throw failure("bad_request", { problem: "Only a signed-in browser can agree." })
  const to = new URL(asked.redirect_uri)
  if (agrees) {
    for (const scope of scopes) demand(c, scope)
    await storage.demandRoom(person.id)
    const binding = { client: asked.client_id, redirect: asked.redirect_uri, challenge: asked.code_challenge, resource }
    const grant = { ...binding, user: person.id, name: client.name, scopes }
    to.searchParams.set("code", await authorizationCodes.create(grant, clock.now()))
  } else to.searchParams.set("error", "access_denied")
  if (asked.state !== undefined) to.searchParams.set("state", asked.state)
  to.searchParams.set("iss", base) // RFC 9207: whose answer it is
  return { redirectTo: to.href }
}

interface Judged {
  readonly client: OAuthClient
  readonly scopes: ProgramScope[]
  readonly resource: string
}

/** Nobody is sent anywhere with a request that is wrong: the page tells it to the person instead. */
function judge(base: string, asked: Asked): Judged {
  const client = readClientId(asked.client_id)
  // Letter by letter: whoever could add to an address could have the code sent elsewhere.
  if (!client.redirects.includes(asked.redirect_uri))
    throw failure("bad_request", { problem: "redirect_uri: none that this program has registered." })
  return { client, scopes: scopesOf(asked.scope), resource: resourceOf(base, asked.resource) }
}

/** Tokens are for `/mcp`; a program that asks for another place has mixed something up. */
export function resourceOf(base: string, asked: string | undefined): string {
  const resource = `${base}/mcp`
  if (asked !== undefined && asked !== resource)
    throw failure("bad_request", { problem: `resource: here it is ${resource}.` })
  return resource
}

/** To look is part of everything; who names nothing that we know is asked for all that a program may do. */
function scopesOf(text: string | undefined): ProgramScope[] {
  const named = (text ?? "").split(" ").filter((name) => name === "read" || name === "chat")
  return named.length > 0 && !named.includes("chat") ? ["read"] : ["read", "chat"]
}

/** A program as it has registered. */
export interface OAuthClient {
  readonly name: string
  readonly redirects: readonly string[]
}

const PREFIX = "pawl_app_"
const MAX_NAME = 100
const LOOPBACK = new Set(["127.0.0.1", "[::1]", "localhost"])

/**
 * The id of a program is what it has said of itself. Anybody may register anything, so a table of what they said would
 * prove nothing, and could be filled; who the program is decides itself by where the person is sent back to.
 */
export function toClientId({ name, redirects }: OAuthClient): string {
  const text = JSON.stringify([name, ...redirects])
  return PREFIX + Buffer.from(text).toString("base64url")
}

/** Throws `bad_request` for what no registration has given out. */
export function readClientId(id: string): OAuthClient {
  const unknown = () => failure("bad_request", { problem: "client_id: register first, at /oauth/register." })
  if (!id.startsWith(PREFIX)) throw unknown()
  let said: unknown
  try {
    said = readJson(Buffer.from(id.slice(PREFIX.length), "base64url").toString("utf8"))
  } catch {
    throw unknown()
  }
  if (!Array.isArray(said) || said.length < 2 || !said.every((each) => typeof each === "string")) throw unknown()
  const [name, ...redirects] = said as [string, ...string[]]
  const client = toClient(name, redirects)
  // Written in one way only: two ids are two programs.
  if (toClientId(client) !== id) throw unknown()
  return client
}

/** As a registration is kept. Throws `bad_request` where a person could be sent back to somewhere that nobody vouches for. */
export function toClient(name: string | undefined, redirects: readonly string[]): OAuthClient {
  const wrong = redirects.find((each) => !isRedirect(each))
  if (wrong !== undefined)
    throw failure("bad_request", {
      problem: `redirect_uris: ${wrong.slice(0, 100)} is neither https nor this machine.`,
    })
  return { name: toShownName(name ?? "") || "A program without a name", redirects }
}

/**
 * Without what shows nothing or turns the line around: it is shown beside where the answer goes, and must not hide that. What
 * comes out of it stays as it is when it goes in again, for the id of a program is read with it.
 */
function toShownName(name: string): string {
  const onOneLine = name.replaceAll(/\s+/g, " ").replaceAll(/\p{C}/gu, "").replaceAll(/ +/g, " ")
  return mendText(onOneLine.trim().slice(0, MAX_NAME)).trim()
}

function isRedirect(text: string): boolean {
  const url = URL.parse(text)
  if (!url || url.hash !== "" || text.includes("#") || url.username !== "" || url.password !== "") return false
  return url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.has(url.hostname))
}
