import type { ToolPhrases } from "../agent/definition/phrases.ts"
import type { Pack as InternalPack, PackNeeds, PackServices } from "../packs/pack.ts"
import type { PackRoute } from "../protocol/ports/pack-routes.ts"
import { type Agent, toInternalAgents } from "./agent.ts"

/** Agents of your own for a server, with what it takes to have them there: docs/packs.md. */
export interface Pack {
  readonly name: string
  readonly needs?: PackNeeds
  open(services: PackServices): OpenedPack | Promise<OpenedPack>
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

/** A pack as a server opens it: its agents are those of a program that embeds Pawl. */
export function definePack(pack: Pack): Pack {
  const made: InternalPack = {
    ...pack,
    async open(services) {
      const opened = await pack.open(services)
      return { ...opened, agents: opened.agents.length === 0 ? [] : toInternalAgents(opened.agents) }
    },
  }
  // What a server gets from it is its own business, and nobody else opens it.
  return made as unknown as Pack
}
