import type { Agent } from "../engine/definition/agent.ts"
import type { Clock } from "../shared/time/clock.ts"
import type { Model } from "../engine/model.ts"
import type { NodeMessages } from "../protocol/node-messages.ts"
import type { Bus, Live, ModelSource } from "../engine/ports.ts"
import type { Log } from "../shared/log.ts"
import type { OutboundPolicy } from "../models/network/outbound-policy.ts"
import type { RecentSecrets } from "../models/providers/errors/recent-secrets.ts"
import type { RegistryOptions } from "../models/registry.ts"
import type { QueryLimits } from "../../packs/analyst/database/sql-guards.ts"
import type { EditorBuffers } from "../../packs/files/editor-buffers.ts"
import type { Folder } from "../../packs/files/folder/folder.ts"
import type { ConversationId } from "../protocol/ids.ts"
import type { Embedder } from "../protocol/workspace.ts"
import type { ServerMetrics } from "../server/metrics/server-metrics.ts"
import type { ModelCatalogue } from "../server/conversation/ports.ts"
import type { Adapter, ServerPorts } from "../server/app.ts"
import type { PackRoutes } from "../server/routes/packs.ts"
import type { Devices } from "../server/socket/devices.ts"
import type { Mcp } from "./open-mcp.ts"
import type { OpenedEngine } from "./open-engine.ts"
import type { Store } from "../store/store.ts"

type ModelRegistry = ModelSource & ModelCatalogue
export type ReplacementPorts = Partial<ServerPorts & PackRoutes>

/** Replaces parts of a server; everything else is as in `pawl serve`. The caller closes what it passes in. */
export interface Replacements {
  /** Replaces every clock. Default: the store's, because nodes follow their database's clock. */
  readonly clock?: Clock | undefined
  /** Replaces this machine's clock in a store that is opened here. */
  readonly machineClock?: Clock | undefined
  readonly log?: Log | undefined
  readonly bus?: Bus | undefined
  readonly store?: Store | undefined
  /** An engine that is already running, over the same store and bus: the server uses it instead of opening one. */
  readonly pawl?: OpenedEngine | undefined
  /** The MCP servers of that engine. */
  readonly mcp?: Mcp | undefined
  /** Runs of that engine are exported as traces. */
  readonly storesTraces?: boolean | undefined
  /** One model for everyone and everything. */
  readonly model?: Model | undefined
  /** A registry of models, or a function that wraps the configured one. */
  readonly models?: ModelRegistry | ((own: ModelRegistry) => ModelRegistry) | undefined
  /** How providers are called. */
  readonly providerCalls?: Pick<RegistryOptions, "fetch" | "retry"> | undefined
  /** Embeds notes and passages. */
  readonly embedder?: Embedder | undefined
  /** `none` for a command that only reads: indexing writes, and removes what another embedder created. */
  readonly indexing?: "none" | undefined
  readonly reach?: OutboundPolicy | undefined
  readonly devices?: Devices | undefined
  /** Replaces or wraps messages to other processes of the database. */
  readonly messages?: ((own: NodeMessages) => NodeMessages) | undefined
  readonly metrics?: ServerMetrics | undefined
  /** Limits of one query of a person's database. */
  readonly queryLimits?: QueryLimits | undefined
  /** Limits on open streams. */
  readonly mostStreams?: { readonly ofOne: number; readonly ofAll: number } | undefined
  /** Replaces or extends the agents of the packs. */
  readonly agents?: ((ofPacks: readonly Agent[]) => readonly Agent[]) | undefined
  /** A folder of this machine for the files pack, instead of folders on people's devices. */
  readonly folder?: Folder | undefined
  /** Returns true if a terminal works on the folder of this conversation. Default: none does. */
  readonly isOfTerminal?: ((id: ConversationId) => boolean) | undefined
  /** The open files of the editor that works in that folder. */
  readonly buffers?: EditorBuffers | undefined
  /** Receives every key that a person stores, so that none is logged. */
  readonly recent?: RecentSecrets | undefined
  /** Called with every live event of every conversation. */
  readonly onLive?: ((id: ConversationId, live: Live) => void) | undefined
  /** Wire formats in addition to Pawl's API. Default: none. */
  readonly adapters?: readonly Adapter[] | undefined
  /** Replaces parts of what routes get. */
  readonly ports?: ReplacementPorts | ((store: Store) => ReplacementPorts) | undefined
}
