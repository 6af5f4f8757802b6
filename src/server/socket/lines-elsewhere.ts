import type { CallId, ConversationId, UserId } from "../../protocol/ids.ts"
import type { ArrivingDevice, WhichDevice } from "../../protocol/ports/device-presence.ts"
import type { DeviceConnection } from "./device-connection.ts"
import type { DeviceLine } from "./device-line.ts"

/** What the devices of this process need of those that are connected to others, where several share the database. */
export interface LinesElsewhere {
  /** Resolves when the others can find it by its name. */
  arrived(line: DeviceConnection): Promise<void>
  /** Throws `device_taken` where a socket of another credential is the device of that conversation, wherever it is. */
  speaks(conversation: ConversationId, line: DeviceConnection): Promise<void>
  /** It has its name no longer. */
  lostName(line: DeviceConnection): void
  left(line: DeviceConnection): void
  /** Of the socket that is the device here, if any is, and those elsewhere, the newest. */
  newest(which: WhichDevice, here: DeviceConnection | undefined): Promise<DeviceLine | undefined>
  /** Tells of a socket that is that device, and is open, as soon as there is one. The returned function ends it. */
  watchFor(which: WhichDevice, here: () => DeviceConnection | undefined, tell: (line: DeviceLine) => void): () => void
  /** The named devices of a person at all processes, given those that are here; the newest first. */
  listAll(user: UserId, here: readonly DeviceConnection[]): Promise<readonly ArrivingDevice[]>
  taken(user: UserId, deviceId: string, lineage: string): Promise<void>
  bar(callId: CallId): void
  untilBarred(): Promise<boolean>
}
