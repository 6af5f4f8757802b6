import type { Agent as InternalAgent } from "../engine/definition/agent.ts"
import { hasCode } from "../protocol/errors.ts"
import type { Embedder } from "../protocol/workspace.ts"
import type { OpenedPacks } from "../packs/open-packs.ts"
import type { Log } from "../shared/log.ts"
import type { Store } from "../store/store.ts"
import type { Pack } from "./agent.ts"

interface PackParts {
  readonly store: Store
  readonly log: Log
  readonly embedder: Embedder | undefined
  /** The agents of the options. */
  readonly agents: readonly InternalAgent[]
}

/** Checks and opens packs like a server. Throws a `TypeError` that names the pack. */
export async function openLibraryPacks(
  given: readonly Pack[],
  { store, log, embedder, agents }: PackParts,
): Promise<OpenedPacks> {
  const [{ preparePack }, { openPacks }, { standardPacks }, { WebClient }, { OutboundPolicy }, { noEmbedder }] =
    await Promise.all([
      import("../packs/load-packs.ts"),
      import("../packs/open-packs.ts"),
      import("../../packs/list.ts"),
      import("../models/network/web-client.ts"),
      import("../models/network/outbound-policy.ts"),
      import("../models/embedders/create.ts"),
    ])
  const { clock, openPackTables: openTables } = store
  // A server over the instance opens these too, and routes are named after packs.
  const usedNames = new Set(standardPacks.map(({ name }) => name))
  const web = new WebClient(new OutboundPolicy(false))
  try {
    const packs = given.map((pack, index) =>
      preparePack(String(Object(pack).name ?? index), pack, { clock, usedNames }),
    )
    const opened = await openPacks(packs, { clock, log, web, embedder: embedder ?? noEmbedder, openTables })
    const twice = opened.agents.find(({ name }) => agents.some((agent) => agent.name === name))
    if (!twice) return opened
    await opened[Symbol.asyncDispose]()
    throw new TypeError(`packs: there is an agent "${twice.name}" in agents already; rename one.`)
  } catch (error) {
    if (!hasCode(error, "pack_refused")) throw error
    const { pack, problem } = (error as { details: { pack: string; problem: string } }).details
    throw new TypeError(`packs: "${pack}" cannot be used: ${problem}.`, { cause: error })
  }
}
