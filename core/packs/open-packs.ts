import { type Agent, MORE_TOOLS } from "../engine/definition/agent.ts"
import { failure } from "../protocol/errors.ts"
import type { NamedPackRoute } from "../engine/pack-services.ts"
import type { OpenedPack, Pack } from "./pack.ts"

/** Open packs. Disposing closes them in reverse order. */
export interface OpenedPacks extends AsyncDisposable {
  readonly names: readonly string[]
  readonly agents: readonly Agent[]
  /** Their routes. */
  readonly routes: readonly NamedPackRoute[]
  /** The result of a pack's `open`. */
  of<Opened extends OpenedPack>(pack: Pack<never, Opened>): Opened
}

/** Opens packs in order. If one fails, the open ones are closed before its error is thrown. */
export async function openPacks<Services>(packs: readonly Pack<Services>[], services: Services): Promise<OpenedPacks> {
  await using opening = new AsyncDisposableStack()
  const opened = new Map<unknown, OpenedPack>()
  const usedNames: UsedNames = { agents: new Set(), tools: new Set() }
  for (const pack of packs) {
    const each = await pack.open(services)
    opening.defer(async () => each.close?.())
    checkNames(pack.name, each.agents, usedNames)
    opened.set(pack, each)
  }
  const closing = opening.move()
  const all = [...opened.values()]
  const agents = all.flatMap((each) => each.agents)
  return {
    names: packs.map(({ name }) => name),
    routes: packs.flatMap((pack) => routesOf(pack.name, opened.get(pack)?.routes)),
    agents,
    of<Opened extends OpenedPack>(pack: Pack<never, Opened>): Opened {
      const found = opened.get(pack)
      if (!found) throw new TypeError(`The pack "${pack.name}" is not open.`)
      return found as Opened
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

interface UsedNames {
  readonly agents: Set<string>
  readonly tools: Set<string>
}

/** A conversation names its agent, and the audit names tools, so names must be unique. */
function checkNames(pack: string, agents: readonly Agent[], usedNames: UsedNames): void {
  const refuse = (what: string, name: string) => {
    const problem = `there is ${what} "${name}" already, in another pack or in this one`
    throw failure("pack_refused", { pack, problem, todo: "give it another name" })
  }
  // Agents of one pack may share a tool.
  const own = new Set<string>()
  for (const { name, tools } of agents) {
    if (usedNames.agents.has(name)) refuse("an agent", name)
    usedNames.agents.add(name)
    for (const tool of tools.names) {
      if (usedNames.tools.has(tool)) refuse("a tool", tool)
      if (tool !== MORE_TOOLS) own.add(tool)
    }
  }
  for (const tool of own) usedNames.tools.add(tool)
}

const routesOf = (pack: string, routes: OpenedPack["routes"] = {}): NamedPackRoute[] =>
  Object.entries(routes).map(([name, route]) => ({ ...route, name, pack }))
