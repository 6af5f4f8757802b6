import type { ExportLine } from "../../../protocol/account/export.ts"
import type { StorageUse } from "../../../protocol/account/storage.ts"
import type { ConversationId, UserId, TokenId } from "../../../protocol/ids.ts"
import type { ConversationPorts, OwnedDatabases, PresentDevices } from "../../conversation/ports.ts"
import type { DeviceOwners } from "../../auth/revocation.ts"
import type { DoorPorts } from "../../auth/credentials.ts"
import type { ProgramScope, Scope } from "../../../protocol/account/sign-in.ts"

/** What a person signs in with, what is theirs here, and how they leave. */
export interface AccountPorts extends DoorPorts, ConversationPorts {
  /** Answers that are kept in memory. */
  readonly cache: { forget(user: UserId): void }
  readonly retention: Retention
  readonly storage: OwnStorage
  readonly databases: OwnedDatabases & UploadedFiles
  readonly devices: OwnDevices
  readonly deviceOwners: DeviceOwners
}

export interface OwnStorage {
  read(user: UserId): Promise<StorageUse>
  /** Throws `storage_full` if the person stores as much as they may. */
  demandRoom(user: UserId): Promise<void>
}

export interface UploadedFiles {
  /** Removes the files that the person has uploaded. */
  eraseFiles(user: UserId): Promise<void>
  /** Removes from this machine what has been deleted on another. */
  tidyFiles(): Promise<void>
}

/** Devices as their person sees them. */
export interface OwnDevices extends PresentDevices {
  of(user: UserId): Promise<
    readonly {
      readonly introduced?:
        | { readonly deviceId: string; readonly ledger: boolean; readonly offers: readonly string[] }
        | undefined
      readonly connectedAt: number
    }[]
  >
  /** From now on a device is this credential's: sockets of any other are told, and are asked nothing more. */
  taken(user: UserId, deviceId: string, lineage: string): Promise<void>
}

/** What leaves the server: taken along, or erased. False: there was nothing of that id, or it is somebody else's. */
export interface Retention {
  eraseConversation(user: UserId, id: ConversationId): Promise<boolean>
  erasePerson(user: UserId): Promise<boolean>
  conversationsOf(user: UserId): Promise<{ id: ConversationId; atWork: boolean }[]>
  exportOf(user: UserId): AsyncIterable<ExportLine>
  /** Erases what was under way while its person was erased. Returns who was, this last day. */
  sweep(): Promise<UserId[]>
}

/** What a code stands for. Only who knows all of it exchanges it. */
export interface CodeBinding {
  readonly client: string
  readonly redirect: string
  /** SHA-256 of the verifier, in base64url. */
  readonly challenge: string
  readonly resource: string
}

/** What a program is given: access for so many seconds, and the secret with which it asks for more. */
export interface ProgramAccess {
  readonly token: string
  readonly seconds: number
  readonly refresh: string
  readonly scopes: readonly string[]
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
  ): Promise<ProgramAccess | { readonly reused: TokenId } | undefined>
  /** New access and the next secret, for the one that a program was given with its last. */
  renew(
    secret: string,
    binding: Pick<CodeBinding, "client" | "resource">,
    now: number,
  ): Promise<ProgramAccess | { readonly reused: TokenId } | undefined>
}

export interface OAuthPorts extends AccountPorts {
  readonly authorizationCodes: AuthorizationCodes
}

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
