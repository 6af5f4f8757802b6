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
import { requireScope } from "../../../auth/caller.ts"
import { requireBaseUrl } from "../../../auth/origins.ts"
import type { Env } from "../../../auth/credentials.ts"
import type { OAuthPorts } from "../ports.ts"
import { mendText } from "../../../../shared/text/text.ts"
import { readJson } from "../../../../shared/text/read-json.ts"

type ConsentParameters = Omit<AuthorizationRequest, "state">

/** The content of the consent page: the program, the scopes, the user. */
export function readConsent(
  c: Context<Env>,
  { address }: OAuthPorts,
  request: AuthorizationRequest,
): z.infer<typeof ConsentQuestion> {
  const { client, scopes } = validateRequest(requireBaseUrl(c, address), request)
  const redirectsTo = new URL(request.redirect_uri).host
  return { client: { name: client.name, redirectsTo }, scopes, user: { name: c.get("caller").person.name } }
}

/**
 * Records the person's answer. A yes creates a code that one program can exchange once, within a minute. Only a browser
 * session may answer: a token could otherwise create tokens that no person approved.
 */
export async function giveConsent(
  c: Context<Env>,
  { address, authorizationCodes, storage, clock }: OAuthPorts,
  { agrees, ...request }: z.infer<typeof Consent>,
): Promise<z.infer<typeof ConsentResult>> {
  const base = requireBaseUrl(c, address)
  const { client, scopes, resource } = validateRequest(base, request)
  const { person, credential } = c.get("caller")
  if (credential.type !== "session") throw failure("bad_request", { problem: "Only a signed-in browser can agree." })
  const to = new URL(request.redirect_uri)
  if (agrees) {
    for (const scope of scopes) requireScope(c, scope)
    await storage.demandRoom(person.id)
    const binding = {
      client: request.client_id,
      redirect: request.redirect_uri,
      challenge: request.code_challenge,
      resource,
    }
    const grant = { ...binding, user: person.id, name: client.name, scopes }
    to.searchParams.set("code", await authorizationCodes.create(grant, clock.now()))
  } else to.searchParams.set("error", "access_denied")
  if (request.state !== undefined) to.searchParams.set("state", request.state)
  to.searchParams.set("iss", base) // RFC 9207: identifies who answered
  return { redirectTo: to.href }
}

interface ValidRequest {
  readonly client: OAuthClient
  readonly scopes: ProgramScope[]
  readonly resource: string
}

/**
 * Throws instead of redirecting: an invalid request is shown to the person, because its redirect address cannot be trusted.
 */
function validateRequest(base: string, request: ConsentParameters): ValidRequest {
  const client = readClientId(request.client_id)
  // Compared exactly: anyone who could extend the address could divert the code.
  if (!client.redirects.includes(request.redirect_uri))
    throw failure("bad_request", { problem: "redirect_uri: none that this program has registered." })
  return { client, scopes: scopesOf(request.scope), resource: resourceOf(base, request.resource) }
}

/** Tokens are valid for `/mcp` only; a program that asks for another resource is misconfigured. */
export function resourceOf(base: string, requested: string | undefined): string {
  const resource = `${base}/mcp`
  if (requested !== undefined && requested !== resource)
    throw failure("bad_request", { problem: `resource: here it is ${resource}.` })
  return resource
}

/** `chat` includes `read`. Without a known scope the program gets both. */
function scopesOf(text: string | undefined): ProgramScope[] {
  const named = (text ?? "").split(" ").filter((name) => name === "read" || name === "chat")
  return named.length > 0 && !named.includes("chat") ? ["read"] : ["read", "chat"]
}

/** A registered program. */
interface OAuthClient {
  readonly name: string
  readonly redirects: readonly string[]
}

const PREFIX = "pawl_app_"
const MAX_NAME = 100
const LOOPBACK = new Set(["127.0.0.1", "[::1]", "localhost"])

/**
 * Encodes the registration in the client id, so that none is stored: anyone may register anything, so a table would prove
 * nothing and could be filled up. What identifies a program is its redirect address.
 */
export function toClientId({ name, redirects }: OAuthClient): string {
  const text = JSON.stringify([name, ...redirects])
  return PREFIX + Buffer.from(text).toString("base64url")
}

/** Throws `bad_request` for an id that no registration returned. */
export function readClientId(id: string): OAuthClient {
  const unknown = () => failure("bad_request", { problem: "client_id: register first, at /oauth/register." })
  if (!id.startsWith(PREFIX)) throw unknown()
  let parsed: unknown
  try {
    parsed = readJson(Buffer.from(id.slice(PREFIX.length), "base64url").toString("utf8"))
  } catch {
    throw unknown()
  }
  if (!Array.isArray(parsed) || parsed.length < 2 || !parsed.every((each) => typeof each === "string")) throw unknown()
  const [name, ...redirects] = parsed as [string, ...string[]]
  const client = toClient(name, redirects)
  // Only the canonical encoding is accepted, so that two ids are two programs.
  if (toClientId(client) !== id) throw unknown()
  return client
}

/** Validates a registration. Throws `bad_request` for a redirect address that is neither https nor this machine. */
export function toClient(name: string | undefined, redirects: readonly string[]): OAuthClient {
  const wrong = redirects.find((each) => !isRedirect(each))
  if (wrong !== undefined)
    throw failure("bad_request", {
      problem: `redirect_uris: ${wrong.slice(0, 100)} is neither https nor this machine.`,
    })
  return { name: toShownName(name ?? "") || "A program without a name", redirects }
}

/**
 * Removes hidden characters and text-direction marks: the name is shown next to the redirect address and must not disguise
 * it. Idempotent, because a client id is verified by encoding it again.
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
