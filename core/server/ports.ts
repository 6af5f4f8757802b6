import type { MessageFiles } from "../engine/stored-files.ts"
import type { DoorPorts } from "./auth/credentials.ts"
import type { OidcPorts } from "./routes/account/ports.ts"
import type { ConversationRoutePorts } from "./conversation/ports.ts"
import type { Databases, DataPorts, Workspaces } from "./routes/stored-data.ts"
import type { McpServerRoutePorts } from "./routes/mcp-servers.ts"
import type { ModelRoutePorts } from "./routes/models.ts"
import type { HealthPorts, NodeWork } from "./routes/operations.ts"
import type { PagePorts } from "./routes/page.ts"
import type { Devices } from "./socket/devices.ts"
import type { SocketPorts } from "./socket/chat-conversation.ts"

/**
 * Everything the rooms of the server need, handed in by whoever composes the program. Each room says in a `ports.ts` of
 * its own what it needs, so that no room knows this list.
 */
export interface ServerPorts
  extends
    DoorPorts,
    SocketPorts,
    ConversationRoutePorts,
    ModelRoutePorts,
    McpServerRoutePorts,
    OidcPorts,
    DataPorts,
    HealthPorts,
    PagePorts {
  // Rooms that need only a part of these say so; here is the whole that fits them all.
  readonly databases: Databases
  readonly devices: Devices
  readonly workspaces: Workspaces
  readonly messageFiles: MessageFiles
  nodeWork(): NodeWork
  /** Of this program, for its reference. */
  readonly version: string
}
