import { mkdir } from "node:fs/promises"
import { userInfo } from "node:os"
import type { Log } from "../agent/ports.ts"
import { InProcessBus } from "../bus/in-process.ts"
import { observed } from "../bus/observed.ts"
import { openPawl, type Pawl } from "../main.ts"
import type { ToolPhrases } from "../models/offline.ts"
import { ModelRegistry } from "../models/registry.ts"
import { workspaceAgent } from "../packs/workspace/agent.ts"
import { observedModels } from "../server/observed-models.ts"
import { RunMeter } from "../server/run-meter.ts"
import type { ServerMetrics } from "../server/server-metrics.ts"
import { openStore, type Store } from "../store/store.ts"
import { CommandError } from "./command.ts"
import type { Config } from "./config.ts"

export interface Opened extends Pawl {
  readonly models: ModelRegistry
}

/** Everything the settings ask for, in this process: store, agents, models and the runtime. */
export async function openFromConfig(config: Config, log: Log, metrics?: ServerMetrics): Promise<Opened> {
  const store = await openConfiguredStore(config)
  const agents = [workspaceAgent(({ user }) => store.workspaceOf(user))]
  const tools = agents.flatMap((agent) => agent.tools.visibleIn("auto"))
  const phrases = tools.flatMap(({ name, phrases }): ToolPhrases[] => (phrases ? [{ tool: name, phrases }] : []))
  const models = new ModelRegistry(config.models, { phrasesOf: () => phrases })
  const { policy, limits } = config
  const names = new Set(tools.map(({ name }) => name))
  const meter = metrics && new RunMeter({ metrics, log, isTool: (name) => names.has(name) })
  const watched = meter && {
    bus: observed(new InProcessBus(), meter.hear),
    models: observedModels(models, metrics),
  }
  const pawl = await openPawl({ store, agents, models, policy, limits, log, ...watched })
  return {
    ...pawl,
    models,
    async [Symbol.asyncDispose]() {
      await pawl[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
    },
  }
}

/** The store alone, for commands that run no conversation. */
export async function openConfiguredStore({ databaseUrl, dataFolder, durability }: Config): Promise<Store> {
  // What people say is nobody else's business, also not that of other users of this machine.
  if (databaseUrl.startsWith("file:")) await makeFolder(dataFolder)
  try {
    return await openStore({ url: databaseUrl, durability })
  } catch (error) {
    const where = databaseUrl.startsWith("file:") ? databaseUrl.slice("file:".length) : "DATABASE_URL"
    throw new CommandError(`The database (${where}) cannot be opened: ${reasonOf(error)}.`, { cause: error })
  }
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new CommandError(`The data folder (PAWL_DATA) cannot be made: ${reasonOf(error)}.`, { cause: error })
  }
}

/** A refused connection to a name with several addresses is an error whose message is empty. */
function reasonOf(error: unknown): string {
  const { message, code, cause } = error as { message?: string; code?: string; cause?: { code?: string } }
  return (message || code || cause?.code || String(error)).replace(/\.$/, "")
}

/** Who sits at this machine. A container may run as a user that has no name. */
export function userName(): string {
  try {
    return userInfo().username || "owner"
  } catch {
    return "owner"
  }
}
