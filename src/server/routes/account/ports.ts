import type { ExportLine } from "../../../protocol/account/export.ts"
import type { ConversationId, UserId } from "../../../protocol/ids.ts"
import type { ConversationPorts, OwnedDatabases, PresentDevices } from "../../conversation/ports.ts"
import type { DeviceOwners } from "../../door/device-owners.ts"
import type { DoorPorts } from "../../door/ports.ts"

/** What a person signs in with, what is theirs here, and how they leave. */
export interface AccountPorts extends DoorPorts, ConversationPorts {
  /** Answers that are kept in memory. */
  readonly cache: { forget(user: UserId): void }
  readonly retention: Retention
  readonly databases: OwnedDatabases & UploadedFiles
  readonly devices: OwnDevices
  readonly deviceOwners: DeviceOwners
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
