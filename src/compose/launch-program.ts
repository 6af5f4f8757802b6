import { mkdirSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import type { Launched } from "../mcp/connection/program-transport.ts"
import type { ProgramTarget } from "../mcp/definition/server.ts"
import { commandLimits, whyTooMuch } from "../packs/files/sandbox/command-limits.ts"
import { findSandbox, hiddenPlaces, noSandbox } from "../packs/files/sandbox/sandbox.ts"
import { failure } from "../protocol/errors.ts"
import { placesOfOurs } from "./files-options.ts"
import type { ServerSettings } from "./settings.ts"

/**
 * An MCP server that is a program, within the same walls as the commands of the agent `files`. Where there can be none, it
 * is not started unless the operator has said that it needs none.
 */
export async function launchProgram(
  settings: Pick<ServerSettings, "commandEnvironment" | "dataFolder" | "filesFolder">,
  name: string,
  { command, environment, folder, network, sandbox: isHeld }: ProgramTarget,
): Promise<Launched> {
  const { commandEnvironment, dataFolder } = settings
  const root = folder ?? join(dataFolder, "mcp", name)
  if (folder === undefined) mkdirSync(root, { recursive: true, mode: 0o700 })
  const home = commandEnvironment.HOME || homedir()
  const sandbox = isHeld
    ? findSandbox({
        ...{ searchPath: commandEnvironment.PATH ?? "", root, home, id: `mcp-${name}` },
        hidden: hiddenPlaces(home, ...placesOfOurs(settings)).filter((path) => path !== root),
        homes: join(dataFolder, "sandboxes"),
      })
    : noSandbox
  if (isHeld && !sandbox.holds)
    throw failure("mcp_server_failed", {
      problem: `it would run ${sandbox.says}. Install bubblewrap, or say "sandbox": false in its entry`,
    })
  const wrapped = await sandbox.wrap(command, { root, network, readOnly: [] })
  const limits = commandLimits()
  return {
    ...{ program: wrapped.program, arguments: wrapped.arguments, cwd: root },
    environment: { ...commandEnvironment, ...wrapped.environment, ...environment },
    ...(wrapped.handed ? { handed: wrapped.handed } : {}),
    whyTooMuch: (pid) => whyTooMuch(pid, limits),
    [Symbol.asyncDispose]: () => wrapped[Symbol.asyncDispose](),
  }
}
