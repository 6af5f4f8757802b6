import type { MessageFiles } from "../protocol/ports/message-files.ts"
import type { DoorPorts } from "./door/ports.ts"
import type { OidcPorts } from "./routes/account/oidc/ports.ts"
import type { ConversationRoutePorts } from "./routes/conversations/ports.ts"
import type { Databases, DataPorts, Workspaces } from "./routes/data/ports.ts"
import type { McpServerRoutePorts } from "./routes/mcp-servers/ports.ts"
import type { ModelRoutePorts } from "./routes/models/ports.ts"
import type { HealthPorts } from "./routes/operations/health.ts"
import type { NodeWork } from "./routes/operations/metrics.ts"
import type { PagePorts } from "./routes/pages/page.ts"
import type { Devices } from "./socket/devices.ts"
import type { SocketPorts } from "./socket/ports.ts"

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
