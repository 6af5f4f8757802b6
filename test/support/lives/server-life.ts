/**
 * `pawl serve` with an agent whose tools are dangerous, as a process of its own. What they do depends on files in
 * PAWL_DATA, so that one life can differ from the next.
 */
import { systemClock } from "../../../src/agent/clock.ts"
import { openDatabases } from "../../../src/packs/analyst/open-databases.ts"
import { Devices } from "../../../src/server/socket/devices.ts"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import { defineAgent } from "../../../src/agent/agent.ts"
import { answer, defineTool, type Tool } from "../../../src/agent/tool.ts"
import { readConfig } from "../../../src/cli/settings/config.ts"
import { createLog } from "../../../src/cli/process/log.ts"
import { openConfiguredStore } from "../../../src/cli/open/from-config.ts"
import { serveUntilStopped } from "../../../src/cli/commands/serve-until-stopped.ts"
import { openPawl } from "../../../src/main.ts"
import { createEmbedder } from "../../../src/models/embedders/create.ts"
import { OwnProviders } from "../../../src/models/own-providers.ts"
import { PersonalModels } from "../../../src/models/personal-models.ts"
import { Librarian } from "../../../src/packs/research/librarian.ts"
import { SqlLibrary } from "../../../src/store/library/library.ts"
import { OutboundPolicy } from "../../../src/models/network/reach.ts"
import { createServerMetrics } from "../../../src/server/metrics/server-metrics.ts"
import "./keep-compiled.ts"

const config = readConfig()
const is = (name: string) => existsSync(join(config.dataFolder, name))

function tool(name: string, run: (signal: AbortSignal) => Promise<string> | string): Tool {
  const common = {
    name,
    description: "For tests.",
    input: z.object({}),
    effect: "read",
    afterCrash: "run-again",
  } as const
  return defineTool({ ...common, run: async (_input, { signal }) => answer(await run(signal)) })
}

const tools = [
  tool("kill", () => {
    if (is("deadly")) process.kill(process.pid, "SIGKILL")
    return "survived"
  }),
  tool("hang", (signal) => {
    if (!is("hanging")) return "ended"
    process.stdout.write("hanging\n")
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)))
  }),
]

const stopping = new AbortController()
process.on("SIGTERM", () => stopping.abort())
const log = createLog(config.secrets)
await using store = await openConfiguredStore(config)
const keys = store.providerKeys
const reach = new OutboundPolicy()
const models = new PersonalModels(config.models, { keys, sharedKeys: true, reach })
const providers = new OwnProviders({ models, keys, reach })
const agents = [defineAgent({ name: "workspace", description: "", instructions: "", tools })]
await using pawl = await openPawl({ store, agents, models, log, limits: config.limits, recovers: false })
const databases = openDatabases({ records: store.connections, clock: systemClock, hosts: reach, ...config, log })
const embedder = createEmbedder({})
const library = new Librarian(new SqlLibrary(store.engine, { clock: systemClock, embedder: embedder.name }), embedder)
await serveUntilStopped(
  {
    ...pawl,
    models,
    devices: new Devices(systemClock),
    providers,
    embedder,
    databases,
    library,
    packs: { names: [], routes: [] },
  },
  { config, log, stopping: stopping.signal, metrics: createServerMetrics() },
)
