import type { ExportLine } from "../../../protocol/account/export.ts"
import type { StorageUse } from "../../../protocol/account/storage.ts"
import type { ConversationId, UserId, TokenId } from "../../../protocol/ids.ts"
import type { ConversationPorts, OwnedDatabases, PresentDevices } from "../../conversation/ports.ts"
import type { DeviceOwners } from "../../auth/revocation.ts"
import type { AuthPorts } from "../../auth/credentials.ts"
import type { ProgramScope, Scope } from "../../../protocol/account/sign-in.ts"

/** The services of the account routes. */
export interface AccountPorts extends AuthPorts, ConversationPorts {
  /** Cached answers. */
  readonly cache: { forget(user: UserId): void }
  readonly retention: Retention
  readonly storage: OwnStorage
  readonly databases: OwnedDatabases & UploadedFiles
  readonly devices: OwnDevices
  readonly deviceOwners: DeviceOwners
}

interface OwnStorage {
  read(user: UserId): Promise<StorageUse>
  /** Throws `storage_full` if the person stores as much as they may. */
  demandRoom(user: UserId): Promise<void>
}

interface UploadedFiles {
  /** Removes the files that the person uploaded. */
  eraseFiles(user: UserId): Promise<void>
  /** Removes files from this machine that were deleted on another. */
  tidyFiles(): Promise<void>
}

/** The devices of a person. */
interface OwnDevices extends PresentDevices {
  of(user: UserId): Promise<
    readonly {
      readonly introduced?:
        | { readonly deviceId: string; readonly ledger: boolean; readonly offers: readonly string[] }
        | undefined
      readonly connectedAt: number
    }[]
  >
  /**
   * Makes this credential the owner of a device: sockets of other credentials are notified and no longer act as the device.
   */
  reassignName(user: UserId, deviceId: string, lineage: string): Promise<void>
}

/** Exports and erases data. False if there is nothing with that id, or it is another person's. */
interface Retention {
  eraseConversation(user: UserId, id: ConversationId): Promise<boolean>
  erasePerson(user: UserId): Promise<boolean>
  conversationsOf(user: UserId): Promise<{ id: ConversationId; atWork: boolean }[]>
  exportOf(user: UserId): AsyncIterable<ExportLine>
  /** Erases data that was written while its person was being erased. Returns the people erased in the last day. */
  sweep(): Promise<UserId[]>
}

/** The binding of a code. Only a request that matches all of it can exchange it. */
export interface CodeBinding {
  readonly client: string
  readonly redirect: string
  /** SHA-256 of the verifier, in base64url. */
  readonly challenge: string
  readonly resource: string
}

/** An access token, its lifetime, and the secret that renews it. */
interface ProgramAccess {
  readonly token: string
  readonly seconds: number
  readonly refresh: string
  readonly scopes: readonly string[]
}

interface AuthorizationCodes {
  create(
    grant: CodeBinding & { readonly user: UserId; readonly name: string; readonly scopes: readonly ProgramScope[] },
    now: number,
  ): Promise<string>
  /**
   * Exchanges a code for a token, in one commit with its use. `reused`: it was already exchanged by a matching request, and
   * that token is now revoked. Undefined if it is unknown, too old, or does not match.
   */
  exchange(
    code: string,
    binding: CodeBinding,
    now: number,
  ): Promise<ProgramAccess | { readonly reused: TokenId } | undefined>
  /** Exchanges a refresh secret for new access and the next secret. */
  renew(
    secret: string,
    binding: Pick<CodeBinding, "client" | "resource">,
    now: number,
  ): Promise<ProgramAccess | { readonly reused: TokenId } | undefined>
}

export interface OAuthPorts extends AccountPorts {
  readonly authorizationCodes: AuthorizationCodes
}

/** An OpenID Connect issuer, and the operator's rules for its people. */
export interface OidcSettings {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret?: string | undefined
  /** Its name, shown on the sign-in button. */
  readonly label: string
  /** The requested scopes, including `openid`. */
  readonly scope: string
  /** The claim with the person's display name. Default: the usual claims. */
  readonly nameClaim?: string | undefined
  readonly groupsClaim: string
  /** The scopes of each group; `*` is everyone that the issuer signs in. */
  readonly groups: ReadonlyMap<string, readonly Scope[]>
  /** The claim that names an existing local person. Default: no mapping. */
  readonly personClaim?: string | undefined
  /** Only people with a verified mail address in these domains; empty allows any. */
  readonly mailDomains: readonly string[]
}

/** Binds a sign-in to the browser that started it. None of this is stored. */
export interface SignInSecrets {
  readonly state: string
  readonly nonce: string
  /** PKCE verifier: without it a code is useless. */
  readonly verifier: string
}

export type Claims = Readonly<Record<string, unknown>> & { readonly iss: string; readonly sub: string }

export interface Issuer {
  readonly settings: OidcSettings
  /** The address for the browser. Throws `sign_in_unavailable`. */
  authorizationUrl(redirectUri: string, secrets: SignInSecrets): Promise<string>
  /** Verifies the answer and returns the claims. Throws one of the `sign_in_…` errors. */
  redeem(cameBackTo: URL, secrets: SignInSecrets): Promise<Claims>
}

export interface OidcPorts extends OAuthPorts {
  readonly issuer?: Issuer
  readonly issuerIdentities: IssuerIdentities
}

interface IssuerIdentities {
  /** `taken`: the local name belongs to another person of this issuer. */
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
  /** False if the attempt is unknown, expired or already used. */
  finish(state: string, now: number): Promise<boolean>
}
