import type { ProgramScope } from "../../../../protocol/account/oauth.ts"
import type { TokenId, UserId } from "../../../../protocol/ids.ts"
import type { AccountPorts } from "../ports.ts"

/** What a code stands for. Only who knows all of it exchanges it. */
export interface CodeBinding {
  readonly client: string
  readonly redirect: string
  /** SHA-256 of the verifier, in base64url. */
  readonly challenge: string
  readonly resource: string
}

export interface AuthorizationCodes {
  create(
    grant: CodeBinding & { readonly user: UserId; readonly name: string; readonly scopes: readonly ProgramScope[] },
    now: number,
  ): Promise<string>
  /**
   * A new token for the code, in one commit with its use. `reused`: it was exchanged before, by somebody who knew all of it,
   * and that token no longer counts. Undefined for one that never was, is too old, or stands for something else.
   */
  exchange(
    code: string,
    binding: CodeBinding,
    now: number,
  ): Promise<{ readonly token: string; readonly scopes: readonly string[] } | { readonly reused: TokenId } | undefined>
}

export interface OAuthPorts extends AccountPorts {
  readonly authorizationCodes: AuthorizationCodes
}
