import type { UserId } from "../../../../protocol/ids.ts"
import type { Scope } from "../../../../protocol/account/scopes.ts"
import type { OAuthPorts } from "../oauth/ports.ts"

/** Where people sign in, and what its operator says about them. */
export interface OidcSettings {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret?: string | undefined
  /** What people call it: it stands on the button. */
  readonly label: string
  /** What the issuer is asked for, `openid` among it. */
  readonly scope: string
  /** The claim that says what somebody is called; without, the usual ones are looked at. */
  readonly nameClaim?: string | undefined
  readonly groupsClaim: string
  /** What members of a group may do; `*` is everybody whom the issuer lets in. */
  readonly groups: ReadonlyMap<string, readonly Scope[]>
  /** The claim by which somebody is the person of that name here; without, nobody becomes a person who is here already. */
  readonly personClaim?: string | undefined
  /** Only people with a verified mail address of these; where empty, mail does not matter. */
  readonly mailDomains: readonly string[]
}

/** What binds a sign-in to the browser that began it, none of which is stored. */
export interface SignInSecrets {
  readonly state: string
  readonly nonce: string
  /** Of PKCE: a code is of no use to who does not know it. */
  readonly verifier: string
}

export type Claims = Readonly<Record<string, unknown>> & { readonly iss: string; readonly sub: string }

export interface Issuer {
  readonly settings: OidcSettings
  /** Where the browser goes. Throws `sign_in_unavailable`. */
  authorizationUrl(redirectUri: string, secrets: SignInSecrets): Promise<string>
  /** What the issuer says about who came back, checked. Throws one of the `sign_in_…`. */
  redeem(cameBackTo: URL, secrets: SignInSecrets): Promise<Claims>
}

export interface OidcPorts extends OAuthPorts {
  /** Where an operator has one. */
  readonly issuer?: Issuer
  readonly issuerIdentities: IssuerIdentities
}

export interface IssuerIdentities {
  /** `taken`: the local name is somebody else's of this issuer. */
  personOf(
    who: {
      readonly issuer: string
      readonly subject: string
      readonly name: string
      readonly localName?: string | undefined
    },
    now: number,
  ): Promise<{ readonly id: UserId; readonly name: string } | "taken">
  find(who: { readonly issuer: string; readonly subject: string }): Promise<{ readonly id: UserId } | undefined>
  begin(state: string, expiresAt: number, now: number): Promise<void>
  /** False where it never was, is over or was used. */
  finish(state: string, now: number): Promise<boolean>
}
