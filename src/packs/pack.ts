import type { Agent } from "../agent/agent.ts"
import type { ToolPhrases } from "../agent/phrases.ts"

/**
 * Agents that belong together, with what it takes to have them in a server. A value: ours stand in `list.ts`, and what
 * opens them gives each the services that it names.
 */
export interface Pack<Services, Opened extends OpenedPack = OpenedPack> {
  readonly name: string
  open(services: Services): Promise<Opened> | Opened
}

/** A pack at work in a server. */
export interface OpenedPack {
  readonly agents: readonly Agent[]
  /** What the offline model understands beyond what the tools of the agents bring along themselves. */
  readonly phrases?: readonly ToolPhrases[]
  /** Ends what opening has begun: processes, connections, files. */
  close?(): Promise<void>
}

/** Keeps the exact type of what a pack opens, for whoever asks `OpenedPacks.of`. */
export const definePack = <Services, Opened extends OpenedPack>(pack: Pack<Services, Opened>): Pack<Services, Opened> =>
  pack
