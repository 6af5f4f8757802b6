import type { ConversationId, UserId } from "../ids.ts"

/** What a device has said about itself. */
export interface Introduced {
  readonly deviceId: string
  readonly ledger: boolean
  readonly offers: readonly string[]
  /** What it knows beyond the older frames. */
  readonly knows: readonly string[]
  /** Since when this name is its credential's, where it was another's before. */
  readonly takenAt: number | null
}

/** A socket of this process that is a device: by its name, or as the one that speaks in a conversation without a name. */
export interface ArrivingDevice {
  readonly user: UserId
  /** What its credential has in common with those that follow it. */
  readonly lineage: string
  readonly introduced: Introduced | undefined
  readonly connectedAt: number
}

/** A socket that is a device, wherever it is. */
export interface PresentDevice extends ArrivingDevice {
  readonly node: string
  /** Given by the database: of two sockets of one device the one with the greater number came later. No clock is asked. */
  readonly number: number
}

/** Which device is meant: the newest socket of a name, or the one that speaks in a conversation. */
export type WhichDevice =
  | { readonly user: UserId; readonly deviceId: string }
  | { readonly user: UserId; readonly conversation: ConversationId }

/**
 * The record of which devices are connected to which process of those that share the database. Rows of a process go when it
 * is struck off, so that nothing dead counts as there for longer than its process does.
 */
export interface DevicePresence {
  /** Notes a socket by its name. */
  arrive(device: ArrivingDevice): Promise<number>
  /** Notes it as the one that speaks in a conversation. Undefined where one of another credential does, and is there. */
  speak(device: ArrivingDevice, conversation: ConversationId): Promise<number | undefined>
  leave(numbers: readonly number[]): Promise<void>
  /** The newest of those that are connected to other processes. */
  findElsewhere(which: WhichDevice): Promise<PresentDevice | undefined>
  /** All named ones of a person at other processes. */
  listElsewhere(user: UserId): Promise<PresentDevice[]>
  /** Which other processes have sockets of that device that are not this credential's. */
  nodesWithOthers(user: UserId, deviceId: string, lineage: string): Promise<string[]>
  /** Those of these processes that are not struck off. */
  living(nodes: readonly string[]): Promise<ReadonlySet<string>>
  /** Whether any other process shares the database just now. */
  hasOthers(): Promise<boolean>
  /** Makes the record agree with what is connected here: it may have been struck off, and not know. */
  repair(): Promise<void>
}
