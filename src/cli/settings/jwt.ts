import type { JwtSettings } from "../../server/door/jwt.ts"
import { CommandError } from "../process/command.ts"
import type { Values } from "./table.ts"

/** Whose JWTs count. Half a setting is refused: a server that trusts less or more than its operator believes is worse than none. */
export function toJwtSettings(values: Values): JwtSettings | undefined {
  const { PAWL_JWT_SECRET: secret, PAWL_JWKS_URL: jwksUrl } = values
  const { PAWL_JWT_ISSUER: issuer, PAWL_JWT_AUDIENCE: audience } = values
  if (secret !== undefined && jwksUrl !== undefined) {
    throw new CommandError("PAWL_JWT_SECRET and PAWL_JWKS_URL are both set; tokens are checked with one of them.")
  }
  const key = secret !== undefined ? { secret } : jwksUrl !== undefined ? { jwksUrl } : undefined
  if (!key) {
    const alone = issuer !== undefined ? "PAWL_JWT_ISSUER" : audience !== undefined ? "PAWL_JWT_AUDIENCE" : undefined
    if (alone) throw new CommandError(`${alone} is set without PAWL_JWT_SECRET or PAWL_JWKS_URL to check tokens with.`)
    return undefined
  }
  if (issuer === undefined) {
    const name = "secret" in key ? "PAWL_JWT_SECRET" : "PAWL_JWKS_URL"
    throw new CommandError(`${name} is set without PAWL_JWT_ISSUER: say whose tokens count, as their \`iss\` says it.`)
  }
  return { ...key, issuer, ...(audience === undefined ? {} : { audience }) }
}
