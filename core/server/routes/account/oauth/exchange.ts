import { createHash } from "node:crypto"
import type { Context } from "hono"
import type { z } from "zod"
import { AppError } from "../../../../protocol/errors.ts"
import { type ClientRegistration, grantTypes, TokenRequest } from "../../../../protocol/account/sign-in.ts"
import { requireBaseUrl } from "../../../auth/origins.ts"
import type { Env } from "../../../auth/credentials.ts"
import { readBytes } from "../../../request/read-input.ts"
import { readClientId, toClient, toClientId, resourceOf } from "./consent.ts"
import type { OAuthPorts } from "../ports.ts"

const MAX_FORM_BYTES = 16 * 1024

export function register(c: Context<Env>, fields: z.infer<typeof ClientRegistration>): Response {
  try {
    const client = toClient(fields.client_name, fields.redirect_uris)
    const { name, redirects } = client
    return c.json(
      {
        ...{ client_id: toClientId(client), client_name: name, redirect_uris: redirects },
        ...{ grant_types: [...grantTypes], response_types: ["code"], token_endpoint_auth_method: "none" },
      },
      201,
    )
  } catch (error) {
    return refuse(c, "invalid_redirect_uri", textOf(error))
  }
}

export async function exchange(c: Context<Env>, ports: OAuthPorts): Promise<Response> {
  const { authorizationCodes, streams, address, clock } = ports
  const form = new URLSearchParams(Buffer.from(await readBytes(c, { bytes: MAX_FORM_BYTES })).toString("utf8"))
  const names = [...form.keys()]
  if (new Set(names).size < names.length) return refuse(c, "invalid_request", "A field stands there twice.")
  const fields = Object.fromEntries(form)
  if (!grantTypes.some((type) => type === fields.grant_type))
    return refuse(c, "unsupported_grant_type", `Only these are known here: ${grantTypes.join(", ")}.`)
  const { data, error } = TokenRequest.safeParse(fields)
  if (!data) return refuse(c, "invalid_request", `${error.issues[0]?.path.join(".")}: missing or not as it should be.`)
  let resource: string
  try {
    readClientId(data.client_id)
    resource = resourceOf(requireBaseUrl(c, address), data.resource)
  } catch (wrong) {
    const isClient = wrong instanceof AppError && wrong.message.includes("client_id")
    return refuse(c, isClient ? "invalid_client" : "invalid_target", textOf(wrong))
  }
  const binding = { client: data.client_id, resource }
  const granted =
    data.grant_type === "refresh_token"
      ? await authorizationCodes.renew(data.refresh_token, binding, clock.now())
      : await authorizationCodes.exchange(
          data.code,
          {
            ...binding,
            redirect: data.redirect_uri,
            challenge: createHash("sha256").update(data.code_verifier).digest("base64url"),
          },
          clock.now(),
        )
  if (granted && "token" in granted) {
    c.header("cache-control", "no-store")
    return c.json({
      ...{ access_token: granted.token, token_type: "Bearer", expires_in: granted.seconds },
      ...{ refresh_token: granted.refresh, scope: granted.scopes.join(" ") },
    })
  }
  if (granted) await streams.revoked(granted.reused)
  return refuse(c, "invalid_grant", "This was used before, is too old, or is not for this. Ask the person again.")
}

const refuse = (c: Context<Env>, error: string, error_description: string): Response =>
  c.json({ error, error_description }, 400, { "cache-control": "no-store" })

/** The text of our own refusals; other errors are not shown to clients. */
function textOf(error: unknown): string {
  if (error instanceof AppError) return error.message
  throw error
}
