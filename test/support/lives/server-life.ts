/**
 * `pawl serve` with an agent whose tools are dangerous, as a process of its own. Files in PAWL_DATA decide what they
 * do, so that one process can differ from the next.
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import { defineAgent } from "../../../core/engine/definition/agent.ts"
import { answer, defineTool, type Tool } from "../../../core/engine/definition/tool.ts"
import { readConfig } from "../../../apps/cli/settings/config.ts"
import { createLog } from "../../../apps/cli/process/log.ts"
import { serveUntilStopped } from "../../../apps/cli/commands/serve-until-stopped.ts"
import { adapters } from "../../../adapters/list.ts"
import { composeServer } from "../../../core/compose/compose-server.ts"
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
const agents = () => [defineAgent({ name: "workspace", description: "", instructions: "", tools })]
await using server = await composeServer(config, { log: createLog(config.secrets), agents, adapters })
await serveUntilStopped(server, { config, stopping: stopping.signal })
