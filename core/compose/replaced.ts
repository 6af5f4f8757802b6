import type { Agent } from "../engine/definition/agent.ts"
import type { Clock } from "../shared/time/clock.ts"
import type { Model } from "../engine/model.ts"
import type { NodeMessages } from "../protocol/node-messages.ts"
import type { Bus, Live, ModelSource } from "../engine/ports.ts"
import type { Log } from "../shared/log.ts"
import type { OutboundPolicy } from "../models/network/outbound-policy.ts"
import type { RecentSecrets } from "../models/providers/errors/recent-secrets.ts"
import type { RegistryOptions } from "../models/registry.ts"
import type { QueryLimits } from "../../packs/analyst/database/walls.ts"
import type { EditorBuffers } from "../../packs/files/editor-buffers.ts"
import type { Folder } from "../../packs/files/folder/folder.ts"
import type { ConversationId } from "../protocol/ids.ts"
import type { Embedder } from "../protocol/workspace.ts"
import type { ServerMetrics } from "../server/metrics/server-metrics.ts"
import type { ModelCatalogue } from "../server/conversation/ports.ts"
import type { Adapter } from "../server/app.ts"
import type { ServerPorts } from "../server/ports.ts"
import type { PackRoutes } from "../server/routes/packs.ts"
import type { Devices } from "../server/socket/devices.ts"
import type { OpenedEngine } from "./open-engine.ts"
import type { Store } from "../store/store.ts"

type GivenRegistry = ModelSource & ModelCatalogue
export type ReplacedPorts = Partial<ServerPorts & PackRoutes>

/**
 * What a server gets instead of what the settings would give it, part by part; what is not named is as `pawl serve` has
 * it. Whoever hands a part in closes it.
 */
export interface Replaced {
  /** For everything, and turned by whoever hands it in. Without, the store's: nodes go by their database's clock. */
  readonly clock?: Clock | undefined
  /** What stands in for this machine's own clock where the store is opened here. */
  readonly machineClock?: Clock | undefined
  readonly log?: Log | undefined
  readonly bus?: Bus | undefined
  readonly store?: Store | undefined
  /** An engine that is at work already, over the same store and bus: the server works with it and makes none. */
  readonly pawl?: OpenedEngine | undefined
  /** Whoever has opened that engine tells its runs as traces. */
  readonly keepsTraces?: boolean | undefined
  /** One model for everybody and everything. */
  readonly model?: Model | undefined
  /** A registry of models, or one made of what the settings would give. */
  readonly models?: GivenRegistry | ((own: GivenRegistry) => GivenRegistry) | undefined
  /** How providers of models are asked. */
  readonly providerCalls?: Pick<RegistryOptions, "fetch" | "retry"> | undefined
  /** What notes and passages are found by. */
  readonly embedder?: Embedder | undefined
  /** None for a command that only looks: to make things findable writes, and takes away what another embedder has made. */
  readonly indexing?: "none" | undefined
  readonly reach?: OutboundPolicy | undefined
  readonly devices?: Devices | undefined
  /** How this process speaks to the others that share the database, given how it would by itself. */
  readonly messages?: ((own: NodeMessages) => NodeMessages) | undefined
  readonly metrics?: ServerMetrics | undefined
  /** What one query of somebody's database may cost. */
  readonly queryLimits?: QueryLimits | undefined
  /** How many streams may be open. */
  readonly mostStreams?: { readonly ofOne: number; readonly ofAll: number } | undefined
  /** The agents, given those that the packs have. */
  readonly agents?: ((ofPacks: readonly Agent[]) => readonly Agent[]) | undefined
  /** A folder of this machine to work in, in place of those on people's devices. */
  readonly folder?: Folder | undefined
  /** Returns true if a terminal works on the folder of this conversation. Without it, none does. */
  readonly isOfTerminal?: ((id: ConversationId) => boolean) | undefined
  /** The editor of whoever works in that folder. */
  readonly buffers?: EditorBuffers | undefined
  /** Gets every key that people bring, so that none is logged. */
  readonly recent?: RecentSecrets | undefined
  /** Hears all that happens, of whichever conversation. */
  readonly hear?: ((id: ConversationId, live: Live) => void) | undefined
  /** The wire formats that it speaks besides its own. Default: none. */
  readonly adapters?: readonly Adapter[] | undefined
  /** Parts of what the routes are given. */
  readonly ports?: ReplacedPorts | ((store: Store) => ReplacedPorts) | undefined
}
