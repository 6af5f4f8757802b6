import { usualScopes } from "../../protocol/account/scopes.ts"
import type { OidcSettings } from "../../server/routes/account/oidc/ports.ts"
import { CommandError } from "../process/command.ts"
import { oidcSettings } from "./people-settings.ts"
import type { Values } from "./table.ts"

/** Half a setting is refused, as with JWTs: who believes that people can sign in should not learn from them that they cannot. */
export function toOidcSettings(values: Values): OidcSettings | undefined {
  const { PAWL_OIDC_ISSUER: issuer, PAWL_OIDC_CLIENT_ID: clientId, PAWL_OIDC_GROUPS: groups } = values
  if (issuer === undefined) {
    const names = Object.keys(oidcSettings) as (keyof typeof oidcSettings)[]
    const alone = names.find((name) => values[name] !== undefined && values[name] !== oidcSettings[name].usually)
    if (alone) throw new CommandError(`${alone} is set without PAWL_OIDC_ISSUER: say where people sign in.`)
    return undefined
  }
  if (clientId === undefined)
    throw new CommandError(
      "PAWL_OIDC_ISSUER is set without PAWL_OIDC_CLIENT_ID: register this server there, with …/sign-in/callback as its redirect address.",
    )
  if (groups === undefined)
    throw new CommandError(
      `PAWL_OIDC_ISSUER is set without PAWL_OIDC_GROUPS: say who may come in, such as staff=${usualScopes.join(" ")}. For everybody whom the issuer lets in: *=${usualScopes.join(" ")}.`,
    )
  const scope = values.PAWL_OIDC_SCOPE
  if (!scope.split(" ").includes("openid"))
    throw new CommandError(`PAWL_OIDC_SCOPE cannot be "${scope}": without the word openid nobody is told who signs in.`)
  return {
    ...{ issuer, clientId, groups, scope, clientSecret: values.PAWL_OIDC_CLIENT_SECRET },
    label: values.PAWL_OIDC_LABEL ?? new URL(issuer).host,
    nameClaim: values.PAWL_OIDC_NAME_CLAIM,
    groupsClaim: values.PAWL_OIDC_GROUPS_CLAIM,
    personClaim: values.PAWL_OIDC_PERSON_CLAIM,
    mailDomains: values.PAWL_OIDC_MAIL_DOMAINS.map((domain) => domain.toLowerCase()),
  }
}
