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
export const DEVICE_SECONDS = 30
/** What comes on top of a tool's own limit: the way there and back. */
export const DEVICE_WAY_SECONDS = 5
/** A device that is asked what became of a call says so within this time, or it counts as silent. */
export const DEVICE_STATUS_SECONDS = 5
/** Seconds in which a device that was cut off during a write may reconnect and still give the answer. */
export const DEVICE_GRACE_SECONDS = 10

export const deviceSeconds = (own = 0): number => Math.max(DEVICE_SECONDS, own + DEVICE_WAY_SECONDS)
