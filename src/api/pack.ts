import type { OpenedPack as InternalOpenedPack, Pack as InternalPack, PackNeeds, PackServices } from "../packs/pack.ts"
import { type Agent, toInternalAgents } from "./agent.ts"

/** Agents of your own for a server, with what it takes to have them there: docs/packs.md. */
export interface Pack {
  readonly name: string
  readonly needs?: PackNeeds
  open(services: PackServices): OpenedPack | Promise<OpenedPack>
}

/** A pack at work in a server. */
export interface OpenedPack extends Omit<InternalOpenedPack, "agents"> {
  readonly agents: readonly Agent[]
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
