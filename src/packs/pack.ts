import type { Agent } from "../agent/definition/agent.ts"
import type { Clock } from "../agent/clock.ts"
import type { ToolPhrases } from "../agent/definition/phrases.ts"
import type { Log } from "../agent/ports.ts"
import type { PackRoute } from "../protocol/ports/pack-routes.ts"
import type { PackMigration, PackTable, PackTables } from "../protocol/ports/pack-tables.ts"
import type { Web } from "../protocol/ports/web.ts"
import type { Embedder } from "../protocol/ports/workspace.ts"
import type { ViewName } from "../protocol/views.ts"

/**
 * Agents that belong together, with what it takes to have them in a server. A value: ours stand in `list.ts`, those of
 * others are named in PAWL_PACKS. Whoever opens them gives each the services that it asks for.
 */
export interface Pack<Services = PackServices, Opened extends OpenedPack = OpenedPack> {
  readonly name: string
  readonly needs?: PackNeeds
  open(services: Services): Promise<Opened> | Opened
}

/** What has to be there before a pack is opened. */
export interface PackNeeds {
  /** The tables that it keeps, as the last of its migrations leaves them. */
  readonly tables?: readonly PackTable[]
  readonly migrations?: readonly PackMigration[]
  /** What its results are drawn with in the page. No pack brings code into the page. */
  readonly views?: readonly ViewName[]
}

/** A pack at work in a server. */
export interface OpenedPack {
  readonly agents: readonly Agent[]
  /** What the offline model understands beyond what the tools of the agents bring along themselves. */
  readonly phrases?: readonly ToolPhrases[]
  /** Addresses below `/api/packs/<pack>`, by the name that the reference has for them. */
  readonly routes?: Readonly<Record<string, PackRoute>>
  /** Ends what opening has begun: processes, connections, files. */
  close?(): Promise<void>
}

/** What every pack can have, whoever wrote it. */
export interface PackServices {
  /** Its own tables. */
  readonly tables: PackTables
  readonly clock: Clock
  readonly log: Log
  /** The way out for tools: public addresses only. */
  readonly web: Web
  readonly embedder: Embedder
}

/** Keeps the exact type of what a pack opens, for whoever asks `OpenedPacks.of`. */
export const definePack = <Services = PackServices, Opened extends OpenedPack = OpenedPack>(
  pack: Pack<Services, Opened>,
): Pack<Services, Opened> => pack
