import type { ConversationId, DeviceRequestId, UserId } from "../../protocol/ids.ts"
import type { Credential, DeviceRequest } from "../../protocol/account/sign-in.ts"

/** Which credential may be which device of a person. */
export interface DeviceOwners {
  /** Binds a name that is free, and otherwise asks the person for it. */
  claim(user: UserId, name: string, credential: Credential): Promise<DeviceClaim>
  requests(user: UserId): Promise<DeviceRequest[]>
  /** Both throw `not_found` for what is not theirs or no longer waits. */
  allow(user: UserId, request: DeviceRequestId, by: Credential): Promise<{ name: string; lineage: string }>
  refuse(user: UserId, request: DeviceRequestId): Promise<void>
  /** Devices of these people that were handed over from one credential to another, and whose they are now. */
  handedOver(users: readonly UserId[]): Promise<{ user: UserId; name: string; lineage: string }[]>
  /** The conversation that a device was last spoken in. It need not be there: it is noted before it begins. */
  lastConversation(user: UserId, name: string): Promise<ConversationId | undefined>
  speaksIn(user: UserId, name: string, conversation: ConversationId): Promise<void>
}

/** `takenAt`: since when it is this credential's, where it was another's before. */
export type DeviceClaim =
  | { readonly owned: true; readonly takenAt: number | null }
  | { readonly owned: false; readonly asked: "now" | "before" }
