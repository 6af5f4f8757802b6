import type { Agent } from "../engine/definition/agent.ts"
import type { Clock } from "../shared/time/clock.ts"
import type { Log } from "../shared/log.ts"
import type { PackMigration, PackRoute, PackTable, PackTables, Web } from "../engine/pack-services.ts"
import type { Embedder } from "../protocol/workspace.ts"
import type { ViewName } from "../protocol/conversation/tool-calls.ts"

/**
 * A group of agents with the tables, routes and services that they need. Built-in packs are listed in `list.ts`, others
 * in PAWL_PACKS. The server opens each pack with the services that it asks for.
 */
export interface Pack<Services = PackServices, Opened extends OpenedPack = OpenedPack> {
  readonly name: string
  readonly needs?: PackNeeds
  open(services: Services): Promise<Opened> | Opened
}

/** The declarations of a pack, so that the server can prepare it before opening the pack: tables, migrations and views. */
export interface PackNeeds {
  /** The pack's tables, as its last migration leaves them. */
  readonly tables?: readonly PackTable[]
  readonly migrations?: readonly PackMigration[]
  /** The page's views for the pack's results. A pack cannot add code to the page. */
  readonly views?: readonly ViewName[]
}

/** A pack after the server has opened it, with its agents and routes ready to use. */
export interface OpenedPack {
  readonly agents: readonly Agent[]
  /** Routes below `/api/packs/<pack>`, by their names in the API reference. */
  readonly routes?: Readonly<Record<string, PackRoute>>
  /** Stops processes and closes connections and files. */
  close?(): Promise<void>
}

/** The services that the server passes to a pack when it opens it. */
export interface PackServices {
  /** The pack's own tables. */
  readonly tables: PackTables
  readonly clock: Clock
  readonly log: Log
  /** HTTP requests for tools, to public addresses only. */
  readonly web: Web
  readonly embedder: Embedder
}

/** Returns the pack with its exact type, for `OpenedPacks.of`. */
export const definePack = <Services = PackServices, Opened extends OpenedPack = OpenedPack>(
  pack: Pack<Services, Opened>,
): Pack<Services, Opened> => pack
