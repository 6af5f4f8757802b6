import type { CallId, ConversationId, UserId } from "../protocol/ids.ts"
import type { CallOutcome, DeviceKnowledge, ToolCall } from "../protocol/socket.ts"

/** Where a conversation's tools run. */
export type Site = "server" | "device"

/** Whose device is meant. Without a name it is the socket that speaks in the conversation, and no other. */
export interface DevicePlace {
  readonly user: UserId
  readonly conversation: ConversationId
  readonly deviceId: string | null
  /** What the device must have said that it offers. */
  readonly offer: string
}

/** One thing asked of a device; `callId` is the call of the model that it is asked for. */
export interface DeviceCall extends Omit<ToolCall, "type" | "id"> {
  readonly callId: CallId
}

export interface DeviceCallOptions {
  /**
   * `write`: sent under the id of its call, at most once, or twice where the device notes what it has done. What throws
   * `outcome_unknown` may have been done; everything else that throws has not.
   */
  readonly effect: "read" | "write"
  /** Stops the waiting for a read. A write that was sent is not taken back by not listening. */
  readonly signal: AbortSignal
  /** A tool's own limit, where it has one. */
  readonly seconds?: number
}

/** The devices of people, as tools reach them. */
export interface DeviceCalls {
  /** Throws where there is no device, where it answers an error, and where it does not answer. */
  call(place: DevicePlace, call: DeviceCall, asking: DeviceCallOptions): Promise<CallOutcome>
  /** What has become of a write that was sent by an earlier life. Throws `outcome_unknown` where the device cannot tell. */
  outcome(place: DevicePlace, callId: CallId): Promise<CallOutcome | "not-applied">
  isReachable(place: DevicePlace): boolean | Promise<boolean>
  /** Whether the device that is there has said that it knows this; without the method none does. */
  knows?(place: DevicePlace, what: DeviceKnowledge): boolean | Promise<boolean>
}

/** Seconds a device has for an answer, unless its tool has a limit of its own. */
const DEVICE_SECONDS = 30
/** What comes on top of a tool's own limit: the way there and back. */
export const DEVICE_WAY_SECONDS = 5
/** A device that is asked what became of a call says so within this time, or it counts as silent. */
export const DEVICE_STATUS_SECONDS = 5
/** Seconds in which a device that was cut off during a write may reconnect and still give the answer. */
export const DEVICE_GRACE_SECONDS = 10

export const deviceSeconds = (own = 0): number => Math.max(DEVICE_SECONDS, own + DEVICE_WAY_SECONDS)

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
