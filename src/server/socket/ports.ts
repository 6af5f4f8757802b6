import type { DeviceOwners } from "../door/device-owners.ts"
import type { ServerAddress } from "../door/ports.ts"
import type { MessageFiles } from "../../protocol/ports/message-files.ts"
import type { StreamPorts } from "../stream/ports.ts"
import type { Devices } from "./devices.ts"

/** Beside what every stream needs: the devices that a socket may be. */
export interface SocketPorts extends StreamPorts {
  readonly devices: Devices
  readonly deviceOwners: DeviceOwners
  readonly address: ServerAddress
  readonly messageFiles: Pick<MessageFiles, "use">
}
