import type { Context } from "hono"
import type { z } from "zod"
import { failure } from "../../../../protocol/errors.ts"
import type {
  AuthorizationRequest,
  Consent,
  ConsentGiven,
  ConsentQuestion,
  ProgramScope,
} from "../../../../protocol/account/oauth.ts"
import { demand } from "../../../door/caller.ts"
import { publicBase } from "../../../door/public-base.ts"
import type { Env } from "../../../door/request-env.ts"
import { type OAuthClient, readClientId } from "./client-ids.ts"
import type { OAuthPorts } from "./ports.ts"

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
  { address, authorizationCodes, clock }: OAuthPorts,
  { agrees, ...asked }: z.infer<typeof Consent>,
): Promise<z.infer<typeof ConsentGiven>> {
  const base = publicBase(c, address)
  const { client, scopes, resource } = judge(base, asked)
  const { person, credential } = c.get("caller")
  if (credential.type !== "session") throw failure("bad_request", { problem: "Only a signed-in browser can agree." })
  const to = new URL(asked.redirect_uri)
  if (agrees) {
    for (const scope of scopes) demand(c, scope)
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
