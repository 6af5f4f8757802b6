import type { Agent } from "../agent/agent.ts"
import type { Interpreter, ToolPhrases } from "../agent/phrases.ts"
import type { OpenedPack, Pack } from "./pack.ts"

/** Packs at work, together. Disposing closes them, the last first. */
export interface OpenedPacks extends AsyncDisposable {
  readonly agents: readonly Agent[]
  readonly toolNames: ReadonlySet<string>
  /** What the offline model goes by. */
  readonly phrases: readonly ToolPhrases[]
  readonly interpreters: readonly Interpreter[]
  /** What one of them has opened beside its agents. */
  of<Opened extends OpenedPack>(pack: Pack<never, Opened>): Opened
}

/** Opens packs one after the other. Where one fails, those that are open are closed again before its error is thrown. */
export async function openPacks<Services>(packs: readonly Pack<Services>[], services: Services): Promise<OpenedPacks> {
  await using opening = new AsyncDisposableStack()
  const opened = new Map<unknown, OpenedPack>()
  for (const pack of packs) {
    const each = await pack.open(services)
    opening.defer(async () => each.close?.())
    opened.set(pack, each)
  }
  const closing = opening.move()
  const all = [...opened.values()]
  const agents = all.flatMap((each) => each.agents)
  const tools = agents.flatMap((agent) => agent.tools.visibleIn("auto"))
  const ofTools = tools.flatMap(({ name, phrases, retell }): ToolPhrases[] =>
    phrases ? [{ tool: name, phrases, ...(retell ? { retell } : {}) }] : [],
  )
  return {
    agents,
    toolNames: new Set(tools.map(({ name }) => name)),
    phrases: [...ofTools, ...all.flatMap(({ phrases = [] }) => phrases)],
    interpreters: agents.flatMap(({ interpreter }) => interpreter ?? []),
    of<Opened extends OpenedPack>(pack: Pack<never, Opened>): Opened {
      const found = opened.get(pack)
      if (!found) throw new TypeError(`The pack "${pack.name}" is not open.`)
      return found as Opened
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}
