import type { CallId, ConversationId, UserId } from "../protocol/ids.ts"
import type { CallOutcome, DeviceKnowledge, ToolCall } from "../protocol/socket.ts"

export type Site = "server" | "device"

/** Which device of a user. Without a name: the socket that uses the conversation. */
export interface DevicePlace {
  readonly user: UserId
  readonly conversation: ConversationId
  readonly deviceId: string | null
  /** The capability that the device must have announced. */
  readonly offer: string
}

/** One request to a device. `callId` is the model's call that it belongs to. */
export interface DeviceCall extends Omit<ToolCall, "type" | "id"> {
  readonly callId: CallId
}

export interface DeviceCallOptions {
  /**
   * A `write` is sent under its call's id at most once, or twice if the device records what it has applied. If it
   * throws `outcome_unknown`, it may have been applied; after any other error it was not.
   */
  readonly effect: "read" | "write"
  /** Stops waiting for a read. A write that was sent may still be applied. */
  readonly signal: AbortSignal
  /** The tool's own time limit, if it has one. */
  readonly seconds?: number
}

/** Calls tools on users' devices. */
export interface DeviceCalls {
  /** Throws if the device is not connected, reports an error or does not respond. */
  call(place: DevicePlace, call: DeviceCall, asking: DeviceCallOptions): Promise<CallOutcome>
  /** Asks what became of a write that was sent before a crash. Throws `outcome_unknown` if the device cannot tell. */
  outcome(place: DevicePlace, callId: CallId): Promise<CallOutcome | "not-applied">
  isReachable(place: DevicePlace): boolean | Promise<boolean>
  /**
   * True if the connected device announced that it supports this. If the method is missing, no device supports
   * anything.
   */
  knows?(place: DevicePlace, what: DeviceKnowledge): boolean | Promise<boolean>
}

/** The time that a device has for a response, unless its tool has its own limit. */
const DEVICE_SECONDS = 30
/** Added to a tool's own limit for the network. */
export const DEVICE_ROUND_TRIP_SECONDS = 5
/** The time that a device has to report the status of a call. After it, the device counts as unreachable. */
export const DEVICE_STATUS_SECONDS = 5
/** A device that disconnects during a write can reconnect within this time and still respond. */
export const DEVICE_GRACE_SECONDS = 10

export const deviceSeconds = (own = 0): number => Math.max(DEVICE_SECONDS, own + DEVICE_ROUND_TRIP_SECONDS)

/** A device's announcement of itself. */
export interface Introduced {
  readonly deviceId: string
  readonly ledger: boolean
  readonly offers: readonly string[]
  /** Features beyond the first version of the frames. */
  readonly knows: readonly string[]
  /** Since when its credential has this name, if another credential had it before. */
  readonly takenAt: number | null
}

/** A socket of this process that is a device: with its name, or without one for the conversation that it uses. */
export interface ArrivingDevice {
  readonly user: UserId
  /** Shared by all credentials that replace one another. */
  readonly lineage: string
  readonly introduced: Introduced | undefined
  readonly connectedAt: number
}

/** A device's socket on any node. */
export interface PresentDevice extends ArrivingDevice {
  readonly node: string
  /** Assigned by the database: of two sockets of one device the greater number is newer. Clocks are not compared. */
  readonly number: number
}

/** The newest socket with a name, or the socket that uses a conversation. */
export type WhichDevice =
  | { readonly user: UserId; readonly deviceId: string }
  | { readonly user: UserId; readonly conversation: ConversationId }

/**
 * Records which devices are connected to which of the processes that share a database. A process's rows are deleted
 * when the process is removed, so that a failed process's devices do not count as connected for longer than the
 * process.
 */
export interface DevicePresence {
  /** Records a named socket. */
  arrive(device: ArrivingDevice): Promise<number>
  /**
   * Records it as the socket that uses a conversation. Returns undefined if a connected socket of another credential
   * does.
   */
  speak(device: ArrivingDevice, conversation: ConversationId): Promise<number | undefined>
  leave(numbers: readonly number[]): Promise<void>
  /** The newest matching socket that is connected to another process. */
  findElsewhere(which: WhichDevice): Promise<PresentDevice | undefined>
  /** All named devices of a user that are connected to other processes. */
  listElsewhere(user: UserId): Promise<PresentDevice[]>
  /** Other processes with sockets of this device that have another lineage. */
  nodesWithOthers(user: UserId, deviceId: string, lineage: string): Promise<string[]>
  /** Returns the processes that were not removed. */
  living(nodes: readonly string[]): Promise<ReadonlySet<string>>
  /** True if another process shares the database at this time. */
  hasOthers(): Promise<boolean>
  /** Records this process's sockets again. The process may have been removed without noticing. */
  repair(): Promise<void>
}
