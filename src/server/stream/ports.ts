import type { UserId } from "../../protocol/ids.ts"
import type { Ingests } from "../../protocol/ports/library.ts"
import type { RowChange, Workspace } from "../../protocol/ports/workspace.ts"
import type { ConversationPorts } from "../conversation/ports.ts"
import type { Streams } from "../door/ports.ts"
import type { ServerMetrics } from "../metrics/server-metrics.ts"

/** What it takes to show a conversation, or all of them, for as long as somebody looks. */
export interface StreamPorts extends ConversationPorts {
  readonly streams: Streams
  readonly metrics: ServerMetrics
  readonly workspaces: WatchedWorkspaces
  readonly ingests: Ingests
}

/** Workspaces as a feed sees them: what changes, and how it stands now. */
export interface WatchedWorkspaces {
  of(user: UserId): Pick<Workspace, "get">
  /** Told of every change in this process, whoever made it, once it is there. */
  onChange(listener: (user: UserId, changes: readonly RowChange[]) => void): () => void
}
