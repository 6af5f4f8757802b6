import type { JwtSettings } from "../../server/door/jwt.ts"
import { CommandError } from "../process/command.ts"
import type { VariableReader } from "./variables.ts"

/** HS256 is as strong as its key: a shorter one can be guessed from a single token. */
const LEAST_BYTES = 32

/** Whose JWTs count. Half a setting is refused: a server that trusts less or more than its operator believes is worse than none. */
export function readJwtSettings(settings: VariableReader): JwtSettings | undefined {
  const secret = settings.text("PAWL_JWT_SECRET")
  const jwksUrl = settings.url("PAWL_JWKS_URL")
  // Without a space, which splits issuer and subject in a person's name.
  const issuer = settings.text("PAWL_JWT_ISSUER", /^\S{1,500}$/, "the `iss` of your tokens, such as https://id.example")
  const audience = settings.text("PAWL_JWT_AUDIENCE")
  if (secret !== undefined && jwksUrl !== undefined) {
    throw new CommandError("PAWL_JWT_SECRET and PAWL_JWKS_URL are both set; tokens are checked with one of them.")
  }
  if (secret !== undefined && Buffer.byteLength(secret) < LEAST_BYTES) {
    throw new CommandError(`PAWL_JWT_SECRET is too short: HS256 needs at least ${LEAST_BYTES} bytes.`)
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
