import { createHash, randomBytes } from "node:crypto"
import type { SignInSecrets } from "./ports.ts"

/** Two halves, as of a session: a cookie, which any port of this host may see and set, and what our page keeps for its origin. */
export interface SignInHalves {
  readonly cookie: string
  readonly page: string
}

export const newHalves = (): SignInHalves => ({ cookie: chance(), page: chance() })

/**
 * All that the issuer is shown, made of both halves: who has one of them, or has planted one, finishes nothing. The issuer is
 * part of it, so that what one of them has answered is never taken to another.
 */
export function toSecrets({ cookie, page }: SignInHalves, issuer: string): SignInSecrets {
  const derive = (what: string) =>
    createHash("sha256")
      .update(JSON.stringify([what, cookie, page, issuer]))
      .digest("base64url")
  return { state: derive("state"), nonce: derive("nonce"), verifier: derive("verifier") }
}

const chance = () => randomBytes(32).toString("base64url")
